/* COUNT calls that all differ, so that the recording grows quickly. argv[1]: COUNT. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int i, data = 0, count = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Init(&argc, &argv);
    srand(1);
    for (i = 0; i < count; ++i) {
        MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, rand() % 200000000, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
