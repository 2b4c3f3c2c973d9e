/* Rank 0 receives from any source twice: first a message of rank 1, then one of rank 2. Nothing that carries data makes rank
 * 2 send after the first receive, but MPI_Comm_dup, as MPI libraries make it, keeps it back until then, so that every run is
 * the same. Then the same with a probe, and once with a barrier between, which does order them. Needs 3 ranks. */
#include <mpi.h>
#include <stdio.h>

static int receive(int tag)
{
    int value;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    return status.MPI_SOURCE;
}

static void separate(int barrier)
{
    MPI_Comm copy;
    if (barrier) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_free(&copy);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int first = -1, second = -1, value = rank;
    for (int tag = 1; tag <= 3; tag++) {
        MPI_Status status;
        if (rank == 1)
            MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
        if (rank == 0 && tag != 2)
            first = receive(tag);
        if (rank == 0 && tag == 2) {
            MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
            first = status.MPI_SOURCE;
            MPI_Recv(&value, 1, MPI_INT, first, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        separate(tag == 3);
        if (rank == 2)
            MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
        if (rank == 0)
            second = receive(tag);
    }
    if (rank == 0)
        printf("last: %d before %d\n", first, second);
    MPI_Finalize();
    return 0;
}
