/* Persistent requests that are started again while their last message is not yet received: Open MPI gives such a
 * request another handle, and the old one to a request to come. Two ranks. Prints in how many
 * of two places the handle has changed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define W MPI_COMM_WORLD
enum { BYTES = 20000, SPACE = 1 << 20, STARTS = 5, LATER = 8 };

int main(int argc, char** argv) {
    int rank, i, go = 0, changed = 0, size = SPACE;
    static char out[BYTES], in[LATER][BYTES];
    void* space = malloc(SPACE);
    MPI_Request r[2], first[2], later[LATER];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    if (rank == 0) {
        MPI_Buffer_attach(space, size);
        MPI_Bsend_init(out, BYTES, MPI_CHAR, 1, 1, W, &r[0]);
        MPI_Bsend_init(out, BYTES, MPI_CHAR, 1, 2, W, &r[1]);
        first[0] = r[0];
        first[1] = r[1];
        MPI_Start(&r[0]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Start(&r[0]);
        changed += r[0] != first[0];
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Startall(2, r);
        changed += r[1] != first[1];
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Send(&go, 1, MPI_INT, 1, 8, W);
        MPI_Recv(&go, 1, MPI_INT, 1, 9, W, MPI_STATUS_IGNORE);
        /* All is received: now the old handles are free. */
        for (i = 0; i < LATER; ++i) {
            MPI_Isend(out, BYTES, MPI_CHAR, 1, 3, W, &later[i]);
        }
        MPI_Waitall(LATER, later, MPI_STATUSES_IGNORE);
        MPI_Start(&r[1]);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        MPI_Request_free(&r[0]);
        MPI_Request_free(&r[1]);
        MPI_Buffer_detach(&space, &size);
        printf("%d changed\n", changed);
    } else {
        MPI_Recv(&go, 1, MPI_INT, 0, 8, W, MPI_STATUS_IGNORE);
        for (i = 0; i < STARTS; ++i) {
            MPI_Recv(in[0], BYTES, MPI_CHAR, 0, 1, W, MPI_STATUS_IGNORE);
        }
        for (i = 0; i < STARTS - 2; ++i) {
            MPI_Recv(in[0], BYTES, MPI_CHAR, 0, 2, W, MPI_STATUS_IGNORE);
        }
        MPI_Send(&go, 1, MPI_INT, 0, 9, W);
        for (i = 0; i < LATER; ++i) {
            MPI_Irecv(in[i], BYTES, MPI_CHAR, 0, 3, W, &later[i]);
        }
        MPI_Waitall(LATER, later, MPI_STATUSES_IGNORE);
        MPI_Recv(in[0], BYTES, MPI_CHAR, 0, 2, W, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    free(space);
    return 0;
}
