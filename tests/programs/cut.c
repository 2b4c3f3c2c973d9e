/* Rank 0 posts a receive of any source that has room for one number. Rank 1 sends three at once, which are cut, so that the call
 * which completes the receive fails; rank 2 sends one number late. Where the receive is to get that one, nothing fails.
 *
 * Three ranks. Argument: wait (MPI_Waitall of that receive alone), both, or test (MPI_Waitall or MPI_Testall of two), or late: for
 * the other one rank 0 has to send something, which it does when it has asked often enough. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 5, LAST = 6, GO = 7, LATE_US = 300000, POLLS = 300, POLL_US = 1000 };

static void receive(const char *how)
{
    const int count = strcmp(how, "wait") == 0 ? 1 : 2;
    const int late = strcmp(how, "late") == 0;
    int polls = 0, first = 0, last = 0, numbers[3], flag = 0, code = MPI_SUCCESS, got = 0;
    MPI_Request requests[2];
    MPI_Status statuses[2], status;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&last, 1, MPI_INT, 2, LAST, MPI_COMM_WORLD, &requests[1]);
    if (late || strcmp(how, "test") == 0) {
        while (!flag && code == MPI_SUCCESS && (!late || polls++ < POLLS)) {
            code = MPI_Testall(count, requests, &flag, statuses);
            usleep(POLL_US);
        }
    }
    if (late) {
        MPI_Send(NULL, 0, MPI_INT, 2, GO, MPI_COMM_WORLD);
    }
    if (!flag && code == MPI_SUCCESS) {
        code = MPI_Waitall(count, requests, statuses);
    }
    if (code != MPI_SUCCESS) {
        printf("first: cut, from %d\n", statuses[0].MPI_SOURCE);
        requests[0] = MPI_REQUEST_NULL; /* Open MPI leaves one that failed */
    } else {
        MPI_Get_count(&statuses[0], MPI_INT, &got);
        printf("first: %d of %d from %d\n", first, got, statuses[0].MPI_SOURCE);
    }
    MPI_Recv(numbers, 3, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &got);
    printf("second: %d from %d\n", got, status.MPI_SOURCE);
    if (requests[1] != MPI_REQUEST_NULL) {
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    printf("last: %d\n", last);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        receive(argc > 1 ? argv[1] : "wait");
    } else if (rank == 1) {
        const int numbers[3] = {10, 11, 12};
        MPI_Send(numbers, 3, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    } else {
        const int number = 20, last = 21;
        usleep(LATE_US);
        MPI_Send(&number, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
        if (argc > 1 && strcmp(argv[1], "late") == 0) {
            MPI_Recv(NULL, 0, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        usleep(LATE_US);
        MPI_Send(&last, 1, MPI_INT, 0, LAST, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
