/* Solves A * X = B by Jacobi's method: rank 0 deals out the rows of A, the others compute. It hangs. Look for
 * who waits for whom, and at how many rows each worker was sent.
 *
 * Usage: rows [rows per worker [bytes per row [iterations]]], by default 8 rows of 1024 bytes, 20 iterations. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG_ROW = 1, TAG_RESULT = 2 };

/* Row `row` of A: its diagonal coefficient, then the `width` - 1 coefficients to the right of it, going round. */
static void fill_row(double *coefficients, int width, int row, int distance)
{
    coefficients[0] = 4.0 + 0.25 * distance;
    for (int k = 1; k < width; k++) {
        coefficients[k] = ((row + k) % 3 - 1.0) / width;
    }
}

static double right_side(int row)
{
    return 1.0 + row % 5;
}

/* One row a message: all rows of worker 1 first, then those of worker 2, and so on. A is stiffer towards the ends
 * of each worker's block. */
static void deal_rows(int workers, int rows, int width)
{
    double *row = malloc(width * sizeof *row);
    int middle = rows / 2;
    for (int worker = 1; worker <= workers; worker++) {
        int first = (worker - 1) * rows;
        for (int i = 0; i < middle; i++) {
            fill_row(row, width, first + i, abs(i - middle));
            MPI_Send(row, width, MPI_DOUBLE, worker, TAG_ROW, MPI_COMM_WORLD);
        }
    }
    free(row);
}

static void take_rows(double *block, int rows, int width)
{
    for (int i = 0; i < rows; i++) {
        MPI_Recv(block + (size_t)i * width, width, MPI_DOUBLE, 0, TAG_ROW, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Next values of the unknowns `first` to `first` + `rows` - 1. */
static void relax(const double *block, const double *x, double *next, int first, int rows, int width, int n)
{
    for (int i = 0; i < rows; i++) {
        const double *row = block + (size_t)i * width;
        double sum = right_side(first + i);
        for (int k = 1; k < width; k++) {
            sum -= row[k] * x[(first + i + k) % n];
        }
        next[i] = sum / row[0];
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rows = argc > 1 ? atoi(argv[1]) : 8;
    int width = (argc > 2 ? atoi(argv[2]) : 1024) / (int)sizeof(double);
    int iterations = argc > 3 ? atoi(argv[3]) : 20;
    int workers = size - 1;
    if (workers < 1 || rows < 1 || width < 1) {
        fprintf(stderr, "rows: at least 2 ranks, 1 row per worker and 8 bytes per row are needed\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int n = workers * rows;
    double *x = calloc(n, sizeof *x);
    if (rank == 0) {
        deal_rows(workers, rows, width);
        for (int step = 0; step < iterations; step++) {
            MPI_Bcast(x, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            for (int worker = 1; worker <= workers; worker++) {
                MPI_Recv(x + (worker - 1) * rows, rows, MPI_DOUBLE, worker, TAG_RESULT, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            }
        }
        double norm = 0.0;
        for (int i = 0; i < n; i++) {
            norm += x[i] * x[i];
        }
        printf("%d unknowns, %d iterations, |X| = %.9f\n", n, iterations, sqrt(norm));
    } else {
        double *block = malloc((size_t)rows * width * sizeof *block);
        double *next = malloc(rows * sizeof *next);
        take_rows(block, rows, width);
        for (int step = 0; step < iterations; step++) {
            MPI_Bcast(x, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            relax(block, x, next, (rank - 1) * rows, rows, width, n);
            MPI_Send(next, rows, MPI_DOUBLE, 0, TAG_RESULT, MPI_COMM_WORLD);
        }
        free(next);
        free(block);
    }
    free(x);
    MPI_Finalize();
    return 0;
}
