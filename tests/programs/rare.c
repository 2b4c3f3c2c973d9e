/* A race that seldom goes wrong: in every round rank 1 sends at once and the others a little later, and rank 0 takes
 * whoever comes first for rank 1. When that was another, it says so and exits with 3, or goes on anyway.
 *
 * Usage: rare [rounds [milliseconds [anyway]]], by default 20 and 1. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    int later = argc > 2 ? atoi(argv[2]) : 1;
    for (int round = 0; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            int first = 0;
            for (int i = 1; i < size; i++) {
                int value;
                MPI_Status status;
                MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
                first = i == 1 ? status.MPI_SOURCE : first;
            }
            if (first != 1) {
                printf("round %d: rank %d came first\n", round, first);
                fflush(stdout);
                if (argc <= 3) {
                    MPI_Abort(MPI_COMM_WORLD, 3);
                }
            }
        } else {
            usleep(rank == 1 ? 0 : (useconds_t)later * 1000);
            MPI_Send(&round, 1, MPI_INT, 0, round, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
