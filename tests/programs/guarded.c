/* Rank 0 has a receive of any source and tag 5 open when it receives from any source with any tag; what has tag 5 can come
 * for the second one in no run. The first one gets what rank 1 sends once the second is complete, or, where it was sent
 * before that, what rank 2 sends.
 * Usage: guarded. The file that DELAYED names has the number of a rank that sends late. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void send_now_or_later(int rank, int tag)
{
    FILE *file = getenv("DELAYED") == NULL ? NULL : fopen(getenv("DELAYED"), "r");
    int late = -1;
    if (file != NULL) {
        if (fscanf(file, "%d", &late) != 1) {
            late = -1;
        }
        fclose(file);
    }
    usleep(late == rank ? 300000 : 1000);
    MPI_Send(&rank, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, go = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int first, second, third;
        MPI_Request request;
        MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request);
        MPI_Recv(&second, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&go, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(&third, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("first %d, second %d, third %d\n", first, second, third);
    } else if (rank == 1) {
        MPI_Recv(&go, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    } else if (rank == 2) {
        send_now_or_later(rank, 5);
    } else if (rank == 3) {
        send_now_or_later(rank, 6);
    }
    MPI_Finalize();
    return 0;
}
