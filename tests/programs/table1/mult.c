/* The product of two matrices. Rank 0 sends the second one to all, deals out rows of the first one in turn, and takes the rows
 * of the product from the ranks in the same order: no message races.
 *
 * Usage: mult [rows], by default 100. */
#include "seconds.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SECOND = 1, ROW = 2, PRODUCT = 3 };

static int64_t first_entry(int row, int column)
{
    return (row * 7 + column * 3) % 11 - 5;
}

static int64_t second_entry(int row, int column)
{
    return (row * 5 + column * 2) % 13 - 6;
}

static void multiply(const int64_t *row, const int64_t *second, int64_t *result, int size)
{
    for (int j = 0; j < size; j++) {
        result[j] = 0;
    }
    for (int k = 0; k < size; k++) {
        for (int j = 0; j < size; j++) {
            result[j] += row[k] * second[k * size + j];
        }
    }
}

static int wrong_entries(int i, const int64_t *result, int size)
{
    int wrong = 0;
    for (int j = 0; j < size; j++) {
        int64_t sum = 0;
        for (int k = 0; k < size; k++) {
            sum += first_entry(i, k) * second_entry(k, j);
        }
        wrong += sum != result[j];
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    note_seconds(rank);
    const int size = argc > 1 ? atoi(argv[1]) : 100;
    if (size < 1 || ranks < 2) {
        fprintf(stderr, "usage: mult [rows], two ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int64_t *second = malloc(sizeof *second * (size_t)size * (size_t)size);
    int64_t *row = malloc(sizeof *row * (size_t)size);
    int64_t *result = malloc(sizeof *result * (size_t)size);
    if (rank == 0) {
        for (int i = 0; i < size * size; i++) {
            second[i] = second_entry(i / size, i % size);
        }
        for (int to = 1; to < ranks; to++) {
            MPI_Send(second, size * size, MPI_INT64_T, to, SECOND, MPI_COMM_WORLD);
        }
        /* Each worker has one row while another one of its rows is on the way. */
        for (int i = 0; i < size + 2 * (ranks - 1); i++) {
            const int worker = 1 + i % (ranks - 1);
            const int done = i - 2 * (ranks - 1);
            if (done >= 0) {
                MPI_Recv(result, size, MPI_INT64_T, worker, PRODUCT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                wrong += wrong_entries(done, result, size);
            }
            if (i < size) {
                for (int j = 0; j < size; j++) {
                    row[j] = first_entry(i, j);
                }
                MPI_Send(row, size, MPI_INT64_T, worker, ROW, MPI_COMM_WORLD);
            }
        }
        printf("product of %d rows: %s\n", size, wrong == 0 ? "right" : "WRONG");
    } else {
        MPI_Recv(second, size * size, MPI_INT64_T, 0, SECOND, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = rank - 1; i < size; i += ranks - 1) {
            MPI_Recv(row, size, MPI_INT64_T, 0, ROW, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            multiply(row, second, result, size);
            MPI_Send(result, size, MPI_INT64_T, 0, PRODUCT, MPI_COMM_WORLD);
        }
    }
    free(second);
    free(row);
    free(result);
    note_seconds(rank);
    MPI_Finalize();
    return wrong != 0;
}
