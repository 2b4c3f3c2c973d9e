/* One-sided communication in all its epochs, a split collective on a file and a collective of neighbours: each rank puts
 * its number into its right neighbour's window between fences, even ranks put and get between start and complete, all ranks
 * count up under a lock of rank 0's window. An even number of ranks; argument: a file to write. */
#include <mpi.h>
#include <stdio.h>

static int rank, size, right, left;

static int between_fences(MPI_Win win)
{
    int value = rank + 10, got = -1;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Get(&got, 1, MPI_INT, left, 0, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    return got;
}

static int between_groups(MPI_Win win)
{
    int partner = rank % 2 == 0 ? rank + 1 : rank - 1, value = 100 * rank, got[2] = {0, 0};
    MPI_Group world, group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &partner, &group);
    if (rank % 2 == 0) {
        MPI_Win_start(group, 0, win);
        MPI_Put(&value, 1, MPI_INT, partner, 1, 1, MPI_INT, win);
        MPI_Get(got, 2, MPI_INT, partner, 2, 2, MPI_INT, win);
        MPI_Win_complete(win);
    } else {
        MPI_Win_post(group, 0, win);
        MPI_Win_wait(win);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return got[0] + got[1];
}

static int under_locks(MPI_Win win)
{
    int one = 1, before = 0, request_value = 5;
    MPI_Request request;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 4, MPI_SUM, win);
    MPI_Win_flush(0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    MPI_Win_lock_all(0, win);
    MPI_Rput(&request_value, 1, MPI_INT, rank, 6, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    return before;
}

static void on_file(const char *name)
{
    int data[2] = {rank, -rank};
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at_all_begin(file, 8 * rank, data, 2, MPI_INT);
    MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static int with_neighbors(void)
{
    int dims[1] = {size}, periods[1] = {1}, in[2] = {0, 0};
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, ring);
    MPI_Comm_free(&ring);
    return in[0] * in[1];
}

int main(int argc, char **argv)
{
    int i, *memory, sums[2], totals[2], count = 0;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (i = 0; i < 8; ++i) {
        memory[i] = i < 4 ? i : 0;
    }
    sums[0] = between_fences(win);
    sums[0] += between_groups(win);
    sums[1] = under_locks(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1) {
        on_file(argv[1]);
    }
    sums[0] += with_neighbors();
    MPI_Reduce(sums, totals, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        count = memory[4] + memory[5];
        MPI_Win_unlock(0, win);
        printf("sum = %d, tickets = %d, count = %d\n", totals[0], totals[1], count);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
