/* A plain MPI program for the agent's tests; the first argument says what it does. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(int rank, const char* what) {
    printf("rank %d says %s\n", rank, what);
    fflush(stdout);
}

/* Starts a process of its own session whose parent has gone, and says its number. */
static void startDaemon(int rank, unsigned seconds) {
    int told[2];
    pid_t pid = 0;
    if (pipe(told) != 0) {
        return;
    }
    const pid_t middle = fork();
    if (middle == 0) {
        setsid();
        pid = fork();
        if (pid == 0) {
            for (int fd = 0; fd < 256; ++fd) {
                close(fd);
            }
            sleep(seconds);
            _exit(0);
        }
        _exit(write(told[1], &pid, sizeof pid) != sizeof pid);
    }
    if (read(told[0], &pid, sizeof pid) == sizeof pid && waitpid(middle, NULL, 0) == middle) {
        printf("rank %d daemon %d\n", rank, (int)pid);
    }
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "hello";
    int rank = 0;
    if (strcmp(mode, "exit-before-init") == 0) {
        return 9;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(mode, "hello") == 0) {
        printf("rank %d tty %d %d %d\n", rank, isatty(0), isatty(1), isatty(2));
        fprintf(stderr, "rank %d complains\n", rank);
    } else if (strcmp(mode, "stdin") == 0) {
        char line[256] = "";
        while (fgets(line, sizeof line, stdin) != NULL) {
            printf("rank %d read %s", rank, line);
        }
        printf("rank %d end of input\n", rank);
    } else if (strcmp(mode, "environment") == 0) {
        const char* names[] = {"STOPLINE_TOKEN", "STOPLINE_CONNECT", "LD_PRELOAD",
                               "LINES",          "COLUMNS",          "OMPI_COMMAND"};
        for (unsigned i = 0; i < sizeof names / sizeof names[0]; ++i) {
            const char* value = getenv(names[i]);
            printf("%s=%s\n", names[i], value != NULL ? value : "(unset)");
        }
    } else if (strcmp(mode, "daemon") == 0) {
        startDaemon(rank, (unsigned)atoi(argv[2]));
    } else if (strcmp(mode, "spin") == 0) {
        if (argc > 2) {
            startDaemon(rank, (unsigned)atoi(argv[2]));
        }
        say(rank, "ready");
        int flag = 0;
        MPI_Status status;
        while (!flag) {
            MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &status);
            usleep(1000);
        }
    } else if (strcmp(mode, "block") == 0) {
        say(rank, "ready");
        MPI_Recv(&rank, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(mode, "flood") == 0) {
        static char line[1000];
        memset(line, 'x', sizeof line - 1);
        for (int i = 0; i < 20000; ++i) {
            puts(line);
        }
    } else if (strcmp(mode, "exit") == 0) {
        say(rank, "leaving");
        MPI_Finalize();
        return rank == atoi(argv[2]) ? atoi(argv[3]) : 0;
    } else if (strcmp(mode, "segv") == 0) {
        say(rank, "leaving");
        if (rank == 1) {
            raise(SIGSEGV);
        }
        pause();
    } else if (strcmp(mode, "abort") == 0) {
        say(rank, "leaving");
        if (rank == 1) {
            MPI_Abort(MPI_COMM_WORLD, 7);
        }
        pause();
    }
    MPI_Finalize();
    return 0;
}
