/* Several threads call MPI at once: events are numbered once each, and each thread's begin and end belong together. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 4, kRounds = 500 };
static int rank;

static void* work(void* argument) {
    int tag = *(int*)argument, data = 0, i, flag;
    for (i = 0; i < kRounds; ++i) {
        MPI_Request r[2];
        MPI_Isend(&i, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(&data, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Iprobe(1 - rank, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    return 0;
}

int main(int argc, char** argv) {
    pthread_t threads[kThreads];
    int provided, i, tags[kThreads];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided != MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 77;
    }
    for (i = 0; i < kThreads; ++i) {
        tags[i] = i;
        pthread_create(&threads[i], 0, work, &tags[i]);
    }
    for (i = 0; i < kThreads; ++i) {
        pthread_join(threads[i], 0);
    }
    MPI_Finalize();
    return 0;
}
