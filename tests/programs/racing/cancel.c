/* Receives that are cancelled when a message may or may not have come, and receives that are freed at once. */
#include "racing.h"

#include <string.h>

int draw_counts(const struct comm *comm, int most, int *to_send)
{
    int sends[MAX_RANKS], incoming = 0;
    for (int i = 0; i < comm->count; i++) {
        sends[i] = draw_phase(2) == 0;
        to_send[i] = 0;
    }
    for (int from = 0; from < comm->count; from++) {
        for (int to = 0; to < comm->count; to++) {
            int count = (int)draw_phase((uint64_t)most + 1);
            if (can_talk(comm, from, to) && sends[from] && !sends[to]) {
                incoming += to == comm->me ? count : 0;
                to_send[to] += from == comm->me ? count : 0;
            }
        }
    }
    return incoming;
}

/* Returns how many messages have come before everything was cancelled. */
static int receive_and_cancel(const struct comm *comm, int incoming, int tag)
{
    struct window window;
    struct completion done;
    struct received got;
    int cancelled[WINDOW] = {0}, taken = 0;
    clear_window(&window);
    add_receives(&window, comm, 1 + (int)draw_own(WINDOW / 2), MPI_ANY_SOURCE, tag);
    while (active_in(&window, RECEIVE) > 0) {
        int slot = active_slot(&window, RECEIVE);
        uint64_t what = draw_own(4);
        jitter();
        if (what == 0 && taken < incoming) {
            complete_some(&window, 1, &done); /* one at least is still to come */
        } else if (what == 1) {
            for (int i = 0; i < WINDOW; i++) {
                if (window.active[i] && !cancelled[i] && draw_own(2) == 0) {
                    MPI_Cancel(&window.requests[i]);
                    cancelled[i] = 1;
                }
            }
            continue;
        } else {
            if (!cancelled[slot]) {
                MPI_Cancel(&window.requests[slot]);
            }
            complete_slot(&window, slot, &done);
        }
        for (int i = 0; i < done.count; i++) {
            taken += take_receive(&window, comm, done.indices[i], &done.statuses[i], &got);
            cancelled[done.indices[i]] = 0;
        }
    }
    close_window(&window);
    return taken;
}

void phase_cancel(const struct comm *comm, int tag)
{
    int to_send[MAX_RANKS], any_tag = draw_phase(2) == 0;
    int incoming = draw_counts(comm, 3, to_send), want = any_tag ? MPI_ANY_TAG : tag;
    for (int to = 0; to < comm->count; to++) {
        for (; to_send[to] > 0; to_send[to]--) {
            send_message(comm, to, tag, 0, checksum(), draw_bytes(), 1);
        }
    }
    if (incoming > 0) {
        int taken = receive_and_cancel(comm, incoming, want);
        receive_many(comm, incoming - taken, MPI_ANY_SOURCE, want);
    }
    if (any_tag) {
        synchronise(comm);
    }
}

/* Buffers of receives whose requests are freed while they are on. */
enum { FREED_BYTES = sizeof(struct header) + 64, MOST_FREED = 3 };

static void post_and_free(unsigned char *buffer, const struct comm *comm, int tag)
{
    MPI_Request request;
    jitter();
    if (draw_own(3) == 0) {
        MPI_Recv_init(buffer, FREED_BYTES, MPI_BYTE, MPI_ANY_SOURCE, tag, comm->handle, &request);
        MPI_Start(&request);
    } else {
        MPI_Irecv(buffer, FREED_BYTES, MPI_BYTE, MPI_ANY_SOURCE, tag, comm->handle, &request);
    }
    MPI_Request_free(&request);
}

/* What a freed receive has got is there when all sends are known to have been received: they are synchronous, and short. */
void phase_freed(const struct comm *comm, int tag)
{
    static unsigned char freed[MOST_FREED][FREED_BYTES];
    int to_send[MAX_RANKS], incoming = draw_counts(comm, 2, to_send);
    int to_free = incoming < MOST_FREED ? incoming : MOST_FREED, before = 0;
    if (to_free > 0) {
        to_free = 1 + (int)draw_own((uint64_t)to_free);
        before = (int)draw_own((uint64_t)(incoming - to_free) + 1);
    }
    for (int to = 0; to < comm->count; to++) {
        for (; to_send[to] > 0; to_send[to]--) {
            send_synchronous(comm, to, tag, 0, checksum(), FREED_BYTES - (int)draw_own(64));
        }
    }
    receive_many(comm, before, MPI_ANY_SOURCE, tag);
    for (int i = 0; i < to_free; i++) {
        post_and_free(freed[i], comm, tag);
    }
    receive_many(comm, incoming - before - to_free, MPI_ANY_SOURCE, tag);
    synchronise(comm);
    for (int i = 0; i < to_free; i++) {
        struct header header;
        memcpy(&header, freed[i], sizeof header);
        check_message(freed[i], header.bytes);
    }
}
