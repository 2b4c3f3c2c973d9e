/* All ranks but rank 0 leave without MPI_Finalize, one after the other, with codes 4, 5, ...; rank 0 waits for a message of
 * rank 1 that never comes. Needs 2 ranks or more. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, value;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 0) {
        usleep(300 * 1000 * rank);
        exit(3 + rank);
    }
    MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
