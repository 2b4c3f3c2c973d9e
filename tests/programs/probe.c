/* Messages whose length the receiver finds out by each of Probe, Iprobe, Mprobe and Improbe; the senders come late, so that the
 * polling ones fail many times. The last part probes for any source, one message at a time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long sum_of(const int *values, int count)
{
    long sum = 0;
    for (int i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum;
}

static long receive(int way, int source, int tag)
{
    int flag = 0, count, values[64];
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    switch (way) {
    case 0:
        MPI_Probe(source, tag, MPI_COMM_WORLD, &status);
        break;
    case 1:
        while (!flag) {
            MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &status);
        }
        break;
    case 2:
        MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, &status);
        break;
    default:
        while (!flag) {
            MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, &message, &status);
        }
    }
    MPI_Get_count(&status, MPI_INT, &count);
    if (way < 2) {
        MPI_Recv(values, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (way == 2) {
        MPI_Mrecv(values, count, MPI_INT, &message, MPI_STATUS_IGNORE);
    } else {
        MPI_Imrecv(values, count, MPI_INT, &message, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return sum_of(values, count);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int values[64];
    long own = 0, total = 0;
    for (int i = 0; i < 64; i++) {
        values[i] = rank + i;
    }
    for (int way = 0; way < 4; way++) {
        if (rank % 2 == 0 && rank + 1 < size) {
            usleep(20000);
            MPI_Send(values, 8 + way, MPI_INT, rank + 1, way, MPI_COMM_WORLD);
        } else if (rank % 2 == 1) {
            own += receive(way, rank - 1, way);
        }
    }
    for (int turn = 1; turn < size; turn++) {
        MPI_Barrier(MPI_COMM_WORLD); /* one message at a time: who comes is certain */
        if (rank == turn) {
            MPI_Send(values, turn, MPI_INT, 0, 50, MPI_COMM_WORLD);
        } else if (rank == 0) {
            own += receive(turn % 4, MPI_ANY_SOURCE, MPI_ANY_TAG);
        }
    }
    MPI_Reduce(&own, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("total = %ld\n", total);
    }
    MPI_Finalize();
    return 0;
}
