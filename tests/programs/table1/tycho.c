/* A simulator of caches, first come, first served: rank 0 gives the next cache to whoever asks. Results come with another tag
 * than requests, and rank 0 takes whichever is first. The address trace goes around arrays of some sizes, so that the misses
 * of each cache (its least recently used line goes) are known beforehand.
 *
 * Usage: tycho [caches [rounds]], by default 200 and 20. Two ranks or more. */
#include "seconds.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { REQUEST = 1, RESULT = 2, CACHE = 3, MOST_LINES = 64 };

/* A cache that holds so many lines, and the array that the trace goes around. */
static int lines_of(int cache)
{
    return 8 + cache * 5 % 50;
}

static int array_of(int cache)
{
    return 10 + cache * 11 % 60;
}

/* Lines that are all held miss once; else each one has gone before it comes again. */
static long right_misses(int cache, int rounds)
{
    const int array = array_of(cache);
    return array <= lines_of(cache) ? array : (long)array * rounds;
}

static long simulate(int cache, int rounds)
{
    const int lines = lines_of(cache), array = array_of(cache);
    int held[MOST_LINES], count = 0; /* least recently used first */
    long misses = 0;
    for (int i = 0; i < array * rounds; i++) {
        const int line = i % array;
        int at = 0;
        while (at < count && held[at] != line) {
            at++;
        }
        if (at == count) {
            misses++;
            if (count < lines) {
                count++;
            } else {
                at = 0;
            }
        }
        for (; at + 1 < count; at++) {
            held[at] = held[at + 1];
        }
        held[count - 1] = line;
    }
    return misses;
}

static int serve(int caches, int rounds, int workers)
{
    int next = 0, stopped = 0, results = 0, wrong = 0;
    while (stopped < workers || results < caches) {
        long message[2];
        MPI_Status status;
        MPI_Recv(message, 2, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == RESULT) {
            results++;
            wrong += message[1] != right_misses((int)message[0], rounds);
        } else {
            const int cache = next < caches ? next++ : -1;
            stopped += cache < 0;
            MPI_Send(&cache, 1, MPI_INT, status.MPI_SOURCE, CACHE, MPI_COMM_WORLD);
        }
    }
    return wrong;
}

static void work(int rounds)
{
    for (;;) {
        int cache;
        long message[2] = {0, 0};
        MPI_Send(message, 2, MPI_LONG, 0, REQUEST, MPI_COMM_WORLD);
        MPI_Recv(&cache, 1, MPI_INT, 0, CACHE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (cache < 0) {
            return;
        }
        message[0] = cache;
        message[1] = simulate(cache, rounds);
        MPI_Send(message, 2, MPI_LONG, 0, RESULT, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    note_seconds(rank);
    const int caches = argc > 1 ? atoi(argv[1]) : 200;
    const int rounds = argc > 2 ? atoi(argv[2]) : 20;
    if (caches < 1 || rounds < 1 || ranks < 2) {
        fprintf(stderr, "usage: tycho [caches [rounds]], two ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank == 0) {
        wrong = serve(caches, rounds, ranks - 1);
        printf("%d caches: %s\n", caches, wrong == 0 ? "right" : "WRONG");
    } else {
        work(rounds);
    }
    note_seconds(rank);
    MPI_Finalize();
    return wrong != 0;
}
