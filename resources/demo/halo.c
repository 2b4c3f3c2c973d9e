/* A wave on a closed string, cut into one piece for each rank, which trade their end points with both neighbours.
 * Look for the regular net of messages, for the collectives every tenth step, and at which rank the others wait for:
 * the last one has twice the work.
 *
 * Usage: halo [steps [points per rank]], by default 40 and 1000. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TO_LEFT = 1, TO_RIGHT = 2 };

/* Fills the ghost points u[0] and u[points + 1] with the neighbours' end points. */
static void trade_ends(double *u, int points, int left, int right)
{
    MPI_Request requests[4];
    MPI_Irecv(&u[0], 1, MPI_DOUBLE, left, TO_RIGHT, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&u[points + 1], 1, MPI_DOUBLE, right, TO_LEFT, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&u[1], 1, MPI_DOUBLE, left, TO_LEFT, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&u[points], 1, MPI_DOUBLE, right, TO_RIGHT, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void advance(const double *before, const double *now, double *after, int points, double c2, int repeat)
{
    for (int turn = 0; turn < repeat; turn++) {
        for (int i = 1; i <= points; i++) {
            after[i] = 2.0 * now[i] - before[i] + c2 * (now[i - 1] - 2.0 * now[i] + now[i + 1]);
        }
    }
}

static double energy_of(const double *now, const double *after, int points)
{
    double sum = 0.0;
    for (int i = 1; i <= points; i++) {
        sum += (after[i] - now[i]) * (after[i] - now[i]);
    }
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int steps = argc > 1 ? atoi(argv[1]) : 40;
    int points = argc > 2 ? atoi(argv[2]) : 1000;
    int left = (rank + size - 1) % size;
    int right = (rank + 1) % size;

    double c2 = rank == 0 ? 0.25 : 0.0;
    MPI_Bcast(&c2, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, 2 * rank / size, rank, &half);

    double *before = calloc(points + 2, sizeof *before);
    double *now = calloc(points + 2, sizeof *now);
    double *after = calloc(points + 2, sizeof *after);
    for (int i = 1; i <= points; i++) {
        double place = (rank * (double)points + i - 1) / (size * (double)points);
        before[i] = now[i] = sin(2.0 * acos(-1.0) * place);
    }
    double total = 0.0, in_half = 0.0;
    for (int step = 1; step <= steps; step++) {
        trade_ends(now, points, left, right);
        advance(before, now, after, points, c2, rank == size - 1 ? 2 : 1);
        if (step % 10 == 0) {
            double own = energy_of(now, after, points);
            MPI_Allreduce(&own, &in_half, 1, MPI_DOUBLE, MPI_SUM, half);
            MPI_Allreduce(&own, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
        double *oldest = before;
        before = now;
        now = after;
        after = oldest;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d steps, kinetic energy %.6e, of it %.6e in the first half\n", steps, total, in_half);
    }
    free(before);
    free(now);
    free(after);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
