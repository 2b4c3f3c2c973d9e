/* A system of linear equations, solved modulo a prime by Gaussian elimination. Its rows are dealt out in turn, and pivot rows
 * go from the rank that has them to all others. The unknowns are found from the last one up: rank 0 is sent each row's
 * remainder, from whichever rank is first, so these messages race.
 *
 * Usage: sys [equations], by default 300. */
#include "modular.h"
#include "seconds.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIVOT = 1, ROW = 2 };

/* The unknowns that the right-hand sides are made from. */
static int64_t unknown(int number)
{
    return 1 + chance(number, -1) % 1000;
}

static int64_t right_side(const int64_t *row, int size)
{
    int64_t sum = 0;
    for (int j = 0; j < size; j++) {
        sum = (sum + row[j] * unknown(j)) % PRIME;
    }
    return sum;
}

/* A row of the upper triangle with its number in front; its unknown follows from those behind it. */
static int solve(int64_t *triangle, int size)
{
    const int width = size + 2;
    int wrong = 0;
    int64_t *found = malloc(sizeof *found * (size_t)size);
    for (int i = size - 1; i >= 0; i--) {
        const int64_t *row = triangle + (size_t)i * (size_t)width + 1;
        int64_t sum = row[size];
        for (int j = i + 1; j < size; j++) {
            sum = (sum + (PRIME - row[j]) * found[j]) % PRIME;
        }
        found[i] = sum * inverse_of(row[i]) % PRIME;
        wrong += found[i] != unknown(i);
    }
    free(found);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    note_seconds(rank);
    const int size = argc > 1 ? atoi(argv[1]) : 300;
    if (size < 1) {
        fprintf(stderr, "usage: sys [equations]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int width = size + 2; /* number, coefficients, right-hand side */
    const int own = (size - rank + ranks - 1) / ranks;
    int64_t *rows = malloc(sizeof *rows * (size_t)width * (size_t)(own > 0 ? own : 1));
    int64_t *other = malloc(sizeof *other * (size_t)width);
    for (int i = 0; i < own; i++) {
        int64_t *row = rows + (size_t)i * (size_t)width;
        row[0] = rank + i * ranks;
        for (int j = 0; j < size; j++) {
            row[1 + j] = entry_of_product(rank + i * ranks, j);
        }
        row[1 + size] = right_side(row + 1, size);
    }
    for (int k = 0; k < size; k++) {
        const int owner = k % ranks;
        int64_t *pivot = owner == rank ? rows + (size_t)(k / ranks) * (size_t)width : other;
        if (owner != rank) {
            MPI_Recv(pivot + 1 + k, size + 1 - k, MPI_INT64_T, owner, PIVOT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            for (int to = 0; to < ranks; to++) {
                if (to != rank) {
                    MPI_Send(pivot + 1 + k, size + 1 - k, MPI_INT64_T, to, PIVOT, MPI_COMM_WORLD);
                }
            }
        }
        const int64_t inverse = inverse_of(pivot[1 + k]);
        for (int i = 0; i < own; i++) {
            int64_t *row = rows + (size_t)i * (size_t)width + 1;
            if (rank + i * ranks > k) {
                const int64_t factor = row[k] * inverse % PRIME;
                for (int j = k; j <= size; j++) {
                    row[j] = (row[j] + (PRIME - factor) * pivot[1 + j]) % PRIME;
                }
            }
        }
    }
    int code = 0;
    if (rank != 0) {
        for (int i = 0; i < own; i++) {
            MPI_Send(rows + (size_t)i * (size_t)width, width, MPI_INT64_T, 0, ROW, MPI_COMM_WORLD);
        }
    } else {
        int64_t *triangle = malloc(sizeof *triangle * (size_t)width * (size_t)size);
        for (int i = 0; i < size; i++) {
            const int64_t *row = i < own ? rows + (size_t)i * (size_t)width : other;
            if (i >= own) {
                MPI_Recv(other, width, MPI_INT64_T, MPI_ANY_SOURCE, ROW, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
            for (int j = 0; j < width; j++) {
                triangle[(size_t)row[0] * (size_t)width + (size_t)j] = row[j];
            }
        }
        code = solve(triangle, size) != 0;
        printf("%d equations: %s\n", size, code == 0 ? "right" : "WRONG");
        free(triangle);
    }
    free(rows);
    free(other);
    note_seconds(rank);
    MPI_Finalize();
    return code;
}
