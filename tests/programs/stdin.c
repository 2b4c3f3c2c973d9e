/* Rank 0 reads lines from its standard input and sends each to all ranks; every rank adds up the letters. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char line[256];
    int lines = 0, letters = 0;
    for (;;) {
        int length = -1;
        if (rank == 0 && fgets(line, sizeof line, stdin) != NULL) {
            length = (int)strcspn(line, "\n");
        }
        MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (length < 0) {
            break;
        }
        MPI_Bcast(line, length, MPI_CHAR, 0, MPI_COMM_WORLD);
        lines++;
        letters += length;
        if (rank == 0) {
            printf("line %d has %d letters\n", lines, length);
            fflush(stdout);
        }
    }
    int total = 0;
    MPI_Reduce(&letters, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d lines, %d letters on %d ranks\n", lines, total, size);
    }
    MPI_Finalize();
    return 0;
}
