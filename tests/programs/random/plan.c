#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int world_rank, world_size;
struct comm comms[MAX_COMMS];
int comm_count;

static uint64_t plan_state, own_state, last_id, sum;

static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

static uint64_t next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    return mix(*state);
}

void seed_plan(uint64_t seed)
{
    plan_state = mix(seed + 1);
    own_state = mix(plan_state + 77 + (uint64_t)world_rank);
}

uint64_t draw(uint64_t below)
{
    return next(&plan_state) % below;
}

uint64_t draw_own(uint64_t below)
{
    return next(&own_state) % below;
}

/* On both sides of 4 KiB, where usual transports change their protocol, and exactly there. */
int draw_bytes(void)
{
    static const int sizes[] = {0, 1, 8, 64, 256, 257, 1000, 3900, 4032, 4095, 4096, 4097, 5000, 16384, 40000, 70000};
    uint64_t pick = draw(sizeof sizes / sizeof sizes[0] + 8);
    return pick < sizeof sizes / sizeof sizes[0] ? sizes[pick] : (int)draw(9000);
}

uint64_t next_id(void)
{
    return ++last_id;
}

int rank_in(const int *members, int count, int world)
{
    for (int i = 0; i < count; i++) {
        if (members[i] == world) {
            return i;
        }
    }
    return -1;
}

unsigned char *contents_of(uint64_t id, size_t bytes)
{
    unsigned char *buffer = malloc(bytes + 1);
    uint64_t state = mix(id);
    for (size_t i = 0; i < bytes; i += sizeof state) {
        uint64_t word = next(&state);
        size_t left = bytes - i;
        memcpy(buffer + i, &word, left < sizeof word ? left : sizeof word);
    }
    return buffer;
}

void account(const unsigned char *bytes, size_t count)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ bytes[i]) * 1099511628211u;
    }
    sum += mix(hash);
}

uint64_t checksum(void)
{
    return sum;
}

void fail(const char *what)
{
    fprintf(stderr, "rank %d: %s\n", world_rank, what);
    MPI_Abort(MPI_COMM_WORLD, 9);
    abort();
}

void compute(void)
{
    volatile double value = 1.0;
    for (uint64_t turns = draw_own(20000); turns > 0; turns--) {
        value = value * 1.0000001;
    }
}

int draw_pair(const struct comm *comm, int *from, int *to)
{
    uint64_t first = draw(1000), second = draw(1000);
    if (comm->remote_size > 0) {
        *from = comm->members[first % (uint64_t)comm->size];
        *to = comm->remote[second % (uint64_t)comm->remote_size];
        if ((first + second) % 2 == 1) {
            int swap = *from;
            *from = *to;
            *to = swap;
        }
        return 1;
    }
    if (comm->size < 2) {
        return 0;
    }
    uint64_t size = (uint64_t)comm->size;
    *from = comm->members[first % size];
    *to = comm->members[(first % size + 1 + second % (size - 1)) % size];
    return 1;
}

int peer_rank(const struct comm *comm, int from_world, int to_world)
{
    if (comm->remote_size == 0 || rank_in(comm->members, comm->size, from_world) < 0) {
        return rank_in(comm->members, comm->size, to_world);
    }
    return rank_in(comm->remote, comm->remote_size, to_world);
}
