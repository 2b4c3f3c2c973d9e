/* Writes to both output streams and says which of its standard streams are terminals. One line is left without its end,
 * one is written a byte at a time, one holds bytes that are no text. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    printf("before MPI_Init\n");
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d isatty %d %d %d\n", rank, isatty(0), isatty(1), isatty(2));
    fprintf(stderr, "rank %d to stderr\n", rank);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    for (const char *c = "slowly written\n"; *c != '\0'; c++) {
        if (write(STDOUT_FILENO, c, 1) != 1) {
            return 1;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("bytes \x01\xff\xc3\x28 end\n");
    printf("no end of line, rank %d", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
