/* usage: later FILE calls|line|code. Behaves as its argument says when FILE is there already: makes other calls, prints
   another line, or ends with another code. Rank 0 makes FILE at the end. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    FILE* file = fopen(argv[1], "r");
    const int later = file != NULL;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d of a program%s\n", rank, later && strcmp(argv[2], "line") == 0 ? " that runs later" : "");
    if (later && strcmp(argv[2], "calls") == 0) {
        MPI_Allreduce(MPI_IN_PLACE, &rank, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (file != NULL) {
        fclose(file);
    }
    MPI_Finalize();
    if (rank == 0 && (file = fopen(argv[1], "w")) != NULL) {
        fclose(file);
    }
    return later && strcmp(argv[2], "code") == 0 ? 3 : 0;
}
