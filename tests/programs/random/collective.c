/* One collective of any kind, blocking or not, whose result is known beforehand. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

enum kind {
    BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, REDUCE,
    ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, KINDS
};

/* What rank `rank` of the communicator puts at `index`; small, so that sums do not overflow. */
static int value(uint64_t id, int rank, int index)
{
    return (int)((id * 7 + (uint64_t)rank * 131 + (uint64_t)index * 17) % 10007);
}

static int sum_before(uint64_t id, int end, int index)
{
    int sum = 0;
    for (int rank = 0; rank < end; rank++) {
        sum += value(id, rank, index);
    }
    return sum;
}

struct collective {
    enum kind kind;
    int later; /* non-blocking */
    MPI_Comm comm;
    int rank, size, root, count; /* `count` ints for each pair of ranks */
    uint64_t id;
    int *out, *in;
    int *counts, *places, *byte_places; /* one array of 3 * size ints */
    MPI_Datatype *types;
    MPI_Request request;
};

#define EITHER(now, by_and_by, ...) (c->later ? by_and_by(__VA_ARGS__, &c->request) : now(__VA_ARGS__))

static void call_moving(struct collective *c)
{
    int n = c->count;
    switch (c->kind) {
    case BARRIER:
        (void)(c->later ? MPI_Ibarrier(c->comm, &c->request) : MPI_Barrier(c->comm));
        break;
    case BCAST:
        EITHER(MPI_Bcast, MPI_Ibcast, c->in, n, MPI_INT, c->root, c->comm);
        break;
    case GATHER:
        EITHER(MPI_Gather, MPI_Igather, c->out, n, MPI_INT, c->in, n, MPI_INT, c->root, c->comm);
        break;
    case GATHERV:
        EITHER(MPI_Gatherv, MPI_Igatherv, c->out, n, MPI_INT, c->in, c->counts, c->places, MPI_INT, c->root, c->comm);
        break;
    case SCATTER:
        EITHER(MPI_Scatter, MPI_Iscatter, c->out, n, MPI_INT, c->in, n, MPI_INT, c->root, c->comm);
        break;
    case SCATTERV:
        EITHER(MPI_Scatterv, MPI_Iscatterv, c->out, c->counts, c->places, MPI_INT, c->in, n, MPI_INT, c->root, c->comm);
        break;
    case ALLGATHER:
        EITHER(MPI_Allgather, MPI_Iallgather, c->out, n, MPI_INT, c->in, n, MPI_INT, c->comm);
        break;
    case ALLGATHERV:
        EITHER(MPI_Allgatherv, MPI_Iallgatherv, c->out, n, MPI_INT, c->in, c->counts, c->places, MPI_INT, c->comm);
        break;
    case ALLTOALL:
        EITHER(MPI_Alltoall, MPI_Ialltoall, c->out, n, MPI_INT, c->in, n, MPI_INT, c->comm);
        break;
    case ALLTOALLV:
        EITHER(MPI_Alltoallv, MPI_Ialltoallv, c->out, c->counts, c->places, MPI_INT, c->in, c->counts, c->places, MPI_INT,
               c->comm);
        break;
    default:
        EITHER(MPI_Alltoallw, MPI_Ialltoallw, c->out, c->counts, c->byte_places, c->types, c->in, c->counts,
               c->byte_places, c->types, c->comm);
    }
}

static void call_reducing(struct collective *c)
{
    int n = c->count;
    switch (c->kind) {
    case REDUCE:
        EITHER(MPI_Reduce, MPI_Ireduce, c->out, c->in, n, MPI_INT, MPI_SUM, c->root, c->comm);
        break;
    case ALLREDUCE:
        EITHER(MPI_Allreduce, MPI_Iallreduce, c->out, c->in, n, MPI_INT, MPI_SUM, c->comm);
        break;
    case REDUCE_SCATTER:
        EITHER(MPI_Reduce_scatter, MPI_Ireduce_scatter, c->out, c->in, c->counts, MPI_INT, MPI_SUM, c->comm);
        break;
    case REDUCE_SCATTER_BLOCK:
        EITHER(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, c->out, c->in, n, MPI_INT, MPI_SUM, c->comm);
        break;
    case SCAN:
        EITHER(MPI_Scan, MPI_Iscan, c->out, c->in, n, MPI_INT, MPI_SUM, c->comm);
        break;
    default:
        EITHER(MPI_Exscan, MPI_Iexscan, c->out, c->in, n, MPI_INT, MPI_SUM, c->comm);
    }
}

/* What must be in `in` afterwards; returns how many ints that is. `out` holds value(id, rank, i) at i. */
static int expect(const struct collective *c, int *want)
{
    int n = c->count, all = n * c->size, is_root = c->rank == c->root;
    for (int i = 0; i < all; i++) {
        int block = n > 0 ? i / n : 0, place = n > 0 ? i % n : 0;
        switch (c->kind) {
        case BARRIER:
            return 0;
        case BCAST:
            want[i] = value(c->id, c->root, i);
            break;
        case SCATTER:
        case SCATTERV:
            want[i] = value(c->id, c->root, c->rank * n + i);
            break;
        case ALLTOALL:
        case ALLTOALLV:
        case ALLTOALLW:
            want[i] = value(c->id, block, c->rank * n + place);
            break;
        case REDUCE:
        case ALLREDUCE:
            want[i] = sum_before(c->id, c->size, i);
            break;
        case REDUCE_SCATTER:
        case REDUCE_SCATTER_BLOCK:
            want[i] = sum_before(c->id, c->size, c->rank * n + i);
            break;
        case SCAN:
            want[i] = sum_before(c->id, c->rank + 1, i);
            break;
        case EXSCAN:
            want[i] = sum_before(c->id, c->rank, i);
            break;
        default: /* the gathering ones */
            want[i] = value(c->id, block, place);
        }
    }
    switch (c->kind) {
    case GATHER:
    case GATHERV:
        return is_root ? all : 0;
    case ALLGATHER:
    case ALLGATHERV:
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
        return all;
    case REDUCE:
        return is_root ? n : 0;
    case EXSCAN:
        return c->rank > 0 ? n : 0;
    default:
        return n;
    }
}

/* On an intercommunicator: a barrier, a broadcast from the first side's rank 0, or a sum of the other side's values. */
static void across(const struct comm *comm, enum kind kind, uint64_t id)
{
    int local = rank_in(comm->members, comm->size, world_rank), found = -1;
    int first_side = local >= 0;
    if (kind % 3 == 0) {
        MPI_Barrier(comm->handle);
    } else if (kind % 3 == 1) {
        int root = !first_side ? 0 : local == 0 ? MPI_ROOT : MPI_PROC_NULL;
        found = first_side ? value(id, 0, 0) : -1;
        MPI_Bcast(&found, 1, MPI_INT, root, comm->handle);
        if (found != value(id, 0, 0)) {
            fail("a broadcast across went wrong");
        }
    } else {
        const int *others = first_side ? comm->remote : comm->members;
        int count = first_side ? comm->remote_size : comm->size, want = 0, own = value(id, world_rank, 0);
        for (int i = 0; i < count; i++) {
            want += value(id, others[i], 0);
        }
        MPI_Allreduce(&own, &found, 1, MPI_INT, MPI_SUM, comm->handle);
        if (found != want) {
            fail("a sum across went wrong");
        }
    }
}

void step_collective(const struct comm *comm)
{
    static const int sizes[] = {1, 2, 10, 250, 1100, 3000};
    struct collective c = {.kind = (enum kind)draw(KINDS), .later = draw(2) == 0, .comm = comm->handle,
                           .size = comm->size, .count = sizes[draw(6)], .id = next_id()};
    c.root = (int)draw((uint64_t)comm->size);
    if (comm->handle == MPI_COMM_NULL) {
        return;
    }
    if (comm->remote_size > 0) {
        across(comm, c.kind, c.id);
        return;
    }
    c.rank = rank_in(comm->members, comm->size, world_rank);
    size_t all = (size_t)c.count * (size_t)c.size;
    /* `out`, then what MPI reads until a non-blocking one is complete: all of it lives in one block. */
    size_t types_at = (all * sizeof(int) + 15) / 16 * 16;
    size_t tables_at = types_at + (size_t)c.size * sizeof(MPI_Datatype);
    unsigned char *block = malloc(tables_at + 3 * (size_t)c.size * sizeof(int));
    c.out = (int *)(void *)block;
    c.types = (MPI_Datatype *)(void *)(block + types_at);
    c.counts = (int *)(void *)(block + tables_at);
    c.places = c.counts + c.size;
    c.byte_places = c.places + c.size;
    for (int i = 0; i < c.size; i++) {
        c.counts[i] = c.count;
        c.places[i] = i * c.count;
        c.byte_places[i] = i * c.count * (int)sizeof(int);
        c.types[i] = MPI_INT;
    }
    c.in = calloc(all + 1, sizeof *c.in);
    for (size_t i = 0; i < all; i++) {
        c.out[i] = value(c.id, c.rank, (int)i);
    }
    if (c.kind == BCAST && c.rank == c.root) {
        memcpy(c.in, c.out, (size_t)c.count * sizeof(int));
    }
    int *want = malloc((all + 1) * sizeof *want);
    size_t bytes = (size_t)expect(&c, want) * sizeof(int);
    if (c.kind >= REDUCE) {
        call_reducing(&c);
    } else {
        call_moving(&c);
    }
    if (c.later) {
        keep_open((struct open_request){.request = c.request, .comm = c.comm, .buffer = (unsigned char *)c.in,
                                        .expected = (unsigned char *)want, .bytes = bytes, .more = block});
        return;
    }
    if (memcmp(c.in, want, bytes) != 0) {
        fail("a collective gave a wrong result");
    }
    account((unsigned char *)c.in, bytes);
    free(c.in);
    free(want);
    free(block);
}
