/* Phases separated by barriers. In phase p every rank sends `p` + 1 messages to the next one and receives as many.
 *
 * Usage: barrier [phases], by default 3. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long phase(int number, int rank, int size)
{
    long sum = 0;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i <= number; i++) {
        long out = rank + 100L * number + i, in;
        MPI_Request request;
        MPI_Irecv(&in, 1, MPI_LONG, left, i, MPI_COMM_WORLD, &request);
        MPI_Send(&out, 1, MPI_LONG, right, i, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum += in;
    }
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int phases = argc > 1 ? atoi(argv[1]) : 3;
    long own = 0, total = 0;
    for (int p = 0; p < phases; p++) {
        own += phase(p, rank, size);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Reduce(&own, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("total = %ld\n", total);
    }
    MPI_Finalize();
    return 0;
}
