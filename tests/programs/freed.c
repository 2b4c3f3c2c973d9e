/* Rank 0 posts a receive, frees its request and exchanges messages with rank 1 meanwhile; the message for the freed
 * receive comes from the last rank after a time that differs from run to run. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 40, TAG_LATE = 5, TAG_ROUND = 6 };

int main(int argc, char **argv)
{
    int rank, size, late = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        MPI_Request request;
        MPI_Irecv(&late, 1, MPI_INT, size - 1, TAG_LATE, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        usleep((useconds_t)(now.tv_nsec % 40) * 1000);
        int value = 77;
        MPI_Send(&value, 1, MPI_INT, 0, TAG_LATE, MPI_COMM_WORLD);
    } else if (rank < 2) {
        for (int i = 0; i < ROUNDS; i++) {
            int in = 0;
            usleep(1000);
            MPI_Sendrecv(&i, 1, MPI_INT, 1 - rank, TAG_ROUND, &in, 1, MPI_INT, 1 - rank, TAG_ROUND, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            sum += in;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("late %d, sum %d\n", late, sum);
    }
    MPI_Finalize();
    return 0;
}
