/* Requests that are freed while their receives are on. Two ranks. */
#include <mpi.h>

#define W MPI_COMM_WORLD

int main(int argc, char** argv) {
    int rank, i, go = 0, x[3] = {0};
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    if (rank == 0) {
        MPI_Irecv(&x[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, W, &r);
        MPI_Request_free(&r);
        MPI_Recv_init(&x[1], 1, MPI_INT, 1, MPI_ANY_TAG, W, &r);
        MPI_Start(&r);
        MPI_Request_free(&r);
        if (r != MPI_REQUEST_NULL) {
            MPI_Abort(W, 3);
        }
        MPI_Send(&go, 1, MPI_INT, 1, 1, W);
        /* The third message is behind both: once it is here, so are they. */
        MPI_Recv(&x[2], 1, MPI_INT, 1, 9, W, MPI_STATUS_IGNORE);
        MPI_Recv_init(&x[2], 1, MPI_INT, 1, 3, W, &r);
        MPI_Request_free(&r); /* not active: nothing to follow */
        if (x[0] != 1 || x[1] != 2 || x[2] != 3) {
            MPI_Abort(W, 4);
        }
    } else {
        MPI_Recv(&go, 1, MPI_INT, 0, 1, W, MPI_STATUS_IGNORE);
        for (i = 1; i <= 3; ++i) {
            MPI_Send(&i, 1, MPI_INT, 0, i == 3 ? 9 : 6 + i, W);
        }
    }
    MPI_Finalize();
    return 0;
}
