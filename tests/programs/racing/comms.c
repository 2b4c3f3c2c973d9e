#include "racing.h"

static struct comm *new_comm(int count, int first_side)
{
    struct comm *comm = &comms[comm_count++];
    comm->handle = MPI_COMM_NULL;
    comm->count = count;
    comm->first_side = first_side;
    comm->me = -1;
    return comm;
}

static void find_me(struct comm *comm)
{
    for (int i = 0; i < comm->count; i++) {
        if (comm->members[i] == world_rank) {
            comm->me = i;
        }
    }
}

static struct comm *new_world(int reversed)
{
    struct comm *comm = new_comm(world_size, 0);
    for (int i = 0; i < world_size; i++) {
        comm->members[i] = reversed ? world_size - 1 - i : i;
    }
    find_me(comm);
    return comm;
}

/* Two communicators of every second rank each, and from three ranks on what is between them. */
static void make_halves(void)
{
    struct comm *halves[2];
    for (int parity = 0; parity < 2; parity++) {
        halves[parity] = new_comm((world_size + 1 - parity) / 2, 0);
        for (int i = 0; i < halves[parity]->count; i++) {
            halves[parity]->members[i] = 2 * i + parity;
        }
        find_me(halves[parity]);
    }
    struct comm *mine = halves[world_rank % 2];
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &mine->handle);

    struct comm *between = new_comm(world_size, halves[0]->count);
    for (int i = 0; i < world_size; i++) {
        int second = i >= between->first_side;
        between->members[i] = second ? halves[1]->members[i - between->first_side] : halves[0]->members[i];
    }
    find_me(between);
    MPI_Intercomm_create(mine->handle, 0, MPI_COMM_WORLD, 1 - world_rank % 2, 77, &between->handle);
}

void make_comms(void)
{
    comm_count = 0;
    new_world(0)->handle = MPI_COMM_WORLD;
    if (draw(2) == 0) {
        struct comm *copy = new_world(0);
        MPI_Comm_dup(MPI_COMM_WORLD, &copy->handle);
    }
    if (draw(2) == 0) {
        struct comm *reversed = new_world(1);
        MPI_Comm_split(MPI_COMM_WORLD, 0, world_size - world_rank, &reversed->handle);
    }
    if (world_size > 1 && draw(3) > 0) {
        make_halves();
    }
}

void free_comms(void)
{
    while (comm_count > 1) {
        struct comm *comm = &comms[--comm_count];
        if (comm->handle != MPI_COMM_NULL) {
            MPI_Comm_free(&comm->handle);
        }
    }
}

int can_talk(const struct comm *comm, int from, int to)
{
    if (comm->first_side == 0) {
        return from != to;
    }
    return (from < comm->first_side) != (to < comm->first_side);
}

int name_of(const struct comm *comm, int participant)
{
    return participant >= comm->first_side ? participant - comm->first_side : participant;
}

int participant_of(const struct comm *comm, int source)
{
    int first = comm->first_side;
    if (source < 0) {
        fail("a message came from nobody");
    }
    return first > 0 && comm->me < first ? source + first : source;
}
