/* Linked with MPI, but no MPI function is ever called: the only call needs an argument that nobody gives.
 * It counts for half a second so that it can be looked at. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc > 100) {
        MPI_Init(&argc, &argv);
    }
    for (int i = 0; i < 5; i++) {
        usleep(100000);
    }
    puts("no MPI call made");
    return 0;
}
