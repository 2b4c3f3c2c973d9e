/* All ways to receive from whoever comes. */
#include "racing.h"

#include <stdlib.h>
#include <string.h>

struct received note_received(const struct comm *comm, const unsigned char *buffer, const MPI_Status *status)
{
    struct received got;
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    got.from = participant_of(comm, status->MPI_SOURCE);
    got.tag = status->MPI_TAG;
    note((uint64_t)got.from);
    note((uint64_t)got.tag);
    got.header = check_message(buffer, bytes);
    messages_received++;
    return got;
}

/* Another one than was found is no error: all are received in the end. */
static void receive_found(unsigned char *buffer, const struct comm *comm, int source, int tag, MPI_Status *status)
{
    jitter();
    if (draw_own(2) == 0) {
        MPI_Recv(buffer, MAX_BYTES, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, comm->handle, status);
    } else {
        MPI_Recv(buffer, MAX_BYTES, MPI_BYTE, source, tag, comm->handle, status);
    }
}

static void receive_matched(unsigned char *buffer, MPI_Message *message, MPI_Status *status)
{
    MPI_Request request;
    int flag = 0, failures = 0;
    switch (draw_own(3)) {
    case 0:
        MPI_Mrecv(buffer, MAX_BYTES, MPI_BYTE, message, status);
        break;
    case 1:
        MPI_Imrecv(buffer, MAX_BYTES, MPI_BYTE, message, &request);
        MPI_Wait(&request, status);
        break;
    default:
        MPI_Imrecv(buffer, MAX_BYTES, MPI_BYTE, message, &request);
        while (!flag) {
            MPI_Test(&request, &flag, status);
            if (!flag) {
                poll_failed(&failures);
            }
        }
        note_polls(failures);
    }
}

static void receive_polled(unsigned char *buffer, const struct comm *comm, int source, int tag, MPI_Status *status,
                           void (*poll_too)(void))
{
    MPI_Message message;
    int flag = 0, failures = 0, matched = draw_own(2) == 0;
    while (!flag) {
        if (matched) {
            MPI_Improbe(source, tag, comm->handle, &flag, &message, status);
        } else {
            MPI_Iprobe(source, tag, comm->handle, &flag, status);
        }
        if (!flag) {
            poll_failed(&failures);
            if (poll_too != NULL) {
                poll_too();
            }
        }
    }
    note_polls(failures);
    note((uint64_t)status->MPI_SOURCE);
    if (matched) {
        receive_matched(buffer, &message, status);
    } else {
        receive_found(buffer, comm, source, tag, status);
    }
}

static struct received receive_in_window(const struct comm *comm, int source, int tag)
{
    struct window window;
    struct completion done;
    struct received got;
    clear_window(&window);
    add_receives(&window, comm, 1, source, tag);
    complete_some(&window, 0, &done);
    if (!take_receive(&window, comm, done.indices[0], &done.statuses[0], &got)) {
        fail("a receive was cancelled by nobody");
    }
    close_window(&window);
    return got;
}

/* Who does not look at the status knows the sender by what he says. */
static struct received receive_blindly(unsigned char *buffer, const struct comm *comm, int source, int tag)
{
    struct received got = {.from = -1};
    MPI_Recv(buffer, MAX_BYTES, MPI_BYTE, source, tag, comm->handle, MPI_STATUS_IGNORE);
    memcpy(&got.header, buffer, sizeof got.header);
    check_message(buffer, got.header.bytes);
    for (int i = 0; i < comm->count; i++) {
        got.from = comm->members[i] == sender_of(&got.header) ? i : got.from;
    }
    messages_received++;
    return got;
}

struct received receive_one(const struct comm *comm, int source, int tag, void (*poll_too)(void))
{
    static unsigned char buffer[MAX_BYTES];
    MPI_Status status;
    MPI_Message message;
    jitter();
    switch (draw_own(10)) {
    case 0:
        MPI_Probe(source, tag, comm->handle, &status);
        note((uint64_t)status.MPI_SOURCE);
        receive_found(buffer, comm, source, tag, &status);
        break;
    case 1:
        MPI_Mprobe(source, tag, comm->handle, &message, &status);
        receive_matched(buffer, &message, &status);
        break;
    case 2:
    case 3:
        receive_polled(buffer, comm, source, tag, &status, poll_too);
        break;
    case 4:
        return receive_in_window(comm, source, tag);
    case 5:
        return receive_blindly(buffer, comm, source, tag);
    case 6:
        MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, buffer, MAX_BYTES, MPI_BYTE, source, tag, comm->handle,
                     &status);
        break;
    default:
        MPI_Recv(buffer, MAX_BYTES, MPI_BYTE, source, tag, comm->handle, &status);
    }
    return note_received(comm, buffer, &status);
}

/* So many that are sure to come, through a list of requests. */
static void receive_listed(const struct comm *comm, int count, int source, int tag)
{
    struct window window;
    struct completion done;
    struct received got;
    int posted = 0, with_sends = draw_own(2) == 0;
    clear_window(&window);
    if (with_sends) {
        lend_sends(&window, WINDOW / 2);
    }
    while (posted < count || active_in(&window, RECEIVE) > 0) {
        if (posted < count && (active_in(&window, RECEIVE) == 0 || draw_own(2) == 0)) {
            posted += add_receives(&window, comm, 1 + (int)draw_own((uint64_t)(count - posted)), source, tag);
        }
        complete_some(&window, with_sends, &done);
        for (int i = 0; i < done.count; i++) {
            if (window.kinds[done.indices[i]] == SEND) {
                drop_send(&window, done.indices[i]);
            } else {
                take_receive(&window, comm, done.indices[i], &done.statuses[i], &got);
            }
        }
    }
    take_back_sends(&window);
    close_window(&window);
}

void receive_many(const struct comm *comm, int count, int source, int tag)
{
    while (count > 0) {
        int part = 1 + (int)draw_own((uint64_t)count);
        if (draw_own(2) == 0) {
            receive_listed(comm, part, source, tag);
        } else {
            for (int i = 0; i < part; i++) {
                receive_one(comm, source, tag, poll_sends);
            }
        }
        count -= part;
    }
}
