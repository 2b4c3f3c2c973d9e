/* Every collective once, blocking and then non-blocking, on int arrays; each result is compared with the known answer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };

static int rank, size, failures;
static int in[MOST], out[MOST], counts[MOST], places[MOST], byte_places[MOST];
static MPI_Datatype types[MOST];
static MPI_Request request;

static void prepare(void)
{
    for (int i = 0; i < MOST; i++) {
        out[i] = 100 * rank + i;
        in[i] = -1;
    }
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = i;
        byte_places[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
}

static void check(const char *name, int found, int expected)
{
    if (found != expected) {
        printf("rank %d: %s gave %d instead of %d\n", rank, name, found, expected);
        failures++;
    }
}

static void wait_if(int pending)
{
    if (pending) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Sum over the ranks before `end` of what each has in out[index]. */
static int sum(int end, int index)
{
    return 100 * (end * (end - 1) / 2) + end * index;
}

#define EITHER(now, by_and_by, ...) (later ? by_and_by(__VA_ARGS__, &request) : now(__VA_ARGS__))

static void moving(int later)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    prepare();
    (void)(later ? MPI_Ibarrier(world, &request) : MPI_Barrier(world));
    wait_if(later);
    EITHER(MPI_Bcast, MPI_Ibcast, out, 4, MPI_INT, size - 1, world);
    wait_if(later);
    check("Bcast", out[3], 100 * (size - 1) + 3);
    prepare();
    EITHER(MPI_Gather, MPI_Igather, out, 1, MPI_INT, in, 1, MPI_INT, 0, world);
    wait_if(later);
    check("Gather", in[size - 1], rank == 0 ? 100 * (size - 1) : -1);
    prepare();
    EITHER(MPI_Gatherv, MPI_Igatherv, out, 1, MPI_INT, in, counts, places, MPI_INT, 0, world);
    wait_if(later);
    check("Gatherv", in[size - 1], rank == 0 ? 100 * (size - 1) : -1);
    EITHER(MPI_Scatter, MPI_Iscatter, out, 1, MPI_INT, in, 1, MPI_INT, 0, world);
    wait_if(later);
    check("Scatter", in[0], rank);
    EITHER(MPI_Scatterv, MPI_Iscatterv, out, counts, places, MPI_INT, in, 1, MPI_INT, size - 1, world);
    wait_if(later);
    check("Scatterv", in[0], 100 * (size - 1) + rank);
    EITHER(MPI_Allgather, MPI_Iallgather, out, 1, MPI_INT, in, 1, MPI_INT, world);
    wait_if(later);
    check("Allgather", in[size - 1], 100 * (size - 1));
    prepare();
    EITHER(MPI_Allgatherv, MPI_Iallgatherv, out, 1, MPI_INT, in, counts, places, MPI_INT, world);
    wait_if(later);
    check("Allgatherv", in[size - 1], 100 * (size - 1));
    EITHER(MPI_Alltoall, MPI_Ialltoall, out, 1, MPI_INT, in, 1, MPI_INT, world);
    wait_if(later);
    check("Alltoall", in[size - 1], 100 * (size - 1) + rank);
    prepare();
    EITHER(MPI_Alltoallv, MPI_Ialltoallv, out, counts, places, MPI_INT, in, counts, places, MPI_INT, world);
    wait_if(later);
    check("Alltoallv", in[0], rank);
    prepare();
    EITHER(MPI_Alltoallw, MPI_Ialltoallw, out, counts, byte_places, types, in, counts, byte_places, types,
           world);
    wait_if(later);
    check("Alltoallw", in[0], rank);
}

static void reducing(int later)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    prepare();
    EITHER(MPI_Reduce, MPI_Ireduce, out, in, 2, MPI_INT, MPI_SUM, 0, world);
    wait_if(later);
    check("Reduce", in[1], rank == 0 ? sum(size, 1) : -1);
    EITHER(MPI_Allreduce, MPI_Iallreduce, out, in, 2, MPI_INT, MPI_SUM, world);
    wait_if(later);
    check("Allreduce", in[1], sum(size, 1));
    EITHER(MPI_Reduce_scatter, MPI_Ireduce_scatter, out, in, counts, MPI_INT, MPI_SUM, world);
    wait_if(later);
    check("Reduce_scatter", in[0], sum(size, rank));
    EITHER(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, out, in, 1, MPI_INT, MPI_SUM, world);
    wait_if(later);
    check("Reduce_scatter_block", in[0], sum(size, rank));
    EITHER(MPI_Scan, MPI_Iscan, out, in, 1, MPI_INT, MPI_SUM, world);
    wait_if(later);
    check("Scan", in[0], sum(rank + 1, 0));
    prepare();
    EITHER(MPI_Exscan, MPI_Iexscan, out, in, 1, MPI_INT, MPI_SUM, world);
    wait_if(later);
    check("Exscan", in[0], rank > 0 ? sum(rank, 0) : -1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MOST) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int later = 0; later < 2; later++) {
        moving(later);
        reducing(later);
    }
    int total = 0;
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d wrong results\n", total);
    }
    MPI_Finalize();
    return total != 0;
}
