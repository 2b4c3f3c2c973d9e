/* Rank 1 sends to rank 0 and works in between, whatever rank 0 does; the messages are small enough to leave at once.
 *
 * Usage: trickle [messages [milliseconds between them]], by default 40 and 50. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int messages = argc > 1 ? atoi(argv[1]) : 40;
    int pause = argc > 2 ? atoi(argv[2]) : 50;
    int sum = 0;
    for (int i = 0; i < messages; i++) {
        int value = i;
        if (rank == 1) {
            MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
            usleep((useconds_t)pause * 1000);
        } else if (rank == 0) {
            MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += value;
        }
    }
    if (rank == 0) {
        printf("sum = %d\n", sum);
    }
    MPI_Finalize();
    return 0;
}
