/* Every kind of point-to-point call, with fixed event numbers. Ranks: 2 or more; only 0 and 1 talk. */
#include <mpi.h>
#include <stdlib.h>

static char buffer[1 << 16];

int main(int argc, char** argv) {
    int rank, data[4] = {1, 2, 3, 4}, flag;
    double value = 0;
    MPI_Status status;
    MPI_Init(&argc, &argv); /* 1, 2 */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Buffer_attach(buffer, sizeof buffer);
    if (rank == 0) {
        MPI_Send(data, 4, MPI_INT, 1, 7, MPI_COMM_WORLD);                                                   /* 3, 4 */
        MPI_Bsend(data, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);                                                  /* 5, 6 */
        MPI_Ssend(&value, 1, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD);                                             /* 7, 8 */
        MPI_Sendrecv(data, 2, MPI_INT, 1, 10, &value, 1, MPI_DOUBLE, 1, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv_replace(data, 2, MPI_INT, 1, 12, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Send(data, 0, MPI_INT, MPI_PROC_NULL, 13, MPI_COMM_WORLD);
        MPI_Recv(data, 4, MPI_INT, MPI_PROC_NULL, 14, MPI_COMM_WORLD, &status);
        MPI_Recv(data, 0, MPI_INT, 1, 15, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Rsend(data, 3, MPI_INT, 1, 16, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(data, 4, MPI_INT, 0, 7, MPI_COMM_WORLD, &status);                                          /* 3, 4 */
        MPI_Recv(data, 4, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);                   /* 5, 6 */
        MPI_Recv(&value, 1, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);                           /* 7, 8 */
        MPI_Sendrecv(&value, 1, MPI_DOUBLE, 0, 11, data, 4, MPI_INT, 0, 10, MPI_COMM_WORLD, &status);
        MPI_Sendrecv_replace(data, 2, MPI_INT, 0, 33, 0, 12, MPI_COMM_WORLD, &status);
        MPI_Request request;
        MPI_Irecv(data, 4, MPI_INT, 0, 16, MPI_COMM_WORLD, &request);
        MPI_Send(data, 0, MPI_INT, 0, 15, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
    }
    MPI_Comm_size(MPI_COMM_WORLD, &flag);
    MPI_Buffer_detach(&value, &flag);
    MPI_Finalize();
    return 0;
}
