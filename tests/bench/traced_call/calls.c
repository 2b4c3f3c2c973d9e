/* usage: calls null|pingpong COUNT: processor and wall time per MPI call of rank 0, in ns, on stdout.
   null: sends and receives with MPI_PROC_NULL, nothing but the cost of a call. pingpong: 8 bytes between two ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpuSeconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
    int rank, i, count = argc > 2 ? atoi(argv[2]) : 100000, peer;
    double data = 0, begin, seconds, cpu;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = strcmp(argv[1], "null") == 0 ? MPI_PROC_NULL : 1 - rank;
    for (i = 0; i < 1000; ++i) { /* warm */
        MPI_Sendrecv_replace(&data, 1, MPI_DOUBLE, peer, 0, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    cpu = cpuSeconds();
    begin = MPI_Wtime();
    for (i = 0; i < count / 2; ++i) {
        if (rank == 0) {
            MPI_Send(&data, 1, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD);
            MPI_Recv(&data, 1, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&data, 1, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&data, 1, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD);
        }
    }
    seconds = MPI_Wtime() - begin;
    cpu = cpuSeconds() - cpu;
    if (rank == 0) {
        printf("%.2f %.2f\n", cpu * 1e9 / (count / 2 * 2), seconds * 1e9 / (count / 2 * 2));
    }
    MPI_Finalize();
    return 0;
}
