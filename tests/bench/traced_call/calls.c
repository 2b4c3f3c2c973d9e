/* usage: calls null|pingpong|test|iprobe COUNT [REPEATS]: processor and wall time per MPI call of rank 0, in ns, on
   stdout: the smallest of REPEATS runs of COUNT calls.
   null: sends and receives with MPI_PROC_NULL, nothing but the cost of a call. pingpong: 8 bytes between two ranks.
   test, iprobe: polls that fail. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double data;

static double cpuSeconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void messages(int count, int rank, int peer) {
    int i;
    for (i = 0; i < count / 2; ++i) {
        if (rank == 0) {
            MPI_Send(&data, 1, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD);
            MPI_Recv(&data, 1, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&data, 1, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&data, 1, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD);
        }
    }
}

static void tests(int count) {
    int i, flag;
    MPI_Request request;
    MPI_Irecv(&data, 1, MPI_DOUBLE, 0, 7, MPI_COMM_SELF, &request);
    for (i = 0; i < count; ++i) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void probes(int count) {
    int i, flag;
    for (i = 0; i < count; ++i) {
        MPI_Iprobe(0, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char** argv) {
    int rank, repeat, count = argc > 2 ? atoi(argv[2]) : 100000, repeats = argc > 3 ? atoi(argv[3]) : 1;
    double begin, seconds, cpu, best = 1e9, bestCpu = 1e9;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    messages(2000, rank, strcmp(argv[1], "pingpong") == 0 ? 1 - rank : MPI_PROC_NULL); /* warm */
    for (repeat = 0; repeat < repeats; ++repeat) {
        MPI_Barrier(MPI_COMM_WORLD);
        cpu = cpuSeconds();
        begin = MPI_Wtime();
        if (strcmp(argv[1], "test") == 0) {
            tests(count);
        } else if (strcmp(argv[1], "iprobe") == 0) {
            probes(count);
        } else {
            messages(count, rank, strcmp(argv[1], "null") == 0 ? MPI_PROC_NULL : 1 - rank);
        }
        seconds = MPI_Wtime() - begin;
        cpu = cpuSeconds() - cpu;
        best = seconds < best ? seconds : best;
        bestCpu = cpu < bestCpu ? cpu : bestCpu;
    }
    if (rank == 0) {
        printf("%.2f %.2f\n", bestCpu * 1e9 / count, best * 1e9 / count);
    }
    MPI_Finalize();
    return 0;
}
