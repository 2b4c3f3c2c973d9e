#include "racing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t plan_state, phase_state, own_state, sum, last_id;

uint64_t mix(uint64_t value)
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
    sum = 0;
    last_id = (uint64_t)world_rank << 32;
}

void seed_phase(uint64_t seed)
{
    phase_state = seed;
}

uint64_t draw(uint64_t below)
{
    return next(&plan_state) % below;
}

uint64_t draw_phase(uint64_t below)
{
    return next(&phase_state) % below;
}

uint64_t draw_own(uint64_t below)
{
    return next(&own_state) % below;
}

void note(uint64_t value)
{
    sum = mix(sum * 31 + value);
    own_state ^= sum;
}

uint64_t checksum(void)
{
    return sum;
}

/* Mostly short; also on both sides of 4 KiB, where usual transports change their protocol. */
int draw_bytes(void)
{
    static const int sizes[] = {0, 0, 8, 8, 100, 257, 1000, 4000, 4096, 5000, 8900};
    return (int)sizeof(struct header) + sizes[draw_own(sizeof sizes / sizeof sizes[0])];
}

static void fill_body(unsigned char *body, size_t bytes, uint64_t id)
{
    uint64_t state = mix(id);
    for (size_t i = 0; i < bytes; i += sizeof state) {
        uint64_t word = next(&state);
        size_t left = bytes - i;
        memcpy(body + i, &word, left < sizeof word ? left : sizeof word);
    }
}

void fill_message(unsigned char *buffer, int kind, uint64_t value, int bytes)
{
    struct header header = {.id = ++last_id, .value = value, .kind = kind, .bytes = bytes};
    memcpy(buffer, &header, sizeof header);
    fill_body(buffer + sizeof header, (size_t)bytes - sizeof header, header.id);
}

struct header check_message(const unsigned char *buffer, int bytes)
{
    static unsigned char expected[MAX_BYTES];
    struct header header;
    memcpy(&header, buffer, sizeof header);
    if (bytes < (int)sizeof header || header.bytes != bytes) {
        fail("a message has another length than it was sent with");
    }
    fill_body(expected, (size_t)bytes - sizeof header, header.id);
    if (memcmp(expected, buffer + sizeof header, (size_t)bytes - sizeof header) != 0) {
        fail("a message has other contents than it was sent with");
    }
    note(header.id);
    note(header.value);
    note((uint64_t)header.kind);
    return header;
}

int sender_of(const struct header *header)
{
    return (int)(header->id >> 32);
}

void fail(const char *what)
{
    fprintf(stderr, "rank %d: %s\n", world_rank, what);
    MPI_Abort(MPI_COMM_WORLD, 9);
    abort();
}
