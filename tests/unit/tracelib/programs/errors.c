/* Calls that fail under MPI_ERRORS_RETURN: messages that are too long, wrong arguments, requests that end with errors of
   their own, error classes that the program makes. Two ranks. */
#include <mpi.h>
#include <stdio.h>
#define W MPI_COMM_WORLD

static int bad;

static void expect(int code, int wanted) {
    int found;
    MPI_Error_class(code, &found);
    if (found != wanted) {
        printf("class %d instead of %d\n", found, wanted);
        bad = 1;
    }
}

/* Rank 1 sends eight messages of 16 bytes; rank 0 has room for four bytes in some of the receives. */
static void truncated(int rank) {
    int i, outcount, indices[2];
    int x[4] = {1, 2, 3, 4}, y[4][4];
    MPI_Request r[3];
    MPI_Status s[3], t;
    if (rank == 1) {
        for (i = 0; i < 8; ++i) {
            MPI_Send(x, 4, MPI_INT, 0, i, W);
        }
        return;
    }
    expect(MPI_Recv(y[0], 1, MPI_INT, 1, 0, W, &t), MPI_ERR_TRUNCATE);
    expect(MPI_Recv(y[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, W, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Irecv(y[0], 1, MPI_INT, MPI_ANY_SOURCE, 2, W, &r[0]);
    expect(MPI_Wait(&r[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Recv(y[0], 4, MPI_INT, 1, 7, W, &t); /* the last one: all before it have come, too */
    /* One of three fails. */
    MPI_Irecv(y[0], 4, MPI_INT, 1, 3, W, &r[0]);
    MPI_Irecv(y[1], 1, MPI_INT, MPI_ANY_SOURCE, 4, W, &r[1]);
    MPI_Irecv(y[2], 4, MPI_INT, 1, 5, W, &r[2]);
    expect(MPI_Waitall(3, r, s), MPI_ERR_IN_STATUS);
    MPI_Irecv(y[1], 1, MPI_INT, 1, 6, W, &r[0]);
    MPI_Irecv(y[2], 4, MPI_INT, 1, 99, W, &r[1]);
    expect(MPI_Waitsome(2, r, &outcount, indices, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
    MPI_Cancel(&r[1]);
    MPI_Wait(&r[1], &t);
}

int main(int argc, char** argv) {
    int rank, x = 0, own, code;
    MPI_Comm none = MPI_COMM_NULL;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    truncated(rank);
    /* Refused: nothing is sent, received or taken part in. */
    expect(MPI_Send(&x, -1, MPI_INT, 1 - rank, 8, W), MPI_ERR_COUNT);
    expect(MPI_Isend(&x, 1, MPI_INT, 1 - rank, -5, W, &r), MPI_ERR_TAG);
    expect(MPI_Irecv(&x, 1, MPI_DATATYPE_NULL, 1 - rank, 8, W, &r), MPI_ERR_TYPE);
    expect(MPI_Bcast(&x, 1, MPI_INT, 7, W), MPI_ERR_ROOT);
    expect(MPI_Probe(7, 8, W, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    expect(MPI_Recv(&x, 1, MPI_INT, 0, 8, none, MPI_STATUS_IGNORE), MPI_ERR_COMM);
    MPI_Barrier(W);
    /* A class and a code of the program's own do not come out of calls, so they are as unlisted as can be. */
    MPI_Add_error_class(&own);
    MPI_Add_error_code(own, &code);
    expect(code, own);
    MPI_Finalize();
    return bad;
}
