/* Rank 0 sends to a rank that does not exist; with MPI_ERRORS_ARE_FATAL, the default, that ends the job. */
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, value = 5;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        int nobody = size + 3; usleep(300 * 1000); /* by now the others wait */
        MPI_Send(&value, 1, MPI_INT, nobody, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
