/* A master hands out tasks to whoever answers: each is to count the primes in one part of the numbers below 10000, of which
 * there are 1229. Which worker does which task, and in which order the results come, is different each time; the master
 * prints whom they came from.
 *
 * Usage: tasks [number of tasks], by default 40. Two ranks or more. */
#include "delay.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_TASKS = 200, BELOW = 10000, PRIMES = 1229, TASK = 1, STOP = 2, RESULT = 3 };

struct result {
    int task;
    int primes;
};

static int tasks = 40;
static int done, total;        /* results so far, and the primes in them */
static int order[MOST_TASKS];  /* workers, as their results came */
static int worker_of[MOST_TASKS];

static int is_prime(int number)
{
    for (int i = 2; i * i <= number; i++) {
        if (number % i == 0) {
            return 0;
        }
    }
    return number > 1;
}

static int count_primes(int task)
{
    int primes = 0;
    for (int number = task; number < BELOW; number += tasks) {
        primes += is_prime(number);
    }
    return primes;
}

static void take_result(const struct result *result, int worker)
{
    order[done] = worker;
    worker_of[result->task] = worker;
    total += result->primes;
    done++;
}

static void be_master(int workers)
{
    int next = 0;
    for (int worker = 1; worker <= workers && next < tasks; worker++, next++) {
        MPI_Send(&next, 1, MPI_INT, worker, TASK, MPI_COMM_WORLD);
    }
    while (done < tasks) {
        struct result result;
        MPI_Status status;
        MPI_Recv(&result, 2, MPI_INT, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
        take_result(&result, status.MPI_SOURCE);
        if (next < tasks) {
            MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, TASK, MPI_COMM_WORLD);
            next++;
        }
    }
    for (int worker = 1; worker <= workers; worker++) {
        MPI_Send(NULL, 0, MPI_INT, worker, STOP, MPI_COMM_WORLD);
    }
    printf("order:");
    for (int i = 0; i < tasks; i++) {
        printf(" %d", order[i]);
    }
    printf("\n%d primes below %d\n", total, BELOW);
}

static void be_worker(void)
{
    for (;;) {
        struct result result;
        MPI_Status status;
        MPI_Recv(&result.task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == STOP) {
            return;
        }
        result.primes = count_primes(result.task);
        random_pause(3000);
        MPI_Send(&result, 2, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        tasks = atoi(argv[1]);
    }
    if (size < 2 || tasks < 1 || tasks > MOST_TASKS) {
        fprintf(stderr, "usage: tasks [1 to %d], on two ranks or more\n", MOST_TASKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank == 0) {
        be_master(size - 1);
    } else {
        be_worker();
    }
    MPI_Finalize();
    return rank == 0 && total != PRIMES;
}
