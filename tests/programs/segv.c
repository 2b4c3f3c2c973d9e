/* After two rounds of messages rank 1 writes through a null pointer in crash(). */
#include <mpi.h>
#include <stddef.h>
#include <unistd.h>
static void crash(int *target, int value)
{
    *target = value;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int in = 0;
    for (int i = 0; i < 2; i++) {
        int out = rank;
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, i, &in, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    if (rank == (size > 1 ? 1 : 0)) {
        int *volatile nowhere = NULL; usleep(300 * 1000); /* by now the others wait */
        crash(nowhere, in);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
