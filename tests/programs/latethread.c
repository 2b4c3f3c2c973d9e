/* Rank 0 receives from any source, first from its main thread alone, then, after another thread of it has called MPI, again: of
 * ranks 1 and 2 the one that FILE names sends only when FILE.first is there, which rank 0 makes when it has got a message.
 *
 * Usage: latethread FILE, 3 ranks */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *talk_to_itself(void *unused)
{
    int out = 1, in = 0;
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 9, &in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return unused;
}

static void receive(int tag)
{
    int value;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    printf("tag %d: %d\n", tag, status.MPI_SOURCE);
}

int main(int argc, char **argv)
{
    int provided, rank, late = 0;
    char first[4096];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (provided != MPI_THREAD_MULTIPLE || file == NULL || fscanf(file, "%d", &late) != 1) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fclose(file);
    snprintf(first, sizeof first, "%s.first", argv[1]);
    if (rank == 0) {
        pthread_t thread;
        unlink(first);
        receive(1);
        receive(1);
        if (pthread_create(&thread, NULL, talk_to_itself, NULL) != 0) {
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        pthread_join(thread, NULL);
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        receive(2);
        fclose(fopen(first, "w"));
        receive(2);
    } else {
        while (rank == late && access(first, F_OK) != 0) {
            usleep(1000);
        }
        MPI_Send(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
