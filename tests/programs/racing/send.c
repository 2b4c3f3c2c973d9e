/* All ways to send, and the sends that are still open. */
#include "racing.h"

#include <stdlib.h>

enum { MAX_OPEN = 1024, MAX_BURIED = 4096 };

static struct {
    MPI_Request request;
    unsigned char *buffer;
    int persistent;
} open_sends[MAX_OPEN];
static int open_count;

/* Buffers of sends whose requests were freed. */
static unsigned char *buried[MAX_BURIED];
static int buried_count;

static void *bsend_buffer;
static int buffered; /* bytes sent in buffered mode since the buffer was last known to be empty */

void attach_buffer(void)
{
    bsend_buffer = malloc(BSEND_SPACE);
    MPI_Buffer_attach(bsend_buffer, BSEND_SPACE);
    buffered = 0;
}

void detach_buffer(void)
{
    int size;
    MPI_Buffer_detach(&bsend_buffer, &size);
    free(bsend_buffer);
}

static int room_for(int bytes)
{
    if (buffered + bytes + MPI_BSEND_OVERHEAD > BSEND_SPACE) {
        return 0;
    }
    buffered += bytes + MPI_BSEND_OVERHEAD;
    return 1;
}

static void keep_open(MPI_Request request, unsigned char *buffer, int persistent)
{
    if (open_count == MAX_OPEN) {
        fail("too many sends are open");
    }
    open_sends[open_count].request = request;
    open_sends[open_count].buffer = buffer;
    open_sends[open_count++].persistent = persistent;
}

static void send_blocking(unsigned char *buffer, int bytes, int to, int tag, MPI_Comm comm)
{
    switch (draw_own(3)) {
    case 0:
        MPI_Ssend(buffer, bytes, MPI_BYTE, to, tag, comm);
        break;
    case 1:
        MPI_Sendrecv(buffer, bytes, MPI_BYTE, to, tag, NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Send(buffer, bytes, MPI_BYTE, to, tag, comm);
    }
    free(buffer);
}

static void send_persistent(unsigned char *buffer, int bytes, int to, int tag, MPI_Comm comm)
{
    MPI_Request request;
    uint64_t mode = draw_own(3);
    if (mode == 0 && room_for(bytes)) {
        MPI_Bsend_init(buffer, bytes, MPI_BYTE, to, tag, comm, &request);
    } else if (mode == 1) {
        MPI_Ssend_init(buffer, bytes, MPI_BYTE, to, tag, comm, &request);
    } else {
        MPI_Send_init(buffer, bytes, MPI_BYTE, to, tag, comm, &request);
    }
    if (draw_own(2) == 0) {
        MPI_Start(&request);
    } else {
        MPI_Startall(1, &request);
    }
    keep_open(request, buffer, 1);
}

static void send_open(unsigned char *buffer, int bytes, int to, int tag, MPI_Comm comm)
{
    MPI_Request request;
    switch (draw_own(7)) {
    case 0:
        if (room_for(bytes)) {
            MPI_Bsend(buffer, bytes, MPI_BYTE, to, tag, comm);
            free(buffer);
            return;
        }
        MPI_Isend(buffer, bytes, MPI_BYTE, to, tag, comm, &request);
        break;
    case 1:
        if (room_for(bytes)) {
            MPI_Ibsend(buffer, bytes, MPI_BYTE, to, tag, comm, &request);
        } else {
            MPI_Isend(buffer, bytes, MPI_BYTE, to, tag, comm, &request);
        }
        break;
    case 2:
    case 3:
        MPI_Issend(buffer, bytes, MPI_BYTE, to, tag, comm, &request);
        break;
    case 4:
        send_persistent(buffer, bytes, to, tag, comm);
        return;
    default:
        MPI_Isend(buffer, bytes, MPI_BYTE, to, tag, comm, &request);
        if (draw_own(5) == 0 && buried_count < MAX_BURIED) {
            MPI_Request_free(&request);
            buried[buried_count++] = buffer;
            return;
        }
    }
    keep_open(request, buffer, 0);
}

void send_message(const struct comm *comm, int to, int tag, int kind, uint64_t value, int bytes, int may_block)
{
    unsigned char *buffer = malloc((size_t)bytes);
    fill_message(buffer, kind, value, bytes);
    jitter();
    if (may_block && draw_own(2) == 0) {
        send_blocking(buffer, bytes, name_of(comm, to), tag, comm->handle);
    } else {
        send_open(buffer, bytes, name_of(comm, to), tag, comm->handle);
    }
}

void send_synchronous(const struct comm *comm, int to, int tag, int kind, uint64_t value, int bytes)
{
    static unsigned char buffer[MAX_BYTES];
    fill_message(buffer, kind, value, bytes);
    jitter();
    MPI_Ssend(buffer, bytes, MPI_BYTE, name_of(comm, to), tag, comm->handle);
}

void lend_sends(struct window *window, int most)
{
    for (; most > 0 && open_count > 0; most--) {
        if (!add_send(window, open_sends[open_count - 1].request, open_sends[open_count - 1].buffer,
                      open_sends[open_count - 1].persistent)) {
            return;
        }
        open_count--;
    }
}

void take_back_sends(struct window *window)
{
    for (int i = 0; i < WINDOW; i++) {
        if (window->kinds[i] == SEND) {
            keep_open(window->requests[i], window->buffers[i], window->persistent[i]);
            window->kinds[i] = NOTHING;
            window->active[i] = 0;
            window->persistent[i] = 0;
            window->requests[i] = MPI_REQUEST_NULL;
            window->buffers[i] = NULL;
        }
    }
}

static void closed(int at)
{
    if (open_sends[at].persistent) {
        MPI_Request_free(&open_sends[at].request);
    }
    free(open_sends[at].buffer);
    open_sends[at] = open_sends[--open_count];
}

/* Looks at those that were opened first. */
void poll_sends(void)
{
    MPI_Request requests[WINDOW];
    int indices[WINDOW], index, count = open_count < WINDOW ? open_count : WINDOW, found = 0, flag;
    uint64_t way = draw_own(4);
    if (count == 0) {
        return;
    }
    for (int i = 0; i < count; i++) {
        requests[i] = open_sends[i].request;
    }
    if (way == 0) {
        MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
        indices[0] = index;
        found = flag ? 1 : 0;
    } else if (way == 1) {
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        indices[0] = 0;
        found = flag ? 1 : 0;
    } else if (way == 2) {
        MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
        for (int i = 0; flag && i < count; i++) {
            indices[found++] = i;
        }
    } else {
        MPI_Testsome(count, requests, &found, indices, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < count; i++) {
        open_sends[i].request = requests[i]; /* null, but for persistent ones */
    }
    note((uint64_t)found);
    for (int last = WINDOW; last > 0; last--) { /* from the back: the last one takes the place */
        for (int i = 0; i < found; i++) {
            if (indices[i] == last - 1) {
                note((uint64_t)(indices[i] + i * WINDOW));
                closed(indices[i]);
            }
        }
    }
}

void finish_sends(void)
{
    struct window window;
    struct completion done;
    clear_window(&window);
    lend_sends(&window, WINDOW);
    while (active_in(&window, SEND) > 0) {
        complete_some(&window, 0, &done);
        for (int i = 0; i < done.count; i++) {
            drop_send(&window, done.indices[i]);
        }
        lend_sends(&window, WINDOW);
    }
}

void free_buried(void)
{
    while (buried_count > 0) {
        free(buried[--buried_count]);
    }
}
