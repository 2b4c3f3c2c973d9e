/* Many messages at once: every member posts all its receives, then sends, then completes all, some, or none of them. */
#include "plan.h"

#include <stdlib.h>

enum { MOST_MESSAGES = 12 };

static void post_receive(const struct comm *comm, const struct message *m)
{
    struct open_request open = {.comm = comm->handle, .bytes = (size_t)m->bytes};
    open.buffer = malloc(open.bytes + 1);
    open.expected = contents_of(m->id, open.bytes);
    MPI_Irecv(open.buffer, m->bytes, MPI_BYTE, peer_rank(comm, m->to, m->from), m->tag, comm->handle, &open.request);
    keep_open(open);
}

static void post_send(const struct comm *comm, const struct message *m, int mode)
{
    struct open_request open = {.comm = comm->handle, .buffer = contents_of(m->id, (size_t)m->bytes)};
    int to = peer_rank(comm, m->from, m->to);
    if (mode == 0) {
        MPI_Issend(open.buffer, m->bytes, MPI_BYTE, to, m->tag, comm->handle, &open.request);
    } else if (mode == 1 && m->bytes % 8 == 0) {
        MPI_Isend(open.buffer, m->bytes / 8, MPI_DOUBLE, to, m->tag, comm->handle, &open.request);
    } else {
        MPI_Isend(open.buffer, m->bytes, MPI_BYTE, to, m->tag, comm->handle, &open.request);
    }
    keep_open(open);
}

void step_exchange(const struct comm *comm)
{
    struct message messages[MOST_MESSAGES];
    int modes[MOST_MESSAGES];
    int count = 1 + (int)draw(MOST_MESSAGES), drawn = 0, after = (int)draw(3);
    for (int i = 0; i < count; i++) {
        struct message m = {.tag = 40 + (int)draw(3), .bytes = draw_bytes(), .id = next_id()};
        int mode = (int)draw(4);
        if (draw_pair(comm, &m.from, &m.to)) {
            messages[drawn] = m;
            modes[drawn++] = mode;
        }
    }
    for (int i = 0; i < drawn; i++) {
        if (messages[i].to == world_rank) {
            post_receive(comm, &messages[i]);
        }
    }
    for (int i = 0; i < drawn; i++) {
        if (messages[i].from == world_rank) {
            post_send(comm, &messages[i], modes[i]);
        }
    }
    compute();
    if (after == 0) {
        complete_on(comm->handle);
    } else if (after == 1) {
        complete_some();
    }
}
