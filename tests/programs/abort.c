/* Every rank sends a few messages to the next one; then rank 2 (or the last) calls MPI_Abort with code 7. */
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int victim = size > 2 ? 2 : size - 1;
    for (int i = 0; i < 3; i++) {
        int out = rank * 10 + i, in = -1;
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, i, &in, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    if (rank == victim) {
        usleep(300 * 1000), MPI_Abort(MPI_COMM_WORLD, 7); /* by then the others wait */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
