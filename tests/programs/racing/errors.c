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

/* Several are posted. */
static void post_list(const struct comm *comm, int count, int tag, unsigned char (*buffers)[ROOM], MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        jitter();
        MPI_Irecv(buffers[i], ROOM, MPI_BYTE, MPI_ANY_SOURCE, tag, comm->handle, &requests[i]);
    }
}

/* They are waited for one by one. */
static void receive_list(const struct comm *comm, int count, int tag)
{
    static unsigned char buffers[LIST][ROOM];
    MPI_Request requests[LIST];
    post_list(comm, count, tag, buffers, requests);
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

/* One call about all of them, which fails when some have: that may be before the others are complete. Returns how many of
 * them it says of how they ended, and where. */
static int wait_for_list(int count, MPI_Request *requests, MPI_Status *statuses, int *indices)
{
    enum { WAITALL, TESTALL, WAITSOME, TESTSOME } how = (int)draw_own(4);
    int outcount = 0, flag = 0, failures = 0, code = MPI_SUCCESS;
    jitter();
    do {
        switch (how) {
        case WAITALL:
            code = MPI_Waitall(count, requests, statuses);
            flag = 1;
            break;
        case TESTALL:
            code = MPI_Testall(count, requests, &flag, statuses);
            break;
        case WAITSOME:
            code = MPI_Waitsome(count, requests, &outcount, indices, statuses);
            flag = 1;
            break;
        case TESTSOME:
            code = MPI_Testsome(count, requests, &outcount, indices, statuses);
            flag = outcount != 0;
            break;
        }
        if (!flag && code == MPI_SUCCESS) {
            poll_failed(&failures);
        }
    } while (!flag && code == MPI_SUCCESS);
    note_polls(failures);
    note_code(code);
    if (how == WAITALL || how == TESTALL) {
        outcount = count;
        for (int i = 0; i < count; i++) {
            indices[i] = i;
        }
    }
    for (int i = 0; code == MPI_SUCCESS && i < outcount; i++) {
        statuses[i].MPI_ERROR = MPI_SUCCESS; /* which only a call that fails sets */
    }
    return outcount;
}

static void receive_together(const struct comm *comm, int count, int tag)
{
    static unsigned char buffers[LIST][ROOM];
    MPI_Request requests[LIST];
    int done[LIST] = {0};
    post_list(comm, count, tag, buffers, requests);
    for (int left = count; left > 0;) {
        MPI_Status statuses[LIST];
        int indices[LIST], ended = wait_for_list(count, requests, statuses, indices);
        for (int i = 0; i < ended; i++) {
            int at = indices[i], error_class = MPI_SUCCESS;
            if (statuses[i].MPI_ERROR != MPI_SUCCESS) {
                MPI_Error_class(statuses[i].MPI_ERROR, &error_class);
            }
            if (done[at] || error_class == MPI_ERR_PENDING) {
                continue;
            }
            done[at] = 1;
            left--;
            note((uint64_t)at);
            note_one(comm, buffers[at], &statuses[i], statuses[i].MPI_ERROR);
            requests[at] = MPI_REQUEST_NULL; /* Open MPI leaves those that failed */
        }
    }
}

/* What happens to an error on `comm`. MPICH asks MPI_COMM_WORLD instead when it is about a request. */
static void handle_errors(const struct comm *comm, MPI_Errhandler handler)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(comm->handle, handler);
}

/* Some send, the others receive. */
void phase_errors(const struct comm *comm, int tag)
{
    int to_send[MAX_RANKS], incoming = draw_counts(comm, 3, to_send);
    handle_errors(comm, MPI_ERRORS_RETURN);
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
        } else if (draw_own(2) == 0) {
            receive_list(comm, count, tag);
        } else {
            receive_together(comm, count, tag);
        }
        incoming -= count;
    }
    finish_sends();
    handle_errors(comm, MPI_ERRORS_ARE_FATAL);
}
