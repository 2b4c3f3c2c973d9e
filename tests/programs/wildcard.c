/* Rank 0 receives from whoever comes first and prints the order. The others wait for a random time before each send, so
 * that the order differs from run to run.
 * Usage: wildcard [messages per rank [random seed]], by default 4 and what the kernel gives to each process. With a seed the
 * waiting times are always the same, and so is, nearly always, the order. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int messages = argc > 1 ? atoi(argv[1]) : 4;
    unsigned seed;
    memcpy(&seed, (const void *)getauxval(AT_RANDOM), sizeof seed);
    seed = argc > 2 ? (unsigned)atoi(argv[2]) : seed;
    srand(seed * 31 + (unsigned)rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        int total = messages * (size - 1);
        printf("order:");
        for (int i = 0; i < total; i++) {
            int value;
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            printf(" %d", status.MPI_SOURCE);
        }
        printf("\n");
    } else {
        for (int i = 0; i < messages; i++) {
            usleep((useconds_t)(rand() % 20) * 1000);
            MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
