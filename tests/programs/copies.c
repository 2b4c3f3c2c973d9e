/* Rank 0 sends many short messages at once, and waits for the sends, or frees them, by copies of their handles, in another order
 * than they were made in. MPI may give one handle to all sends that are complete at once; which ones are depends on whether
 * rank 1 takes what comes meanwhile, and a file says whether it does.
 *
 * Usage: copies FILE, in which "prompt" lets rank 0 wait for rank 1 now and then, and "late" keeps rank 1 from receiving */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SENDS = 400, LISTED = 100, FREED = 100, BYTES = 64 };

static void wait_ms(long ms)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = ms * 1000000};
    nanosleep(&time, NULL);
}

static void complete(MPI_Request *open)
{
    MPI_Request copies[SENDS];
    int at, left = SENDS;
    for (int i = 0; i < SENDS; i++) { /* the last one first */
        copies[i] = open[SENDS - 1 - i];
    }
    MPI_Waitall(LISTED, copies, MPI_STATUSES_IGNORE);
    for (at = LISTED; at < LISTED + FREED; at++) {
        MPI_Request_free(&copies[at]);
    }
    for (left -= at; left > SENDS / 4; left--) {
        int index, flag = 0;
        while (!flag) {
            MPI_Testany(SENDS - at, copies + at, &index, &flag, MPI_STATUS_IGNORE);
        }
    }
    for (; at < SENDS; at++) {
        MPI_Wait(&copies[at], MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    static char buffers[SENDS][BYTES];
    MPI_Request open[SENDS], request;
    char how[16] = "";
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (file != NULL) {
        if (fscanf(file, "%15s", how) != 1) {
            how[0] = 0;
        }
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 0; i < SENDS; i++) {
            MPI_Isend(buffers[i], BYTES, MPI_CHAR, 1, i, MPI_COMM_WORLD, &request);
            open[i] = request;
            if (i % 16 == 15) {
                int flag;
                if (strcmp(how, "prompt") == 0) {
                    wait_ms(2);
                }
                MPI_Iprobe(1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); /* lets MPI go on with what has waited */
            }
        }
        complete(open);
    } else if (rank == 1) {
        if (strcmp(how, "late") == 0) {
            wait_ms(300);
        }
        for (int i = 0; i < SENDS; i++) {
            MPI_Recv(buffers[i], BYTES, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
