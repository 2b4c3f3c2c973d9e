/* One rank leaves without MPI_Finalize while the others wait for it in a barrier.
 *
 * Usage: exitnofinalize [exit|return|_exit|zero]. Rank 1 calls exit(3) (the default), returns 3 from main, calls
 * _exit(3), or calls exit(0). */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void give_up(int code)
{
    exit(code);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, value = 42;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *how = argc > 1 ? argv[1] : "exit";
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == (size > 1 ? 1 : 0)) { usleep(300 * 1000); /* by now the others wait */
        if (strcmp(how, "return") == 0) {
            return 3;
        }
        if (strcmp(how, "_exit") == 0) {
            _exit(3);
        }
        give_up(strcmp(how, "zero") == 0 ? 0 : 3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
