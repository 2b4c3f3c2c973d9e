/* A rank that starts two processes of the same program, exchanges a number with each and merges with them. Two ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, i, value = 0, sum = 0, total = 0;
    MPI_Comm parent, children, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Recv(&value, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
        value *= 10;
        MPI_Send(&value, 1, MPI_INT, 0, 2, parent);
        MPI_Intercomm_merge(parent, 1, &all);
    } else {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
        for (i = 0; rank == 0 && i < 2; ++i) {
            value = i + 1;
            MPI_Send(&value, 1, MPI_INT, i, 1, children);
            MPI_Recv(&value, 1, MPI_INT, i, 2, children, MPI_STATUS_IGNORE);
            sum += value;
        }
        MPI_Intercomm_merge(children, 0, &all);
    }
    value = 1;
    MPI_Allreduce(&value, &total, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(parent != MPI_COMM_NULL ? &parent : &children);
    if (sum != 0) {
        printf("sum = %d, %d processes\n", sum, total);
    }
    MPI_Finalize();
    return 0;
}
