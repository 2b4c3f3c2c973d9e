/* Phases in which nobody knows beforehand how many messages will be for him: what is sent depends on what came. */
#include "racing.h"

#include <stdlib.h>

enum kind { REQUEST, QUESTION, REPLY, DONE, TOKEN, DEAD, STOP };

/* Receives whatever comes until `take` says that it was the last. */
static void receive_until(const struct comm *comm, int tag,
                          int (*take)(const struct comm *, int, const struct received *), int base)
{
    struct window window;
    struct completion done;
    struct received got;
    int last = 0;
    if (draw_own(2) == 0) {
        while (!last) {
            got = receive_one(comm, MPI_ANY_SOURCE, tag, poll_sends);
            last = take(comm, base, &got);
        }
        return;
    }
    clear_window(&window);
    while (!last) {
        int wanted = 1 + (int)draw_own(WINDOW / 2);
        if (active_in(&window, RECEIVE) == 0 || draw_own(2) == 0) {
            add_receives(&window, comm, wanted, MPI_ANY_SOURCE, tag);
        }
        if (draw_own(4) == 0) {
            poll_sends();
        }
        complete_some(&window, 1, &done);
        for (int i = 0; i < done.count; i++) {
            take_receive(&window, comm, done.indices[i], &done.statuses[i], &got);
            last |= take(comm, base, &got);
        }
    }
    cancel_receives(&window, comm);
    close_window(&window);
}

/* Asks a server and takes the first answer that comes: maybe to an earlier question. */
static struct received ask_and_wait(const struct comm *comm, int server, int tag, uint64_t value)
{
    static unsigned char out[MAX_BYTES], in[MAX_BYTES];
    MPI_Status status;
    int bytes = draw_bytes();
    fill_message(out, QUESTION, value, bytes);
    jitter();
    MPI_Sendrecv(out, bytes, MPI_BYTE, name_of(comm, server), tag, in, MAX_BYTES, MPI_BYTE, MPI_ANY_SOURCE, tag + 1,
                 comm->handle, &status);
    return note_received(comm, in, &status);
}

/* Servers answer whoever comes, clients go to the server that the last answer sends them to. */
static int clients_left;

static int serve(const struct comm *comm, int tag, const struct received *got)
{
    static unsigned char buffer[MAX_BYTES];
    if (got->header.kind == DONE) {
        return --clients_left == 0;
    }
    uint64_t value = mix(checksum());
    int bytes = draw_bytes();
    if (got->header.kind == REQUEST && draw_own(3) == 0) { /* its client has posted a receive */
        fill_message(buffer, REPLY, value, bytes);
        jitter();
        MPI_Rsend(buffer, bytes, MPI_BYTE, name_of(comm, got->from), tag + 1, comm->handle);
    } else {
        send_message(comm, got->from, tag + 1, REPLY, value, bytes, 1);
    }
    return 0;
}

static void be_client(const struct comm *comm, int tag, const int *servers, int server_count)
{
    struct window window;
    struct completion done;
    struct received got;
    int left = (int)draw_own(6), server = servers[draw_own((uint64_t)server_count)];
    clear_window(&window);
    while (left > 0 || active_in(&window, RECEIVE) > 0) {
        for (int more = (int)draw_own(3) + (active_in(&window, RECEIVE) == 0); left > 0 && more > 0; more--) {
            left--;
            if (draw_own(4) == 0) {
                server = servers[ask_and_wait(comm, server, tag, (uint64_t)left).header.value % (uint64_t)server_count];
            } else if (add_receives(&window, comm, 1, MPI_ANY_SOURCE, tag + 1) == 1) {
                send_message(comm, server, tag, REQUEST, (uint64_t)left, draw_bytes(), 1);
            }
        }
        if (active_in(&window, RECEIVE) == 0) {
            continue;
        }
        complete_some(&window, 0, &done);
        for (int i = 0; i < done.count; i++) {
            take_receive(&window, comm, done.indices[i], &done.statuses[i], &got);
            server = servers[got.header.value % (uint64_t)server_count];
        }
    }
    close_window(&window);
    for (int i = 0; i < server_count; i++) {
        send_message(comm, servers[i], tag, DONE, 0, draw_bytes(), 1);
    }
}

void phase_servers(const struct comm *comm, int tag)
{
    int is_server[MAX_RANKS], servers[MAX_RANKS], server_count = 0;
    int any_tag = draw_phase(2) == 0, side = (int)draw_phase(2), first = (int)draw_phase((uint64_t)comm->count);
    for (int i = 0; i < comm->count; i++) {
        int drawn = i == first || draw_phase(3) == 0;
        is_server[i] = comm->first_side > 0 ? (i >= comm->first_side) == side : drawn;
    }
    if (comm->first_side == 0 && comm->count > 1) {
        is_server[(first + 1) % comm->count] = 0;
    }
    for (int i = 0; i < comm->count; i++) {
        if (is_server[i]) {
            servers[server_count++] = i;
        }
    }
    clients_left = comm->count - server_count;
    if (clients_left > 0) {
        if (is_server[comm->me]) {
            receive_until(comm, any_tag ? MPI_ANY_TAG : tag, serve, tag);
        } else {
            be_client(comm, tag, servers, server_count);
        }
    }
    if (any_tag) {
        synchronise(comm);
    }
}

/* Tokens wander for some steps, wherever those who have them send them. Participant 0 knows when all are dead. */
static int tokens_left;

static int other_than_me(const struct comm *comm)
{
    return (comm->me + 1 + (int)draw_own((uint64_t)comm->count - 1)) % comm->count;
}

static int token_died(const struct comm *comm, int tag)
{
    if (comm->me != 0) {
        send_message(comm, 0, tag, DEAD, checksum(), draw_bytes(), 0);
        return 0;
    }
    if (--tokens_left > 0) {
        return 0;
    }
    for (int i = 1; i < comm->count; i++) {
        send_message(comm, i, tag, STOP, 0, draw_bytes(), 0);
    }
    return 1;
}

static int take_token(const struct comm *comm, int tag, const struct received *got)
{
    if (got->header.kind == STOP) {
        return 1;
    }
    if (got->header.kind == DEAD || got->header.value == 0) {
        return token_died(comm, tag);
    }
    send_message(comm, other_than_me(comm), tag, TOKEN, got->header.value - 1, draw_bytes(), 0);
    return 0;
}

void phase_tokens(const struct comm *comm, int tag)
{
    int any_tag = draw_phase(2) == 0, count = 1 + (int)draw_phase(4);
    if (comm->first_side > 0 || comm->count < 2) {
        return;
    }
    tokens_left = count;
    for (int i = 0; i < count; i++) {
        int owner = (int)draw_phase((uint64_t)comm->count);
        uint64_t steps = 1 + draw_phase(8);
        if (owner == comm->me) {
            send_message(comm, other_than_me(comm), tag, TOKEN, steps, draw_bytes(), 0);
        }
    }
    receive_until(comm, any_tag ? MPI_ANY_TAG : tag, take_token, tag);
    if (any_tag) {
        synchronise(comm);
    }
}

/* Everybody sends to whom he likes. That all has been received is known when all sends of all are complete: they are
 * synchronous, and a barrier that does not wait tells it to everybody. */
void phase_exchange(const struct comm *comm, int tag)
{
    static unsigned char in[MAX_BYTES];
    enum { MOST = 5 };
    unsigned char *buffers[MOST];
    MPI_Request sends[MOST], barrier = MPI_REQUEST_NULL;
    MPI_Status status;
    int count = (int)draw_own(MOST + 1), sent = 0, over = 0, at_barrier = 0, failures = 0;
    if (comm->first_side > 0) {
        return; /* see synchronise() */
    }
    for (int i = 0; i < count; i++) {
        int to = (int)draw_own((uint64_t)comm->count), bytes = draw_bytes();
        if (can_talk(comm, comm->me, to)) {
            buffers[sent] = malloc((size_t)bytes);
            fill_message(buffers[sent], 0, checksum(), bytes);
            jitter();
            MPI_Issend(buffers[sent], bytes, MPI_BYTE, name_of(comm, to), tag, comm->handle, &sends[sent]);
            sent++;
        }
    }
    while (!over) {
        int found;
        MPI_Iprobe(MPI_ANY_SOURCE, tag, comm->handle, &found, &status);
        if (found) {
            jitter();
            MPI_Recv(in, MAX_BYTES, MPI_BYTE, MPI_ANY_SOURCE, tag, comm->handle, &status);
            note_received(comm, in, &status);
        }
        if (at_barrier) {
            MPI_Test(&barrier, &over, MPI_STATUS_IGNORE);
        } else {
            MPI_Testall(sent, sends, &at_barrier, MPI_STATUSES_IGNORE);
            if (at_barrier) {
                MPI_Ibarrier(comm->handle, &barrier);
            }
        }
        if (!found && !over) {
            poll_failed(&failures);
        }
    }
    note_polls(failures);
    for (int i = 0; i < sent; i++) {
        free(buffers[i]);
    }
}
