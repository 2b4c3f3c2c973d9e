/* Phases in which everybody knows how many messages are for him, and not in which order they come. */
#include "racing.h"

#include <stdlib.h>

enum { ANY_TAGS = 1, BY_TAG = 2, BY_SOURCE = 3, SELECTIONS = 4, TAGS_USED = 3 };

struct traffic {
    const struct comm *comm;
    int tag, selection, may_block;
    int counts[MAX_RANKS][MAX_RANKS]; /* from, to */
};

/* Which tag the n-th message from one to another has. */
static int tag_of(const struct traffic *traffic, int number)
{
    switch (traffic->selection) {
    case ANY_TAGS:
    case BY_SOURCE:
        return traffic->tag + (int)draw_own(TAGS_USED);
    case BY_TAG:
        return traffic->tag + number % TAGS_USED;
    default:
        return traffic->tag;
    }
}

static void send_all(const struct traffic *traffic)
{
    int left[MAX_RANKS], number[MAX_RANKS] = {0}, total = 0;
    for (int to = 0; to < traffic->comm->count; to++) {
        left[to] = traffic->counts[traffic->comm->me][to];
        total += left[to];
    }
    for (; total > 0; total--) {
        int which = (int)draw_own((uint64_t)total), to = 0;
        while (which >= left[to]) {
            which -= left[to++];
        }
        left[to]--;
        send_message(traffic->comm, to, tag_of(traffic, number[to]), 0, checksum(), draw_bytes(), traffic->may_block);
        number[to]++;
        if (draw_own(8) == 0) {
            poll_sends();
        }
    }
}

static void receive_by_tag(const struct traffic *traffic)
{
    int first = (int)draw_own(TAGS_USED);
    for (int i = 0; i < TAGS_USED; i++) {
        int which = (first + i) % TAGS_USED, count = 0;
        for (int from = 0; from < traffic->comm->count; from++) {
            count += (traffic->counts[from][traffic->comm->me] + TAGS_USED - 1 - which) / TAGS_USED;
        }
        receive_many(traffic->comm, count, MPI_ANY_SOURCE, traffic->tag + which);
    }
}

static void receive_by_source(const struct traffic *traffic)
{
    int first = (int)draw_own((uint64_t)traffic->comm->count);
    for (int i = 0; i < traffic->comm->count; i++) {
        int from = (first + i) % traffic->comm->count;
        receive_many(traffic->comm, traffic->counts[from][traffic->comm->me], name_of(traffic->comm, from),
                     MPI_ANY_TAG);
    }
}

/* Everybody sends some messages to everybody, or some send and the others receive. */
void phase_traffic(const struct comm *comm, int tag)
{
    struct traffic traffic = {.comm = comm, .tag = tag};
    int sends[MAX_RANKS], incoming = 0;
    traffic.may_block = draw_phase(2) == 0;
    /* Who wants a certain message first must not keep others from sending it. */
    traffic.selection = (int)draw_phase(traffic.may_block ? 2 : SELECTIONS);
    for (int i = 0; i < comm->count; i++) {
        sends[i] = draw_phase(2) == 0;
    }
    for (int from = 0; from < comm->count; from++) {
        for (int to = 0; to < comm->count; to++) {
            int count = (int)draw_phase(5);
            int talk = can_talk(comm, from, to) && (!traffic.may_block || (sends[from] && !sends[to]));
            traffic.counts[from][to] = talk ? count : 0;
        }
        incoming += traffic.counts[from][comm->me];
    }
    send_all(&traffic);
    switch (traffic.selection) {
    case BY_TAG:
        receive_by_tag(&traffic);
        break;
    case BY_SOURCE:
        receive_by_source(&traffic);
        break;
    case ANY_TAGS:
        receive_many(comm, incoming, MPI_ANY_SOURCE, MPI_ANY_TAG);
        break;
    default:
        receive_many(comm, incoming, MPI_ANY_SOURCE, tag);
    }
    if (traffic.selection == ANY_TAGS || traffic.selection == BY_SOURCE) {
        synchronise(comm);
    }
}

/* A few rounds in which everybody sends one message and receives one from whoever was first. As many come in as go out. The
 * messages are short: MPI takes a send of them also when the other one has not yet come to its receive. */
void phase_sendrecv(const struct comm *comm, int tag)
{
    enum { SHORT = sizeof(struct header) + 200 };
    static unsigned char out[SHORT], in[SHORT];
    int rounds = 1 + (int)draw_phase(6), any_tag = draw_phase(2) == 0, second = comm->count - comm->first_side;
    MPI_Status status;
    if (comm->count < 2 || (comm->first_side > 0 && comm->first_side != second)) {
        return;
    }
    for (int round = 0; round < rounds; round++) {
        int distance = 1 + (int)draw_phase((uint64_t)comm->count - 1);
        /* A replacing one sends as much as it can receive. */
        int replace = draw_own(2) == 0, bytes = replace ? SHORT : SHORT - (int)draw_own(200);
        int to = comm->first_side == 0 ? (comm->me + distance) % comm->count
                                       : (name_of(comm, comm->me) + distance) % second;
        int want = any_tag ? MPI_ANY_TAG : tag;
        fill_message(out, 0, checksum(), bytes);
        jitter();
        if (!replace) {
            MPI_Sendrecv(out, bytes, MPI_BYTE, to, tag, in, SHORT, MPI_BYTE, MPI_ANY_SOURCE, want, comm->handle,
                         &status);
            note_received(comm, in, &status);
        } else {
            MPI_Sendrecv_replace(out, SHORT, MPI_BYTE, to, tag, MPI_ANY_SOURCE, want, comm->handle, &status);
            note_received(comm, out, &status);
        }
    }
    if (any_tag) {
        synchronise(comm);
    }
}
