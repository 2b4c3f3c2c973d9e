/* A token goes round a ring of all ranks, each adds its number to it. Look for the staircase in the diagram: one rank
 * works, the others wait in MPI_Recv.
 *
 * Usage: ring [rounds], by default 5. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    int right = (rank + 1) % size;
    int left = (rank + size - 1) % size;
    long token = 0;
    for (int round = 0; round < rounds; round++) {
        if (rank == 0) {
            MPI_Send(&token, 1, MPI_LONG, right, round, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_LONG, left, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_LONG, left, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token += rank;
            MPI_Send(&token, 1, MPI_LONG, right, round, MPI_COMM_WORLD);
        }
    }
    if (rank == 0) {
        printf("token = %ld after %d rounds\n", token, rounds);
    }
    MPI_Finalize();
    return 0;
}
