/* Windows and what is done through them. Two ranks. */
#include <mpi.h>

#define W MPI_COMM_WORLD

int main(int argc, char** argv) {
    int rank, other, flag, x[4] = {1, 2, 3, 4}, y[4], *shared;
    MPI_Win win, second, dynamic;
    MPI_Group world, group;
    MPI_Request r[2];
    MPI_Aint place;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    other = 1 - rank;
    MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &win);

    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(&rank, 1, MPI_INT, other, 0, 1, MPI_INT, win);
    MPI_Get(y, 2, MPI_INT, other, 1, 2, MPI_INT, win);
    MPI_Accumulate(&rank, 1, MPI_INT, other, 3, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win);
    MPI_Fetch_and_op(&rank, y, MPI_INT, other, 0, MPI_SUM, win);
    MPI_Compare_and_swap(&rank, &other, y, MPI_INT, other, 1, win);
    MPI_Get_accumulate(&rank, 1, MPI_INT, y, 1, MPI_INT, other, 2, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(other, win);
    MPI_Win_unlock(other, win);
    MPI_Win_lock_all(0, win);
    MPI_Rput(&rank, 1, MPI_INT, other, 0, 1, MPI_INT, win, &r[0]);
    MPI_Rget(y, 1, MPI_INT, other, 1, 1, MPI_INT, win, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Put(&rank, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);

    /* Between groups of the ranks themselves: rank 0 puts, rank 1 is the target. */
    MPI_Comm_group(W, &world);
    MPI_Group_incl(world, 1, &other, &group);
    if (rank == 0) {
        MPI_Win_start(group, 0, win);
        MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
    } else {
        MPI_Win_post(group, 0, win);
        do {
            MPI_Win_test(win, &flag);
        } while (!flag);
    }

    /* A second window on the same communicator is another one; a collective between keeps their orders apart. */
    MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, W, &shared, &second);
    MPI_Win_fence(0, second);
    MPI_Barrier(W);
    MPI_Win_free(&second);
    MPI_Win_create_dynamic(MPI_INFO_NULL, W, &dynamic);
    MPI_Win_attach(dynamic, y, sizeof y);
    MPI_Get_address(y, &place);
    MPI_Win_detach(dynamic, y);
    MPI_Win_free(&dynamic);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
