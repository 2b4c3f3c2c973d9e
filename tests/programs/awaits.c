/* Rank 0 takes a message from whoever sends one. In the first run rank 2 does; in later ones (counted in a file) rank 2
 * stays where it is until a debugger sets `go`, then does something else, and rank 1 is told to send instead.
 *
 * Usage: awaits FILE, with 4 ranks */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static volatile int go;

static int count_starts(const char *name)
{
    int starts = 0;
    FILE *file = fopen(name, "r");
    if (file != NULL) {
        if (fscanf(file, "%d", &starts) != 1) {
            starts = 0;
        }
        fclose(file);
    }
    starts++;
    file = fopen(name, "w");
    fprintf(file, "%d\n", starts);
    fclose(file);
    return starts;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, value = 0, other = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(&other, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        printf("got %d from rank %d, then %d\n", value, status.MPI_SOURCE, other);
    } else if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 2, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (value != 0) {
            MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        }
    } else if (rank == 2) {
        int again = count_starts(argv[1]) > 1;
        if (again) {
            while (!go) {
                usleep(1000);
            }
            MPI_Barrier(MPI_COMM_SELF);
            while (go < 2) {
                usleep(1000);
            }
        } else {
            value = 50;
            MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        }
        value = again ? 51 : 0;
        MPI_Send(&value, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
        value = 70;
        MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
