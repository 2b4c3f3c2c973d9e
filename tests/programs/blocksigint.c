/* Blocks SIGINT in all threads, then spins in user code between two barriers.
 *
 * Usage: blocksigint [seconds], by default 600. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static unsigned long spin(double until)
{
    unsigned long turns = 0;
    while (seconds_now() < until) {
        for (volatile int i = 0; i < 100000; i++) {
        }
        turns++;
    }
    return turns;
}

int main(int argc, char **argv)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL); /* threads made from here on inherit it */
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned long turns = spin(seconds_now() + (argc > 1 ? atof(argv[1]) : 600.0));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        puts(turns > 0 ? "spun" : "did not spin");
    }
    MPI_Finalize();
    return 0;
}
