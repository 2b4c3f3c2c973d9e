/* Which calls it makes, and what it prints, depends on the time, on a clock and on random bytes: a program that no two runs
 * of have in common, but for what is given to it again.
 *
 * Each rank sends `count` messages to the next one, 1 to 4 by the last digits of a clock; their values come from the clocks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>

int main(int argc, char **argv)
{
    srand((unsigned)time(NULL)); /* before MPI_Init */
    int early = rand();
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int count = 1 + (int)(now.tv_nsec / 100 % 4);
    double start = MPI_Wtime();
    unsigned sum = (unsigned)early;
    MPI_Request request;
    MPI_Isend(&count, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);
    int theirs = 0;
    MPI_Recv(&theirs, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) {
        unsigned value = 0;
        struct timeval day;
        gettimeofday(&day, NULL);
        if (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {
            return 2;
        }
        value ^= (unsigned)day.tv_usec ^ (unsigned)clock();
        MPI_Send(&value, 1, MPI_UNSIGNED, (rank + 1) % size, 1 + (int)(value % 1000), MPI_COMM_WORLD);
    }
    for (int i = 0; i < theirs; i++) {
        unsigned value = 0;
        MPI_Recv(&value, 1, MPI_UNSIGNED, (rank + size - 1) % size, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum = sum * 31 + value;
    }
    int turns = 0;
    while (MPI_Wtime() - start < 0.002) { /* how often is a matter of chance */
        turns++;
    }
    printf("rank %d: %d messages, sum %u, %d turns, %.9f s\n", rank, count, sum, turns, MPI_Wtime() - start);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
