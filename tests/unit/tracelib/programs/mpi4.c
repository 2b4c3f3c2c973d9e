/* What MPI 4.0 adds: large counts, both ways in one request, persistent collectives, messages in parts, communicators
   without a parent. Two ranks. */
#include <mpi.h>
#include <stdlib.h>

#define W MPI_COMM_WORLD

static void check(int good) {
    if (!good) {
        MPI_Abort(W, 3);
    }
}

int main(int argc, char** argv) {
    int rank, other, a[8] = {0}, b[8] = {0}, flag = 0, i;
    MPI_Count counts[2] = {1, 2};
    MPI_Aint displs[2] = {0, 1};
    MPI_Request r[2];
    MPI_Status s;
    MPI_Comm dup;
    MPI_Group group;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    other = 1 - rank;
    a[0] = rank + 1;
    if (rank == 0) {
        MPI_Send_c(a, 2, MPI_INT, 1, 7, W);
    } else {
        MPI_Recv_c(b, 8, MPI_INT, MPI_ANY_SOURCE, 7, W, &s);
        check(b[0] == 1);
    }
    MPI_Allgatherv_c(a, counts[rank], MPI_INT, b, counts, displs, MPI_INT, W);
    check(b[0] == 1 && b[1] == 2);
    MPI_Isendrecv(a, 1, MPI_INT, other, 5, b, 4, MPI_INT, other, 5, W, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    check(b[0] == other + 1);
    MPI_Isendrecv_replace(b, 1, MPI_INT, other, 6, other, MPI_ANY_TAG, W, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    check(b[0] == rank + 1);
    MPI_Bcast_init(a, 3, MPI_INT, 0, W, MPI_INFO_NULL, &r[0]);
    MPI_Barrier_init(W, MPI_INFO_NULL, &r[1]);
    for (i = 0; i < 2; ++i) {
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    check(a[0] == 1);
    if (rank == 0) {
        MPI_Psend_init(a, 2, 3, MPI_INT, 1, 9, W, MPI_INFO_NULL, &r[0]);
        MPI_Start(&r[0]);
        MPI_Pready(1, r[0]);
        MPI_Pready_range(0, 0, r[0]);
    } else {
        MPI_Precv_init(b, 2, 3, MPI_INT, 0, 9, W, MPI_INFO_NULL, &r[0]);
        MPI_Start(&r[0]);
        while (!flag) {
            MPI_Parrived(r[0], 1, &flag);
        }
    }
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&r[0]);
    MPI_Comm_idup_with_info(W, MPI_INFO_NULL, &dup, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Barrier(dup);
    MPI_Comm_free(&dup);
    MPI_Comm_group(W, &group);
    MPI_Comm_create_from_group(group, "both", MPI_INFO_NULL, MPI_ERRORS_RETURN, &dup);
    MPI_Group_free(&group);
    MPI_Barrier(dup);
    MPI_Comm_free(&dup);
    MPI_Finalize();
    return 0;
}
