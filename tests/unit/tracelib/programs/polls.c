/* Polls: consecutive failing ones are one call. Rank 1 polls for what rank 0 sends only after being asked to. */
#include <mpi.h>
#include <unistd.h>

#define WORLD MPI_COMM_WORLD

static void poller(void) {
    int data[4], flag = 0, n, index, indices[2], i;
    MPI_Request r[2];
    MPI_Status s;
    MPI_Message m;
    /* Fails for certain: nobody sends before the barrier. Two kinds of poll, one call, ended by the barrier. */
    MPI_Irecv(data, 1, MPI_INT, 0, 1, WORLD, &r[0]);
    for (i = 0; i < 5; ++i) {
        MPI_Test(&r[0], &flag, &s);
        MPI_Iprobe(0, 2, WORLD, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(WORLD);
    /* Succeeds after nobody knows how many failures. */
    do {
        MPI_Test(&r[0], &flag, &s);
    } while (!flag);
    do {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &flag, &s);
    } while (!flag);
    MPI_Recv(data, 4, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, WORLD, MPI_STATUS_IGNORE);
    do {
        MPI_Improbe(0, 3, WORLD, &flag, &m, MPI_STATUS_IGNORE);
    } while (!flag);
    MPI_Mrecv(data, 4, MPI_INT, &m, &s);
    MPI_Mprobe(0, MPI_ANY_TAG, WORLD, &m, &s);
    MPI_Imrecv(data, 4, MPI_INT, &m, &r[0]);
    r[1] = MPI_REQUEST_NULL;
    do {
        MPI_Testany(2, r, &index, &flag, MPI_STATUS_IGNORE);
    } while (!flag);
    MPI_Probe(0, 5, WORLD, &s);
    MPI_Irecv(data, 1, MPI_INT, 0, 5, WORLD, &r[0]);
    MPI_Irecv(data, 1, MPI_INT, MPI_PROC_NULL, 6, WORLD, &r[1]);
    do {
        MPI_Testsome(1, r, &n, indices, MPI_STATUSES_IGNORE);
    } while (n == 0);
    do {
        MPI_Request_get_status(r[1], &flag, &s);
    } while (!flag);
    do {
        MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    } while (!flag);
    MPI_Testsome(2, r, &n, indices, MPI_STATUSES_IGNORE); /* undefined: nothing to wait for */
    MPI_Mprobe(MPI_PROC_NULL, 0, WORLD, &m, MPI_STATUS_IGNORE);
    MPI_Mrecv(data, 0, MPI_INT, &m, MPI_STATUS_IGNORE);
    /* Polls of one call that ask for something else than the first: the one that succeeds says what it asked for. */
    MPI_Barrier(WORLD);
    MPI_Irecv(data, 1, MPI_INT, 0, 7, WORLD, &r[0]);
    MPI_Test(&r[0], &flag, &s);
    do {
        MPI_Iprobe(MPI_ANY_SOURCE, 8, WORLD, &flag, &s);
    } while (!flag);
    MPI_Recv(data, 1, MPI_INT, 0, 8, WORLD, MPI_STATUS_IGNORE);
    MPI_Improbe(0, 10, WORLD, &flag, &m, &s);
    do {
        MPI_Improbe(MPI_ANY_SOURCE, 9, WORLD, &flag, &m, &s);
    } while (!flag);
    MPI_Mrecv(data, 1, MPI_INT, &m, &s);
    MPI_Send(data, 1, MPI_INT, 0, 6, WORLD);
    MPI_Wait(&r[0], &s);
}

int main(int argc, char** argv) {
    int rank, data[4] = {0}, tag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    if (rank == 0) {
        MPI_Barrier(WORLD);
        usleep(20000);
        for (tag = 1; tag <= 5; ++tag) {
            MPI_Send(data, tag > 4 ? 1 : tag > 1 ? tag : 1, MPI_INT, 1, tag, WORLD);
        }
        MPI_Barrier(WORLD);
        usleep(20000);
        MPI_Send(data, 1, MPI_INT, 1, 8, WORLD);
        usleep(20000);
        MPI_Send(data, 1, MPI_INT, 1, 9, WORLD);
        MPI_Recv(data, 1, MPI_INT, 1, 6, WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, 1, MPI_INT, 1, 7, WORLD);
    } else {
        poller();
    }
    MPI_Finalize();
    return 0;
}
