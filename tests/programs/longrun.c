/* A ring that runs for long, with a compute loop between the messages.
 * Usage: longrun [rounds [loop turns between messages [stay]]], by default 100000 rounds and 1000 turns. With `stay` each rank
 * then says what time it is, and waits for ever, for a message from itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double compute(double value, long turns)
{
    for (long i = 0; i < turns; i++) {
        value = value * 0.999999 + 1e-6;
    }
    return value;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long rounds = argc > 1 ? atol(argv[1]) : 100000;
    long turns = argc > 2 ? atol(argv[2]) : 1000;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    double value = rank;
    for (long round = 0; round < rounds; round++) {
        double in = 0;
        MPI_Request request;
        MPI_Irecv(&in, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &request);
        MPI_Send(&value, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        value = compute(in, turns);
    }
    if (argc > 3) {
        printf("rank %d stays since %.9f\n", rank, MPI_Wtime());
        fflush(stdout);
        MPI_Recv(&value, 1, MPI_DOUBLE, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    double sum = 0;
    MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%ld rounds, sum = %.6f\n", rounds, sum);
    }
    MPI_Finalize();
    return 0;
}
