/* MPI_THREAD_MULTIPLE where there is one: each of two extra threads trades messages with the same thread of the next
 * rank on a communicator of its own, while the main thread waits for them. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, ROUNDS = 20 };

struct work {
    MPI_Comm comm;
    int number;
    long sum;
};

static void *trade(void *argument)
{
    struct work *work = argument;
    int rank, size;
    MPI_Comm_rank(work->comm, &rank);
    MPI_Comm_size(work->comm, &size);
    for (int i = 0; i < ROUNDS; i++) {
        int out = rank + i, in = 0;
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, work->number, &in, 1, MPI_INT, (rank + size - 1) % size,
                     work->number, work->comm, MPI_STATUS_IGNORE);
        work->sum += in;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct work works[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        works[i].number = i;
        works[i].sum = 0;
        MPI_Comm_dup(MPI_COMM_WORLD, &works[i].comm);
    }
    long own = 0, total = 0;
    for (int i = 0; i < THREADS; i++) {
        if (provided != MPI_THREAD_MULTIPLE) {
            trade(&works[i]);
        } else if (pthread_create(&threads[i], NULL, trade, &works[i]) != 0) {
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        if (provided == MPI_THREAD_MULTIPLE) {
            pthread_join(threads[i], NULL);
        }
        own += works[i].sum;
        MPI_Comm_free(&works[i].comm);
    }
    MPI_Reduce(&own, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("total = %ld\n", total);
    }
    MPI_Finalize();
    return 0;
}
