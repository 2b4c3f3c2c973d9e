#include "plan.h"

#include <stdlib.h>
#include <string.h>

enum { GO_TAG = 9999, NEVER_SENT_TAG = 9998 };
enum send_mode { STANDARD, BUFFERED, SYNCHRONOUS, READY, SEND_MODES };

static size_t buffered; /* bytes sent in buffered mode since the buffer was last known to be empty */

static void check(const unsigned char *found, const struct message *message, const MPI_Status *status)
{
    unsigned char *expected = contents_of(message->id, (size_t)message->bytes);
    int count;
    MPI_Get_count(status, MPI_BYTE, &count);
    if (count != message->bytes || status->MPI_TAG != message->tag ||
        memcmp(found, expected, (size_t)message->bytes) != 0) {
        fail("wrong message received");
    }
    account(found, (size_t)message->bytes);
    free(expected);
}

/* Empties the buffer before it can overflow: waits for receives of earlier steps only. */
static void make_buffer_room(int bytes)
{
    buffered += (size_t)bytes + MPI_BSEND_OVERHEAD;
    if (buffered > BSEND_SPACE / 2) {
        void *buffer;
        int size;
        MPI_Buffer_detach(&buffer, &size);
        MPI_Buffer_attach(buffer, size);
        buffered = (size_t)bytes + MPI_BSEND_OVERHEAD;
    }
}

static void send_now(const struct message *m, int to, MPI_Comm comm, enum send_mode mode)
{
    unsigned char *buffer = contents_of(m->id, (size_t)m->bytes);
    switch (mode) {
    case BUFFERED:
        make_buffer_room(m->bytes);
        MPI_Bsend(buffer, m->bytes, MPI_BYTE, to, m->tag, comm);
        break;
    case SYNCHRONOUS:
        MPI_Ssend(buffer, m->bytes, MPI_BYTE, to, m->tag, comm);
        break;
    case READY:
        MPI_Rsend(buffer, m->bytes, MPI_BYTE, to, m->tag, comm);
        break;
    default:
        MPI_Send(buffer, m->bytes, MPI_BYTE, to, m->tag, comm);
    }
    free(buffer);
}

static void send_later(const struct message *m, int to, MPI_Comm comm, enum send_mode mode)
{
    struct open_request open = {.comm = comm, .buffer = contents_of(m->id, (size_t)m->bytes)};
    switch (mode) {
    case BUFFERED:
        make_buffer_room(m->bytes);
        MPI_Ibsend(open.buffer, m->bytes, MPI_BYTE, to, m->tag, comm, &open.request);
        break;
    case SYNCHRONOUS:
        MPI_Issend(open.buffer, m->bytes, MPI_BYTE, to, m->tag, comm, &open.request);
        break;
    case READY:
        MPI_Irsend(open.buffer, m->bytes, MPI_BYTE, to, m->tag, comm, &open.request);
        break;
    default:
        MPI_Isend(open.buffer, m->bytes, MPI_BYTE, to, m->tag, comm, &open.request);
    }
    keep_open(open);
}

static void receive_later(const struct message *m, int from, MPI_Comm comm)
{
    struct open_request open = {.comm = comm, .bytes = (size_t)m->bytes};
    open.buffer = malloc(open.bytes + 1);
    open.expected = contents_of(m->id, open.bytes);
    MPI_Irecv(open.buffer, m->bytes, MPI_BYTE, from, m->tag, comm, &open.request);
    keep_open(open);
}

static void receive_probed(const struct message *m, int from, MPI_Comm comm, int way)
{
    unsigned char *buffer = malloc((size_t)m->bytes + 1);
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int flag = 0, count;
    switch (way) {
    case 0:
        MPI_Probe(from, m->tag, comm, &status);
        break;
    case 1:
        while (!flag) {
            MPI_Iprobe(from, m->tag, comm, &flag, &status);
        }
        break;
    case 2:
        MPI_Mprobe(from, m->tag, comm, &message, &status);
        break;
    default:
        while (!flag) {
            MPI_Improbe(from, m->tag, comm, &flag, &message, &status);
        }
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (count != m->bytes) {
        fail("a probe found another length");
    }
    if (way < 2) {
        MPI_Recv(buffer, count, MPI_BYTE, from, m->tag, comm, &status);
    } else if (way == 2) {
        MPI_Mrecv(buffer, count, MPI_BYTE, &message, &status);
    } else {
        MPI_Imrecv(buffer, count, MPI_BYTE, &message, &request);
        MPI_Wait(&request, &status);
    }
    check(buffer, m, &status);
    free(buffer);
}

static void receive_now(const struct message *m, int from, MPI_Comm comm, int any_tag)
{
    unsigned char *buffer = malloc((size_t)m->bytes + 1);
    MPI_Status status;
    MPI_Recv(buffer, m->bytes, MPI_BYTE, from, any_tag ? MPI_ANY_TAG : m->tag, comm, &status);
    check(buffer, m, &status);
    free(buffer);
}

/* A receive that was posted before the sender was told to go, completed at once or later. */
static void receive_ready(const struct message *m, int from, MPI_Comm comm, int at_once)
{
    if (!at_once) {
        receive_later(m, from, comm);
        MPI_Send(NULL, 0, MPI_BYTE, from, GO_TAG, comm);
        return;
    }
    unsigned char *buffer = malloc((size_t)m->bytes + 1);
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(buffer, m->bytes, MPI_BYTE, from, m->tag, comm, &request);
    MPI_Send(NULL, 0, MPI_BYTE, from, GO_TAG, comm);
    MPI_Wait(&request, &status);
    check(buffer, m, &status);
    free(buffer);
}

/* One message, any send mode, any way to receive it. */
void step_message(const struct comm *comm)
{
    struct message m = {.tag = (int)draw(5), .bytes = draw_bytes(), .id = next_id()};
    enum send_mode mode = (enum send_mode)draw(SEND_MODES);
    int sends_later = draw(2) == 0, way = (int)draw(8);
    if (!draw_pair(comm, &m.from, &m.to)) {
        return;
    }
    int other = peer_rank(comm, world_rank, world_rank == m.from ? m.to : m.from);
    if (world_rank == m.from) {
        if (mode == READY) {
            MPI_Recv(NULL, 0, MPI_BYTE, other, GO_TAG, comm->handle, MPI_STATUS_IGNORE);
        }
        (sends_later ? send_later : send_now)(&m, other, comm->handle, mode);
    } else if (world_rank == m.to) {
        if (mode == READY) {
            receive_ready(&m, other, comm->handle, way % 2);
        } else if (way < 4) {
            receive_probed(&m, other, comm->handle, way);
        } else if (way < 6) {
            receive_later(&m, other, comm->handle);
        } else {
            receive_now(&m, other, comm->handle, way == 6);
        }
    }
}

/* A pair of persistent requests, started a few times. */
void step_persistent(const struct comm *comm)
{
    struct message m = {.tag = 10 + (int)draw(3), .bytes = draw_bytes()};
    int rounds = 1 + (int)draw(3), mode = (int)draw(3), by_all = draw(2) == 0;
    uint64_t first = next_id();
    for (int i = 1; i < rounds; i++) {
        next_id();
    }
    if (!draw_pair(comm, &m.from, &m.to) || (world_rank != m.from && world_rank != m.to)) {
        return;
    }
    int other = peer_rank(comm, world_rank, world_rank == m.from ? m.to : m.from);
    unsigned char *buffer = malloc((size_t)m.bytes + 1);
    MPI_Request request;
    MPI_Status status;
    if (world_rank == m.to) {
        MPI_Recv_init(buffer, m.bytes, MPI_BYTE, other, m.tag, comm->handle, &request);
    } else if (mode == 0) {
        MPI_Send_init(buffer, m.bytes, MPI_BYTE, other, m.tag, comm->handle, &request);
    } else if (mode == 1) {
        MPI_Ssend_init(buffer, m.bytes, MPI_BYTE, other, m.tag, comm->handle, &request);
    } else {
        MPI_Bsend_init(buffer, m.bytes, MPI_BYTE, other, m.tag, comm->handle, &request);
    }
    for (int i = 0; i < rounds; i++) {
        m.id = first + (uint64_t)i;
        if (world_rank == m.from) {
            unsigned char *contents = contents_of(m.id, (size_t)m.bytes);
            memcpy(buffer, contents, (size_t)m.bytes);
            free(contents);
            if (mode == 2) {
                make_buffer_room(m.bytes);
            }
        }
        if (by_all) {
            MPI_Startall(1, &request);
        } else {
            MPI_Start(&request);
        }
        MPI_Wait(&request, &status);
        if (world_rank == m.to) {
            check(buffer, &m, &status);
        }
    }
    MPI_Request_free(&request);
    free(buffer);
}

/* A shift round the whole communicator, or between the two sides of an intercommunicator. */
void step_sendrecv(const struct comm *comm)
{
    int bytes = draw_bytes(), tag = 20 + (int)draw(2), replace = draw(2) == 0;
    uint64_t distance = 1 + draw(3), first = next_id();
    for (int i = 1; i < MAX_RANKS; i++) {
        next_id();
    }
    if (comm->handle == MPI_COMM_NULL) {
        return;
    }
    int size = comm->size, local = rank_in(comm->members, size, world_rank), to, from;
    uint64_t in_id, out_id = first + (uint64_t)world_rank;
    if (comm->remote_size > 0) {
        int mine = local >= 0 ? local : rank_in(comm->remote, comm->remote_size, world_rank);
        int pairs = size < comm->remote_size ? size : comm->remote_size;
        to = from = mine < pairs ? mine : MPI_PROC_NULL;
        in_id = mine < pairs ? first + (uint64_t)(local >= 0 ? comm->remote : comm->members)[mine] : 0;
    } else {
        to = (local + (int)distance) % size;
        from = (local + size * 3 - (int)distance) % size;
        in_id = first + (uint64_t)comm->members[from];
    }
    struct message m = {.tag = tag, .bytes = bytes, .id = in_id};
    unsigned char *out = contents_of(out_id, (size_t)bytes), *in = malloc((size_t)bytes + 1);
    MPI_Status status;
    if (replace) {
        MPI_Sendrecv_replace(out, bytes, MPI_BYTE, to, tag, from, tag, comm->handle, &status);
    } else {
        MPI_Sendrecv(out, bytes, MPI_BYTE, to, tag, in, bytes, MPI_BYTE, from, tag, comm->handle, &status);
    }
    if (from != MPI_PROC_NULL) {
        check(replace ? out : in, &m, &status);
    }
    free(in);
    free(out);
}

/* What programs also do: messages to oneself and to nobody, cancelled receives, freed send requests. */
void step_oddity(const struct comm *comm)
{
    int kind = (int)draw(4), bytes = (int)draw(3000);
    struct message m = {.tag = 30 + kind, .bytes = bytes, .id = next_id()};
    MPI_Request request;
    MPI_Status status;
    int flag, able = draw_pair(comm, &m.from, &m.to);
    if (comm->handle == MPI_COMM_NULL) {
        return;
    }
    if (kind == 0 && comm->remote_size == 0) {
        int self = rank_in(comm->members, comm->size, world_rank);
        receive_later(&m, self, comm->handle);
        send_now(&m, self, comm->handle, STANDARD);
    } else if (kind == 1) {
        send_now(&m, MPI_PROC_NULL, comm->handle, STANDARD);
        MPI_Recv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, m.tag, comm->handle, &status);
    } else if (kind == 2 && able && world_rank == m.to) {
        unsigned char *buffer = malloc((size_t)bytes + 1);
        MPI_Irecv(buffer, bytes, MPI_BYTE, peer_rank(comm, m.to, m.from), NEVER_SENT_TAG, comm->handle, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        if (!flag) {
            fail("a receive could not be cancelled");
        }
        free(buffer);
    } else if (kind == 3 && able && world_rank == m.from) {
        static unsigned char nothing_to_free[3000]; /* a freed request may still read its buffer */
        MPI_Isend(nothing_to_free, bytes, MPI_BYTE, peer_rank(comm, m.from, m.to), m.tag, comm->handle, &request);
        MPI_Request_free(&request);
    } else if (kind == 3 && able && world_rank == m.to) {
        unsigned char *buffer = malloc((size_t)bytes + 1);
        MPI_Recv(buffer, bytes, MPI_BYTE, peer_rank(comm, m.to, m.from), m.tag, comm->handle, &status);
        account(buffer, (size_t)bytes);
        free(buffer);
    }
}
