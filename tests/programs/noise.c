/* Rank 1 sends to rank 0 with tags that do not repeat: nothing of that can be recorded in little room.
 *
 * Usage: noise [messages], by default 200000. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int messages = argc > 1 ? atoi(argv[1]) : 200000;
    unsigned state = 1;
    long sum = 0;
    for (int i = 0; i < messages; i++) {
        int value = i;
        state = state * 1103515245u + 12345u;
        int tag = (int)(state >> 8 & 0x3fffffu);
        if (rank == 1) {
            MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
        } else if (rank == 0) {
            MPI_Recv(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += value;
        }
    }
    if (rank == 0) {
        printf("sum = %ld\n", sum);
    }
    MPI_Finalize();
    return 0;
}
