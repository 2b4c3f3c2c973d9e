/* Every collective, blocking and not, once. Four ranks. */
#include <mpi.h>

#define N 4
#define W MPI_COMM_WORLD
#define INT MPI_INT

int main(int argc, char** argv) {
    int rank, a[16] = {0}, b[16], counts[N] = {1, 2, 0, 3}, ones[N] = {1, 1, 1, 1}, displs[N] = {0, 1, 3, 3};
    int bytes[N] = {0, 4, 8, 12}, i;
    MPI_Datatype types[N] = {INT, INT, INT, INT};
    MPI_Request r[17];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    MPI_Barrier(W);
    MPI_Bcast(a, 5, INT, 1, W);
    MPI_Gather(rank == 2 ? MPI_IN_PLACE : a, 2, INT, b, 2, INT, 2, W);
    MPI_Gatherv(a, counts[rank], INT, b, counts, displs, INT, 0, W);
    MPI_Scatter(a, 1, INT, rank == 0 ? MPI_IN_PLACE : b, 1, INT, 0, W);
    MPI_Scatterv(a, counts, displs, INT, b, counts[rank], INT, 3, W);
    MPI_Allgather(a, 1, INT, b, 1, INT, W);
    MPI_Allgatherv(MPI_IN_PLACE, 0, INT, b, counts, displs, INT, W);
    MPI_Alltoall(a, 2, INT, b, 2, INT, W);
    MPI_Alltoallv(a, ones, displs, INT, b, ones, displs, INT, W);
    MPI_Alltoallw(a, ones, bytes, types, b, ones, bytes, types, W);
    MPI_Reduce(a, b, 3, MPI_DOUBLE, MPI_SUM, 1, W);
    MPI_Allreduce(MPI_IN_PLACE, a, 2, INT, MPI_MAX, W);
    MPI_Reduce_scatter(a, b, counts, INT, MPI_SUM, W);
    MPI_Reduce_scatter_block(a, b, 2, INT, MPI_SUM, W);
    MPI_Scan(a, b, 1, INT, MPI_SUM, W);
    MPI_Exscan(a, b, 1, INT, MPI_SUM, W);

    i = 0;
    MPI_Ibarrier(W, &r[i++]);
    MPI_Ibcast(a, 5, INT, 1, W, &r[i++]);
    MPI_Waitall(i, r, MPI_STATUSES_IGNORE);
    i = 0;
    MPI_Igather(a, 1, INT, b, 1, INT, 0, W, &r[i++]);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Igatherv(a, counts[rank], INT, b, counts, displs, INT, 0, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Iscatter(a, 1, INT, b, 1, INT, 0, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Iscatterv(a, counts, displs, INT, b, counts[rank], INT, 0, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Iallgather(a, 1, INT, b, 1, INT, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Iallgatherv(a, counts[rank], INT, b, counts, displs, INT, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Ialltoall(a, 1, INT, b, 1, INT, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Ialltoallv(a, ones, displs, INT, b, ones, displs, INT, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Ialltoallw(a, ones, bytes, types, b, ones, bytes, types, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Ireduce(a, b, 1, INT, MPI_SUM, 0, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Iallreduce(a, b, 1, INT, MPI_SUM, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Ireduce_scatter(a, b, counts, INT, MPI_SUM, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Ireduce_scatter_block(a, b, 1, INT, MPI_SUM, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Iscan(a, b, 1, INT, MPI_SUM, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Iexscan(a, b, 1, INT, MPI_SUM, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
