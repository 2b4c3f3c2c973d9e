/* Persistent requests of all kinds, started four times, alone and by MPI_Startall, and completed by Wait, Waitall and Test;
 * one is left inactive for a round. The ready-mode send follows a token that says that the receive has been started. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { KINDS = 4, ROUNDS = 4 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int in[KINDS] = {0}, out[KINDS];
    long sum = 0, total = 0;
    MPI_Request sends[KINDS], receives[KINDS];
    void *buffer = malloc(1 << 16);
    MPI_Buffer_attach(buffer, 1 << 16);
    MPI_Send_init(&out[0], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &sends[0]);
    MPI_Bsend_init(&out[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &sends[1]);
    MPI_Ssend_init(&out[2], 1, MPI_INT, right, 2, MPI_COMM_WORLD, &sends[2]);
    MPI_Rsend_init(&out[3], 1, MPI_INT, right, 3, MPI_COMM_WORLD, &sends[3]);
    for (int i = 0; i < KINDS; i++) {
        MPI_Recv_init(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &receives[i]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < KINDS; i++) {
            out[i] = 1000 * round + 10 * rank + i;
        }
        MPI_Startall(KINDS, receives);
        MPI_Sendrecv(NULL, 0, MPI_INT, left, 9, NULL, 0, MPI_INT, right, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Start(&sends[3]);
        if (round == 2) {
            MPI_Start(&sends[0]);
            MPI_Start(&sends[2]);
            MPI_Send(&out[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD); /* in place of the buffered one, which stays inactive */
        } else {
            MPI_Startall(KINDS - 1, sends);
        }
        MPI_Wait(&receives[2], MPI_STATUS_IGNORE);
        for (int done = 0; !done;) {
            MPI_Test(&receives[0], &done, MPI_STATUS_IGNORE);
        }
        MPI_Waitall(KINDS, receives, MPI_STATUSES_IGNORE);
        MPI_Waitall(KINDS, sends, MPI_STATUSES_IGNORE);
        for (int i = 0; i < KINDS; i++) {
            sum += in[i];
        }
    }
    for (int i = 0; i < KINDS; i++) {
        MPI_Request_free(&sends[i]);
        MPI_Request_free(&receives[i]);
    }
    MPI_Buffer_detach(&buffer, &(int){0});
    free(buffer);
    MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("total = %ld\n", total);
    }
    MPI_Finalize();
    return 0;
}
