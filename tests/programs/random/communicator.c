/* Making and freeing communicators. Every rank works out the members of each, also of those it is not in. */
#include "plan.h"

#include <string.h>

/* The members of `parent` whose bit is set in `pattern` (by rank, modulo 16), as a group; their number in *count. */
static MPI_Group pick(const struct comm *parent, uint64_t pattern, int *members, int *count)
{
    int ranks[MAX_RANKS];
    MPI_Group all, some;
    *count = 0;
    for (int i = 0; i < parent->size; i++) {
        if ((pattern >> (i % 16)) & 1) {
            members[*count] = parent->members[i];
            ranks[(*count)++] = i;
        }
    }
    if (parent->handle == MPI_COMM_NULL) {
        return MPI_GROUP_NULL;
    }
    MPI_Comm_group(parent->handle, &all);
    MPI_Group_incl(all, *count, ranks, &some);
    MPI_Group_free(&all);
    return some;
}

static void copy(const struct comm *parent, struct comm *made, int way)
{
    MPI_Request request;
    made->size = parent->size;
    memcpy(made->members, parent->members, sizeof made->members);
    if (parent->handle == MPI_COMM_NULL) {
        return;
    }
    if (way == 0) {
        MPI_Comm_dup(parent->handle, &made->handle);
    } else if (way == 1) {
        MPI_Comm_idup(parent->handle, &made->handle, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        int periodic = 1, size = parent->size;
        MPI_Cart_create(parent->handle, 1, &size, &periodic, 0, &made->handle);
    }
}

/* Ranks with a set bit go into one communicator, in reverse order; the others into another, which is freed at once. */
static void split(const struct comm *parent, struct comm *made, uint64_t pattern, int others_too)
{
    for (int i = parent->size - 1; i >= 0; i--) {
        if ((pattern >> (i % 16)) & 1) {
            made->members[made->size++] = parent->members[i];
        }
    }
    if (parent->handle == MPI_COMM_NULL) {
        return;
    }
    int local = rank_in(parent->members, parent->size, world_rank);
    int chosen = rank_in(made->members, made->size, world_rank) >= 0;
    MPI_Comm result;
    MPI_Comm_split(parent->handle, chosen ? 1 : others_too ? 2 : MPI_UNDEFINED, -local, &result);
    if (chosen) {
        made->handle = result;
    } else if (result != MPI_COMM_NULL) {
        MPI_Barrier(result);
        MPI_Comm_free(&result);
    }
}

static void create(const struct comm *parent, struct comm *made, uint64_t pattern, int by_group)
{
    MPI_Group group = pick(parent, pattern, made->members, &made->size);
    if (parent->handle == MPI_COMM_NULL) {
        return;
    }
    if (!by_group) {
        MPI_Comm_create(parent->handle, group, &made->handle);
    } else if (rank_in(made->members, made->size, world_rank) >= 0) {
        MPI_Comm_create_group(parent->handle, group, 60, &made->handle);
    }
    MPI_Group_free(&group);
}

/* Two halves of the world face each other; merged again if asked for. */
static void face(struct comm *made, int merge)
{
    int middle = world_size / 2, high = world_rank >= middle;
    MPI_Comm side, between;
    MPI_Comm_split(MPI_COMM_WORLD, high, world_rank, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, high ? 0 : middle, 61, &between);
    MPI_Comm_free(&side);
    if (merge) {
        MPI_Intercomm_merge(between, !high, &made->handle); /* the upper half comes first */
        MPI_Comm_free(&between);
        for (int i = 0; i < world_size; i++) {
            made->members[made->size++] = (middle + i) % world_size;
        }
        return;
    }
    made->handle = between;
    for (int i = 0; i < world_size; i++) {
        if (i < middle) {
            made->members[made->size++] = i;
        } else {
            made->remote[made->remote_size++] = i;
        }
    }
}

void step_make_comm(void)
{
    uint64_t way = draw(8), parent_number = draw(MAX_COMMS), pattern = draw(1 << 16);
    int variant = (int)draw(2);
    if (comm_count == MAX_COMMS) {
        return;
    }
    const struct comm *parent = &comms[parent_number % (uint64_t)comm_count];
    if (parent->remote_size > 0) {
        parent = &comms[0];
    }
    pattern |= 1u; /* never empty */
    struct comm made = {.handle = MPI_COMM_NULL};
    if (way < 3) {
        copy(parent, &made, (int)way);
    } else if (way < 5) {
        split(parent, &made, pattern, variant);
    } else if (way < 7) {
        create(parent, &made, pattern, variant);
    } else if (world_size > 1) {
        face(&made, variant);
    }
    if (made.size > 0) {
        comms[comm_count++] = made;
    }
}

void step_free_comm(void)
{
    uint64_t number = draw(MAX_COMMS);
    if (comm_count < 2) {
        return;
    }
    struct comm *comm = &comms[1 + number % (uint64_t)(comm_count - 1)];
    if (comm->handle != MPI_COMM_NULL) {
        complete_on(comm->handle);
        MPI_Comm_free(&comm->handle);
    }
    *comm = comms[--comm_count];
}
