/* Replaces its program by exec: `reexec before` by itself before MPI_Init (as programs do that have to set their
 * environment first), `reexec after` by echo after MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void again(char **argv)
{
    setenv("REEXEC_DONE", "1", 1);
    execv("/proc/self/exe", argv);
    perror("execv");
    exit(3);
}

int main(int argc, char **argv)
{
    const char *when = argc > 1 ? argv[1] : "before";
    if (strcmp(when, "before") == 0 && getenv("REEXEC_DONE") == NULL) {
        again(argv);
    }
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        token = 40;
        MPI_Send(&token, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("token %d\n", token);
        fflush(stdout);
    } else {
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        token++;
        MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    if (strcmp(when, "after") == 0) {
        execl("/bin/echo", "echo", "gone on", (char *)NULL);
        perror("execl");
        return 3;
    }
    return 0;
}
