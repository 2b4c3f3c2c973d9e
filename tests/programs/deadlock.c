/* After one exchange that works, ranks 0 and 1 receive from each other before either sends; the others wait in a barrier. */
#include <mpi.h>

static void exchange_wrongly(int peer)
{
    int out = 1, in = 0;
    MPI_Recv(&in, 1, MPI_INT, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&out, 1, MPI_INT, peer, 9, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, in = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank < 2) {
        MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 8, &in, 1, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        exchange_wrongly(1 - rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
