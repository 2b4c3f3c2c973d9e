/* After one exchange that works, ranks 0 and 1 receive from each other before either sends; the others wait in a barrier. With an
 * argument all ranks send a MiB to the next one before any of them receives. */
#include <mpi.h>
#include <stdlib.h>

static void exchange_wrongly(int peer)
{
    int out = 1, in = 0;
    MPI_Recv(&in, 1, MPI_INT, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&out, 1, MPI_INT, peer, 9, MPI_COMM_WORLD);
}

static void send_around(int rank, int size)
{
    enum { BYTES = 1 << 20 };
    char *buffer = calloc(BYTES, 1);
    MPI_Send(buffer, BYTES, MPI_CHAR, (rank + 1) % size, 4, MPI_COMM_WORLD);
    MPI_Recv(buffer, BYTES, MPI_CHAR, (rank + size - 1) % size, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(buffer);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, in = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        send_around(rank, size);
    } else if (rank < 2) {
        MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 8, &in, 1, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        exchange_wrongly(1 - rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
