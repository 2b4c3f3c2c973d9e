/* Finite differences over a square mesh: Jacobi's method, a band of rows for each rank. In each step a rank sends its outer
 * rows to its neighbours, and takes theirs in the order in which they come: the two race. A step has a tag, so that what
 * comes early waits. The mesh starts as a wave that each step makes smaller by a known factor.
 *
 * Usage: mesh [rows [steps]], by default 300 and 100. */
#include "seconds.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static double wave(int row, int column, int size)
{
    return sin(pi * row / (size + 1)) * sin(pi * column / (size + 1));
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    note_seconds(rank);
    const int size = argc > 1 ? atoi(argv[1]) : 300;
    const int steps = argc > 2 ? atoi(argv[2]) : 100;
    if (size < ranks || steps < 1 || steps > 30000) {
        fprintf(stderr, "usage: mesh [rows, not fewer than ranks [steps, up to 30000]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int first = 1 + (int)((long)size * rank / ranks);
    const int rows = 1 + (int)((long)size * (rank + 1) / ranks) - first;
    const int width = size + 2;
    double *now = malloc(sizeof *now * (size_t)width * (size_t)(rows + 2));
    double *next = malloc(sizeof *next * (size_t)width * (size_t)(rows + 2));
    double *halo = malloc(sizeof *halo * (size_t)width);
    for (int i = 0; i < rows + 2; i++) {
        for (int j = 0; j < width; j++) {
            const int border = j == 0 || j > size || first + i - 1 == 0 || first + i - 1 > size;
            now[i * width + j] = border ? 0 : wave(first + i - 1, j, size);
            next[i * width + j] = now[i * width + j];
        }
    }
    for (int step = 0; step < steps; step++) {
        int awaited = 0;
        for (int by = -1; by <= 1; by += 2) {
            const int neighbour = rank + by;
            if (neighbour >= 0 && neighbour < ranks) {
                MPI_Send(now + (by < 0 ? 1 : rows) * width, width, MPI_DOUBLE, neighbour, step, MPI_COMM_WORLD);
                awaited++;
            }
        }
        for (; awaited > 0; awaited--) {
            MPI_Status status;
            MPI_Recv(halo, width, MPI_DOUBLE, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &status);
            memcpy(now + (status.MPI_SOURCE < rank ? 0 : rows + 1) * width, halo, sizeof *halo * (size_t)width);
        }
        for (int i = 1; i <= rows; i++) {
            for (int j = 1; j <= size; j++) {
                next[i * width + j] = (now[(i - 1) * width + j] + now[(i + 1) * width + j] + now[i * width + j - 1] +
                                       now[i * width + j + 1]) / 4;
            }
        }
        double *old = now;
        now = next;
        next = old;
    }
    const double factor = pow(cos(pi / (size + 1)), steps);
    double error = 0;
    for (int i = 1; i <= rows; i++) {
        for (int j = 1; j <= size; j++) {
            error = fmax(error, fabs(now[i * width + j] - factor * wave(first + i - 1, j, size)));
        }
    }
    int code = 0;
    if (rank != 0) {
        MPI_Send(&error, 1, MPI_DOUBLE, 0, steps, MPI_COMM_WORLD);
    } else {
        for (int i = 1; i < ranks; i++) {
            double other;
            MPI_Recv(&other, 1, MPI_DOUBLE, MPI_ANY_SOURCE, steps, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            error = fmax(error, other);
        }
        code = !(error < 1e-12);
        printf("mesh of %d rows after %d steps: %s\n", size, steps, code == 0 ? "right" : "WRONG");
    }
    free(now);
    free(next);
    free(halo);
    note_seconds(rank);
    MPI_Finalize();
    return code;
}
