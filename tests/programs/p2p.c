/* Every kind of point-to-point call once, between neighbours in pairs (0-1, 2-3, …), then self messages, MPI_PROC_NULL,
 * MPI_ANY_TAG, a cancelled receive, a freed send request, and every way to complete requests. Needs an even number of ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BIG = 20000 };

static int rank, size, peer;
static long checksum;

static void send_modes(void)
{
    char small[16] = "0123456789abcde";
    double *big = calloc(BIG, sizeof *big);
    big[BIG - 1] = rank;
    void *buffer = malloc(1 << 20);
    MPI_Buffer_attach(buffer, 1 << 20);
    if (rank % 2 == 0) {
        MPI_Send(small, 16, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
        MPI_Send(big, BIG, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD);
        MPI_Bsend(small, 16, MPI_CHAR, peer, 3, MPI_COMM_WORLD);
        MPI_Ssend(small, 16, MPI_CHAR, peer, 4, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* the receive is posted */
        MPI_Rsend(small, 16, MPI_CHAR, peer, 6, MPI_COMM_WORLD);
    } else {
        MPI_Request request;
        MPI_Recv(small, 16, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(big, BIG, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        checksum += (long)big[BIG - 1];
        MPI_Recv(small, 16, MPI_CHAR, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(small, 16, MPI_CHAR, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(small, 16, MPI_CHAR, peer, 6, MPI_COMM_WORLD, &request);
        MPI_Send(NULL, 0, MPI_INT, peer, 5, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        checksum += small[3];
    }
    MPI_Buffer_detach(&buffer, &(int){0});
    free(buffer);
    free(big);
}

static void nonblocking_modes(void)
{
    int in[4] = {0}, out[4] = {rank, rank + 1, rank + 2, rank + 3};
    MPI_Request requests[8];
    void *buffer = malloc(1 << 16);
    MPI_Buffer_attach(buffer, 1 << 16);
    for (int i = 0; i < 4; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, peer, 10 + i, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Sendrecv(NULL, 0, MPI_INT, peer, 9, NULL, 0, MPI_INT, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(&out[0], 1, MPI_INT, peer, 10, MPI_COMM_WORLD, &requests[4]);
    MPI_Issend(&out[1], 1, MPI_INT, peer, 11, MPI_COMM_WORLD, &requests[5]);
    MPI_Ibsend(&out[2], 1, MPI_INT, peer, 12, MPI_COMM_WORLD, &requests[6]);
    MPI_Irsend(&out[3], 1, MPI_INT, peer, 13, MPI_COMM_WORLD, &requests[7]);
    MPI_Wait(&requests[3], MPI_STATUS_IGNORE); /* out of the order of posting */
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Waitall(4, requests + 4, MPI_STATUSES_IGNORE);
    MPI_Buffer_detach(&buffer, &(int){0});
    free(buffer);
    for (int i = 0; i < 4; i++) {
        checksum += in[i];
    }
}

/* One message each way, completed in the way of that number. */
static void complete_by(int way)
{
    int in = -1, out = rank + way, done = 0, index, count, indices[2];
    MPI_Status status, statuses[2];
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, peer, 20 + way, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, peer, 20 + way, MPI_COMM_WORLD, &requests[1]);
    switch (way) {
    case 0:
        for (int i = 0; i < 2; i++) {
            MPI_Waitany(2, requests, &index, &status);
        }
        break;
    case 1:
        for (int left = 2; left > 0; left -= count) {
            MPI_Waitsome(2, requests, &count, indices, statuses);
        }
        break;
    case 2:
        for (int i = 0; i < 2; i++) {
            for (done = 0; !done;) {
                MPI_Test(&requests[i], &done, &status);
            }
        }
        break;
    case 3:
        while (!done) {
            MPI_Testall(2, requests, &done, statuses);
        }
        break;
    case 4:
        for (int i = 0; i < 2; i++) {
            for (done = 0; !done;) {
                MPI_Testany(2, requests, &index, &done, &status);
            }
        }
        break;
    case 5:
        for (int left = 2; left > 0; left -= count) {
            for (count = 0; count == 0;) {
                MPI_Testsome(2, requests, &count, indices, statuses);
            }
        }
        break;
    default:
        while (!done) {
            MPI_Request_get_status(requests[0], &done, &status);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    checksum += in;
}

static void odd_ones(void)
{
    int in = 0, out = rank * 3, flag = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Sendrecv(&out, 1, MPI_INT, peer, 30, &in, 1, MPI_INT, peer, 30, MPI_COMM_WORLD, &status);
    checksum += in;
    MPI_Sendrecv_replace(&in, 1, MPI_INT, peer, 31, peer, 31, MPI_COMM_WORLD, &status);
    checksum += in;
    MPI_Irecv(&in, 1, MPI_INT, rank, 32, MPI_COMM_WORLD, &request); /* to itself */
    MPI_Send(&out, 1, MPI_INT, rank, 32, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    checksum += in;
    MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 33, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 33, MPI_COMM_WORLD, &status);
    MPI_Irecv(&in, 1, MPI_INT, peer, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Send(&out, 1, MPI_INT, peer, 34, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    checksum += status.MPI_TAG;
    MPI_Irecv(&in, 1, MPI_INT, peer, 35, MPI_COMM_WORLD, &request); /* nobody sends this */
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    checksum += flag;
    MPI_Isend(&out, 1, MPI_INT, peer, 36, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(&in, 1, MPI_INT, peer, 36, MPI_COMM_WORLD, &status);
    checksum += in;
    MPI_Barrier(MPI_COMM_WORLD); /* `out` has been delivered before it goes out of scope */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size % 2 != 0) {
        fprintf(stderr, "p2p: an even number of ranks is needed\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    peer = rank ^ 1;
    send_modes();
    nonblocking_modes();
    for (int way = 0; way < 7; way++) {
        complete_by(way);
    }
    odd_ones();
    long total = 0;
    MPI_Reduce(&checksum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("checksum = %ld\n", total);
    }
    MPI_Finalize();
    return 0;
}
