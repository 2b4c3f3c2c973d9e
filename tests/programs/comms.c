/* Communicators made in every way (dup, idup, dup_with_info, split with and without members, split_type, create,
 * create_group, cartesian, graph, intercommunicator, merge), each used for a message and a collective, then freed.
 * Needs at least 4 ranks. */
#include <mpi.h>
#include <stdio.h>

static int rank, size;
static long checksum;

/* A message to the next rank of `comm` and a sum over it. */
static void use(MPI_Comm comm, int tag)
{
    int local, members, in = 0;
    long own, total = 0;
    MPI_Comm_rank(comm, &local);
    MPI_Comm_size(comm, &members);
    MPI_Sendrecv(&rank, 1, MPI_INT, (local + 1) % members, tag, &in, 1, MPI_INT, (local + members - 1) % members, tag, comm,
                 MPI_STATUS_IGNORE);
    own = in + tag;
    MPI_Allreduce(&own, &total, 1, MPI_LONG, MPI_SUM, comm);
    checksum += total;
}

static void use_and_free(MPI_Comm *comm, int tag)
{
    if (*comm != MPI_COMM_NULL) {
        use(*comm, tag);
        MPI_Comm_free(comm);
    }
}

static void groups(void)
{
    MPI_Comm comm;
    MPI_Group world, some;
    int lower[] = {0, 1, 2};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 3, lower, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &comm);
    use_and_free(&comm, 5);
    if (rank < 3) {
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 77, &comm);
        use_and_free(&comm, 6);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&world);
}

static void topologies(void)
{
    MPI_Comm grid, row, graph;
    int dims[2] = {2, size / 2}, periods[2] = {0, 1}, keep[2] = {0, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    if (grid != MPI_COMM_NULL) {
        int source, target, in = -1;
        MPI_Cart_shift(grid, 0, 1, &source, &target); /* MPI_PROC_NULL at the edges */
        MPI_Sendrecv(&rank, 1, MPI_INT, target, 1, &in, 1, MPI_INT, source, 1, grid, MPI_STATUS_IGNORE);
        checksum += in;
        MPI_Cart_sub(grid, keep, &row);
        use_and_free(&row, 7);
        use_and_free(&grid, 8);
    }
    int index[] = {1, 2}, edges[] = {1, 0};
    MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &graph);
    use_and_free(&graph, 9);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int weight = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &weight, 1, &right, &weight, MPI_INFO_NULL, 0, &graph);
    use_and_free(&graph, 10);
    int degree = 1;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &right, &weight, MPI_INFO_NULL, 0, &graph);
    use_and_free(&graph, 11);
}

/* Ranks below the middle on one side, the rest on the other; the local leaders are the first of each side. */
static void between_groups(void)
{
    MPI_Comm side, both, merged;
    int middle = size / 2, high = rank >= middle;
    MPI_Comm_split(MPI_COMM_WORLD, high, rank, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, high ? 0 : middle, 88, &both);
    int local, remote, in = 0;
    long own = rank, total = 0;
    MPI_Comm_rank(both, &local);
    MPI_Comm_remote_size(both, &remote);
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, local % remote, 2, both, &request);
    if (local < remote) {
        MPI_Send(&rank, 1, MPI_INT, local, 2, both);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Cancel(&request); /* one side is larger: nobody sends to its last rank */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    checksum += in;
    MPI_Allreduce(&own, &total, 1, MPI_LONG, MPI_SUM, both); /* the sum of the other side */
    checksum += total;
    int root = high ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, value = rank == 0 ? 500 : 0;
    MPI_Bcast(&value, 1, MPI_INT, root, both);
    checksum += high ? value : 0;
    MPI_Barrier(both);
    MPI_Intercomm_merge(both, high, &merged);
    use_and_free(&merged, 12);
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&side);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 4) {
        fprintf(stderr, "comms: at least 4 ranks are needed\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm comm;
    MPI_Request request;
    use(MPI_COMM_WORLD, 0);
    use(MPI_COMM_SELF, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "copy");
    use_and_free(&comm, 2);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use_and_free(&comm, 2);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
    use_and_free(&comm, 2);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm); /* in reverse order */
    use_and_free(&comm, 3);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, rank, &comm);
    use_and_free(&comm, 4);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm);
    use_and_free(&comm, 4);
    groups();
    topologies();
    between_groups();
    long total = 0;
    MPI_Reduce(&checksum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("checksum = %ld\n", total);
    }
    MPI_Finalize();
    return 0;
}
