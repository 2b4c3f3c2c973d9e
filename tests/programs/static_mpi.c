/* A program with MPI inside, as far as its symbols tell. */
#include <stdio.h>

int PMPI_Init(int *argc, char ***argv)
{
    return argc == 0 || argv == 0;
}

int main(int argc, char **argv)
{
    if (PMPI_Init(&argc, &argv) != 0) {
        return 1;
    }
    puts("MPI inside");
    return 0;
}
