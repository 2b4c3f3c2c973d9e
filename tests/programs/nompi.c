/* Not an MPI program at all: neither linked with MPI nor calling it. */
#include <stdio.h>

int main(void)
{
    puts("no MPI here");
    return 0;
}
