/* Which of its requests rank 0 gets back at a call is MPI's choice in general; here the others answer only when they are asked,
 * so that there is one that it can be. No message races.
 *
 * Three ranks. */
#include <mpi.h>
#include <stdio.h>

enum { ASK = 1, ANSWER = 2 };

static void ask(int rank)
{
    MPI_Send(NULL, 0, MPI_INT, rank, ASK, MPI_COMM_WORLD);
}

static void answer(int value)
{
    MPI_Recv(NULL, 0, MPI_INT, 0, ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD);
}

static void choose(void)
{
    int values[3];
    int which, flag = 0, count, indices[3];
    MPI_Request requests[3];
    MPI_Irecv(&values[0], 1, MPI_INT, 1, ANSWER, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_INT, 2, ANSWER, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&values[2], 1, MPI_INT, 1, ANSWER, MPI_COMM_WORLD, &requests[2]);
    ask(2);
    MPI_Waitany(3, requests, &which, MPI_STATUS_IGNORE);
    printf("first %d\n", which);
    ask(1);
    while (!flag) {
        MPI_Testany(3, requests, &which, &flag, MPI_STATUS_IGNORE);
    }
    printf("second %d\n", which);
    ask(1);
    MPI_Waitsome(3, requests, &count, indices, MPI_STATUSES_IGNORE);
    printf("third %d\n", indices[0]);
    MPI_Waitany(3, requests, &which, MPI_STATUS_IGNORE);
    printf("none %d\n", which == MPI_UNDEFINED);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        choose();
    } else {
        answer(rank);
        if (rank == 1) {
            answer(rank);
        }
    }
    MPI_Finalize();
    return 0;
}
