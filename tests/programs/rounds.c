/* Loops without MPI calls in them: places in one round and in another are at the same line. */
#include <mpi.h>
#include <stdio.h>

static double work(int rounds, double start)
{
    double sum = start;
    for (int i = 0; i < rounds; i++) {
        sum += i * 0.5;
        sum -= 0.25; /* line: again */
    }
    return sum;
}

static int depth(int left)
{
    int here = left * 2;
    if (left > 0) {
        here += depth(left - 1);
    }
    return here; /* line: back */
}

int main(int argc, char **argv)
{
    double sum = work(60, 0);
    MPI_Init(&argc, &argv);
    int rank, in = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int outer = 0; outer < 3; outer++) {
        sum = work(20, outer);
    }
    int deep = depth(5);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d: %g %d %d\n", rank, sum, in, deep);
    MPI_Finalize();
    return 0;
}
