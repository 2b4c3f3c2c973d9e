/* A program that is another one each time: rank 0 counts in a file how often it has been started, and sends so many
 * messages to rank 1 besides.
 *
 * Usage: departs FILE */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, starts = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        FILE *file = fopen(argv[1], "r");
        if (file != NULL) {
            if (fscanf(file, "%d", &starts) != 1) {
                starts = 0;
            }
            fclose(file);
        }
        starts++;
        file = fopen(argv[1], "w");
        fprintf(file, "%d\n", starts);
        fclose(file);
    }
    MPI_Bcast(&starts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < starts; i++) {
        if (rank == 0) {
            MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
