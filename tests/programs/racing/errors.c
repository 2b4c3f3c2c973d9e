/* Messages that are longer than the receive has room for: the calls return errors, about whoever came first. */
#include "racing.h"

#include <stdlib.h>

enum { ROOM = sizeof(struct header) + 64, LIST = 5 };

static void note_code(int code)
{
    int error_class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) {
        MPI_Error_class(code, &error_class);
    }
    note((uint64_t)error_class);
}

/* `code`: of this message. What a message that was cut has left in the buffer is not looked at. */
static void note_one(const struct comm *comm, const unsigned char *buffer, const MPI_Status *status, int code)
{
    note_code(code);
    if (code == MPI_SUCCESS) {
        note_received(comm, buffer, status);
    } else {
        note((uint64_t)status->MPI_SOURCE);
        note((uint64_t)status->MPI_TAG);
    }
}

static void receive_at_once(const struct comm *comm, int tag)
{
    static unsigned char buffer[ROOM];
    MPI_Status status;
    int code;
    jitter();
    if (draw_own(2) == 0) {
        code = MPI_Recv(buffer, ROOM, MPI_BYTE, MPI_ANY_SOURCE, tag, comm->handle, &status);
    } else {
        code = MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, buffer, ROOM, MPI_BYTE, MPI_ANY_SOURCE, tag, comm->handle,
                            &status);
    }
    note_one(comm, buffer, &status, code);
}

/* Several are posted and waited for one by one: of the others Open MPI does not say what they got when one of a list fails. */
static void receive_list(const struct comm *comm, int count, int tag)
{
    static unsigned char buffers[LIST][ROOM];
    MPI_Request requests[LIST];
    for (int i = 0; i < count; i++) {
        jitter();
        MPI_Irecv(buffers[i], ROOM, MPI_BYTE, MPI_ANY_SOURCE, tag, comm->handle, &requests[i]);
    }
    int first = (int)draw_own((uint64_t)count);
    for (int i = 0; i < count; i++) {
        int at = (first + i) % count, flag = draw_own(2) == 0, failures = 0, code = MPI_SUCCESS;
        MPI_Status status;
        if (flag) {
            code = MPI_Wait(&requests[at], &status);
        }
        while (!flag && code == MPI_SUCCESS) {
            code = MPI_Test(&requests[at], &flag, &status);
            if (!flag && code == MPI_SUCCESS) {
                poll_failed(&failures);
            }
        }
        note_polls(failures);
        note_one(comm, buffers[at], &status, code);
    }
}

/* Some send, the others receive. */
void phase_errors(const struct comm *comm, int tag)
{
    int to_send[MAX_RANKS], incoming = draw_counts(comm, 3, to_send);
    MPI_Comm_set_errhandler(comm->handle, MPI_ERRORS_RETURN);
    for (int to = 0; to < comm->count; to++) {
        for (; to_send[to] > 0; to_send[to]--) {
            int bytes = (int)sizeof(struct header) + (draw_own(2) == 0 ? 32 : 500);
            send_message(comm, to, tag, 0, checksum(), bytes, 1);
        }
    }
    while (incoming > 0) {
        int most = incoming < LIST ? incoming : LIST, count = 1 + (int)draw_own((uint64_t)most);
        if (draw_own(3) == 0) {
            receive_at_once(comm, tag);
            count = 1;
        } else {
            receive_list(comm, count, tag);
        }
        incoming -= count;
    }
    finish_sends();
    MPI_Comm_set_errhandler(comm->handle, MPI_ERRORS_ARE_FATAL);
}
