/* Ways to end. argv[1]: exit, _exit, return, quick_exit, abort, error, wait, fork, none, errno. */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
    const char* how = argc > 1 ? argv[1] : "none";
    int x = 0, rank, i;
    if (strcmp(how, "nompi") == 0) {
        return 5;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(how, "exit") == 0) {
        exit(3);
    } else if (strcmp(how, "_exit") == 0) {
        _exit(4);
    } else if (strcmp(how, "quick_exit") == 0) {
        quick_exit(6);
    } else if (strcmp(how, "return") == 0) {
        return 7;
    } else if (strcmp(how, "abort") == 0) {
        MPI_Abort(MPI_COMM_WORLD, 8);
    } else if (strcmp(how, "error") == 0) {
        MPI_Send(&x, 1, MPI_INT, 4711, 0, MPI_COMM_WORLD);
    } else if (strcmp(how, "returned") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        x = MPI_Send(&x, 1, MPI_INT, 4711, 0, MPI_COMM_WORLD);
        MPI_Error_class(x, &x);
        if (x != MPI_ERR_RANK) {
            return 9;
        }
    } else if (strcmp(how, "fork") == 0) {
        pid_t child = fork();
        if (child == 0) {
            MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD); /* no event of the rank */
            exit(0);
        }
        waitpid(child, 0, 0);
    } else if (strcmp(how, "errno") == 0) {
        for (i = 0; i < 100000; ++i) {
            errno = 4321;
            MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD);
            if (errno != 4321) {
                printf("errno became %d in call %d\n", errno, i);
                return 10;
            }
        }
    }
    MPI_Finalize();
    return 0;
}
