/* The determinant of a matrix, modulo a prime. Its rows are dealt out in turn. In each step the rank that has the pivot row
 * sends it to all others, which receive it from just that rank; at the end rank 0 takes the ranks' parts of the product as
 * they come, so only those messages race.
 *
 * Usage: det [rows], by default 100. */
#include "modular.h"
#include "seconds.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIVOT = 1, PART = 2 };

static void subtract(int64_t *row, const int64_t *pivot, int64_t inverse, int column, int size)
{
    const int64_t factor = row[column] * inverse % PRIME;
    for (int j = column; j < size; j++) {
        row[j] = (row[j] + (PRIME - factor) * pivot[j]) % PRIME;
    }
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    note_seconds(rank);
    const int size = argc > 1 ? atoi(argv[1]) : 100;
    if (size < 1) {
        fprintf(stderr, "usage: det [rows]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int own = (size - rank + ranks - 1) / ranks; /* rows rank, rank + ranks, ... */
    int64_t *rows = malloc(sizeof *rows * (size_t)size * (size_t)(own > 0 ? own : 1));
    int64_t *other = malloc(sizeof *other * (size_t)size);
    for (int i = 0; i < own; i++) {
        for (int j = 0; j < size; j++) {
            rows[i * size + j] = entry_of_product(rank + i * ranks, j);
        }
    }
    int64_t part = 1;
    for (int k = 0; k < size; k++) {
        const int owner = k % ranks;
        int64_t *pivot = owner == rank ? rows + k / ranks * size : other;
        if (owner != rank) {
            MPI_Recv(pivot + k, size - k, MPI_INT64_T, owner, PIVOT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            part = part * pivot[k] % PRIME;
            for (int to = 0; to < ranks; to++) {
                if (to != rank) {
                    MPI_Send(pivot + k, size - k, MPI_INT64_T, to, PIVOT, MPI_COMM_WORLD);
                }
            }
        }
        const int64_t inverse = inverse_of(pivot[k]);
        for (int i = 0; i < own; i++) {
            if (rank + i * ranks > k) {
                subtract(rows + i * size, pivot, inverse, k, size);
            }
        }
    }
    int code = 0;
    if (rank != 0) {
        MPI_Send(&part, 1, MPI_INT64_T, 0, PART, MPI_COMM_WORLD);
    } else {
        for (int i = 1; i < ranks; i++) {
            int64_t next;
            MPI_Recv(&next, 1, MPI_INT64_T, MPI_ANY_SOURCE, PART, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            part = part * next % PRIME;
        }
        int64_t right = 1;
        for (int i = 0; i < size; i++) {
            right = right * upper_part(i, i) % PRIME;
        }
        code = part != right;
        printf("determinant of %d rows: %lld, %s\n", size, (long long)part, code == 0 ? "right" : "WRONG");
    }
    free(rows);
    free(other);
    note_seconds(rank);
    MPI_Finalize();
    return code;
}
