/* usage: calls null|pingpong|any|farm|test|iprobe COUNT [REPEATS [DOUBLES]]: processor and wall time per MPI call of rank 0,
   in ns, on stdout: the smallest of REPEATS runs of COUNT calls.
   null: sends and receives with MPI_PROC_NULL, nothing but the cost of a call. pingpong: DOUBLES (1) times 8 bytes between
   two ranks. any: the same, received from any source. farm: rank 0 receives from any source and answers whoever it was, the others ask.
   test, iprobe: polls that fail.
   The clocks are read without libc, so that a replay that gives back recorded times is measured, too. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 20 };
static double data[MOST];

static double secondsOf(clockid_t clock) {
    struct timespec t;
    syscall(SYS_clock_gettime, clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void messages(int count, int rank, int peer, int source, int doubles) {
    int i;
    for (i = 0; i < count / 2; ++i) {
        if (rank == 0) {
            MPI_Send(data, doubles, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD);
            MPI_Recv(data, doubles, MPI_DOUBLE, source, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(data, doubles, MPI_DOUBLE, source, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, doubles, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD);
        }
    }
}

static void farm(int count, int rank, int ranks) {
    const int each = count / 2 / (ranks - 1);
    int i;
    MPI_Status status;
    for (i = 0; i < (rank == 0 ? each * (ranks - 1) : each); ++i) {
        if (rank == 0) {
            MPI_Recv(data, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            MPI_Send(data, 1, MPI_DOUBLE, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
        } else {
            MPI_Send(data, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
            MPI_Recv(data, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

static void tests(int count) {
    int i, flag;
    MPI_Request request;
    MPI_Irecv(data, 1, MPI_DOUBLE, 0, 7, MPI_COMM_SELF, &request);
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
    const int count = argc > 2 ? atoi(argv[2]) : 100000, repeats = argc > 3 ? atoi(argv[3]) : 1;
    const int wanted = argc > 4 ? atoi(argv[4]) : 1, doubles = wanted < 1 ? 1 : wanted > MOST ? MOST : wanted;
    const char* what = argc > 1 ? argv[1] : "null";
    const int null = strcmp(what, "null") == 0, any = strcmp(what, "any") == 0;
    int rank, ranks, peer, repeat;
    double begin, seconds, cpu, best = 1e9, bestCpu = 1e9;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    peer = null || ranks != 2 ? MPI_PROC_NULL : 1 - rank;
    messages(2000, rank, peer, peer, 1); /* warm */
    for (repeat = 0; repeat < repeats; ++repeat) {
        MPI_Barrier(MPI_COMM_WORLD);
        cpu = secondsOf(CLOCK_THREAD_CPUTIME_ID);
        begin = secondsOf(CLOCK_MONOTONIC);
        if (strcmp(what, "test") == 0) {
            tests(count);
        } else if (strcmp(what, "iprobe") == 0) {
            probes(count);
        } else if (strcmp(what, "farm") == 0) {
            farm(count, rank, ranks);
        } else {
            messages(count, rank, peer, any ? MPI_ANY_SOURCE : peer, doubles);
        }
        seconds = secondsOf(CLOCK_MONOTONIC) - begin;
        cpu = secondsOf(CLOCK_THREAD_CPUTIME_ID) - cpu;
        best = seconds < best ? seconds : best;
        bestCpu = cpu < bestCpu ? cpu : bestCpu;
    }
    if (rank == 0) {
        printf("%.2f %.2f\n", bestCpu * 1e9 / count, best * 1e9 / count);
    }
    MPI_Finalize();
    return 0;
}
