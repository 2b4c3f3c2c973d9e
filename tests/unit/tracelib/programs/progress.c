/* Rank 0 starts a large Isend and is to be held after it (event 4). Rank 1 receives it meanwhile. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    const int count = 1 << 20;
    int rank;
    char* data = calloc((size_t)count, 1);
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Isend(data, count, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request); /* 3, 4 */
        MPI_Recv(data, 0, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(data, count, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("received\n");
        fflush(stdout);
        MPI_Send(data, 0, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
