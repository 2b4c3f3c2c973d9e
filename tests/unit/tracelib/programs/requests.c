/* Requests of every kind between ranks 0 and 1, in an order that leaves nothing to chance. */
#include <mpi.h>

#define WORLD MPI_COMM_WORLD

static void sender(void) {
    int data[8] = {0};
    MPI_Request r[4], p;
    int i, flag;
    /* Three eager sends: Open MPI gives them the same handle. */
    for (i = 0; i < 3; ++i) {
        MPI_Isend(&data[i], 1, MPI_INT, 1, 20 + i, WORLD, &r[i]);
    }
    MPI_Irecv(data, 1, MPI_INT, MPI_PROC_NULL, 5, WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE); /* all null now */
    MPI_Barrier(WORLD);

    /* Any and some, of sends that are complete at once, and of a null one. */
    MPI_Isend(data, 1, MPI_INT, 1, 30, WORLD, &r[0]);
    r[1] = MPI_REQUEST_NULL;
    MPI_Waitany(2, r, &i, MPI_STATUS_IGNORE);
    MPI_Waitany(2, r, &i, MPI_STATUS_IGNORE); /* undefined */
    MPI_Issend(data, 1, MPI_INT, 1, 31, WORLD, &r[0]);
    MPI_Ibsend(data, 0, MPI_INT, MPI_PROC_NULL, 32, WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);

    /* Persistent: made once, started twice; inactive between. */
    MPI_Send_init(data, 2, MPI_INT, 1, 40, WORLD, &p);
    MPI_Start(&p);
    MPI_Wait(&p, MPI_STATUS_IGNORE);
    MPI_Wait(&p, MPI_STATUS_IGNORE); /* inactive */
    MPI_Startall(1, &p);
    MPI_Wait(&p, MPI_STATUS_IGNORE);
    MPI_Request_free(&p);

    /* Freed while active. */
    MPI_Isend(data, 1, MPI_INT, 1, 50, WORLD, &r[0]);
    MPI_Request_free(&r[0]);

    /* A receive that nobody sends to, cancelled. */
    MPI_Irecv(data, 1, MPI_INT, 1, 60, WORLD, &r[0]);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Testall(0, r, &flag, MPI_STATUSES_IGNORE);
}

static void receiver(void) {
    int data[8], i, n, indices[4];
    MPI_Request r[4], p;
    MPI_Status s[4];
    /* Posted in one order, completed in another. */
    MPI_Irecv(&data[0], 1, MPI_INT, 0, 22, WORLD, &r[0]);
    MPI_Irecv(&data[1], 1, MPI_INT, MPI_ANY_SOURCE, 21, WORLD, &r[1]);
    MPI_Irecv(&data[2], 1, MPI_INT, 0, 20, WORLD, &r[2]);
    MPI_Wait(&r[2], MPI_STATUS_IGNORE);
    MPI_Barrier(WORLD);
    /* All of them have arrived: what is left completes in index order. */
    MPI_Waitsome(3, r, &n, indices, s);

    /* The handle of a completed request comes back at once. */
    MPI_Irecv(data, 1, MPI_INT, 0, 30, WORLD, &r[0]);
    MPI_Wait(&r[0], &s[0]);
    MPI_Irecv(data, 1, MPI_INT, 0, 31, WORLD, &r[0]);
    MPI_Waitany(1, r, &i, &s[0]);

    MPI_Recv_init(data, 4, MPI_INT, 0, 40, WORLD, &p);
    MPI_Start(&p);
    MPI_Wait(&p, &s[0]);
    MPI_Startall(1, &p);
    MPI_Waitall(1, &p, MPI_STATUSES_IGNORE);
    MPI_Request_free(&p);

    MPI_Recv(data, 1, MPI_INT, 0, 50, WORLD, &s[0]);
}

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    if (rank == 0) {
        sender();
    } else {
        receiver();
    }
    MPI_Finalize();
    return 0;
}
