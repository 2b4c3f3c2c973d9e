/* Each other rank sends `count` messages to rank 0 by an MPI_Sendrecv that receives from MPI_PROC_NULL, and looks at the status
 * of that: nobody, and nothing. Rank 0 receives them in any order and prints from whom, so that they race. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, count = argc > 1 ? atoi(argv[1]) : 5, wrong = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; rank > 0 && i < count; i++) {
        MPI_Status status = {0};
        int bytes = -1, in = 7;
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 3, &in, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        wrong += status.MPI_SOURCE != MPI_PROC_NULL || status.MPI_TAG != MPI_ANY_TAG || bytes != 0 || in != 7;
    }
    for (int i = 0; rank == 0 && i < count * (size - 1); i++) {
        int from;
        MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d", from);
    }
    if (rank > 0) {
        printf("%d wrong", wrong);
    }
    printf("\n");
    MPI_Finalize();
    return 0;
}
