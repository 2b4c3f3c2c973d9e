/* Behaves as its argument says when the recording library is loaded: another exit code, another line, or nothing else. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    const char* preload = getenv("LD_PRELOAD");
    const int loaded = preload != NULL && strstr(preload, "libstopline-mpi") != NULL;
    const char* how = argc > 1 ? argv[1] : "";
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d of a program with process id %d\n", rank, (int)sizeof rank);
    if (loaded && rank == 1 && strcmp(how, "line") == 0) {
        printf("something is loaded\n");
    }
    MPI_Finalize();
    if (strcmp(how, "fails") == 0) {
        return 5;
    }
    return loaded && rank == 0 && strcmp(how, "code") == 0 ? 3 : 0;
}
