/* Rank 0 posts two receives of any source, and gives the first one up when the second one has rank 1's message. Rank 2 sends late,
 * so both come in order: the first one gets rank 1's. Where it is to get rank 2's, the other one has its message long before.
 *
 * Three ranks. Argument: wait, test, persistent, freed, or freed_persistent. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 5, LATE_US = 300000 };

static void receive(const char *how)
{
    const int freed = strncmp(how, "freed", 5) == 0;
    const int persistent = strstr(how, "persistent") != NULL;
    int first = 0, second = 0, flag = 0;
    MPI_Request start, requests[2];
    MPI_Status status;
    MPI_Recv_init(&first, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &start); /* in any case: the events are the same then */
    if (persistent) {
        MPI_Start(&start);
        requests[0] = start;
    } else {
        MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[0]);
    }
    MPI_Irecv(&second, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[1]);
    if (freed) {
        MPI_Request_free(&requests[0]);
    }
    if (strcmp(how, "test") == 0) {
        while (!flag) {
            MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
        }
        flag = 0;
    } else {
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    if (!freed) {
        if (second == 10) {
            MPI_Cancel(&requests[0]);
        }
        MPI_Wait(&requests[0], &status);
        MPI_Test_cancelled(&status, &flag);
    }
    printf("first %d, second %d, %s\n", first, second, flag ? "cancelled" : "not cancelled");
    if (!freed || !persistent) {
        MPI_Request_free(&start);
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        receive(argc > 1 ? argv[1] : "wait");
    } else {
        const int value = 10 * rank;
        if (rank == 2) {
            usleep(LATE_US);
        }
        MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
