/* Lists of requests, and all ways to wait for them. */
#include "racing.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

unsigned long failed_polls, messages_received;

void poll_failed(int *failures)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = 50000};
    ++*failures;
    ++failed_polls;
    sched_yield();
    if (*failures % 8 == 0) {
        nanosleep(&time, NULL);
    }
}

void note_polls(int failures)
{
    note((uint64_t)failures);
}

void clear_window(struct window *window)
{
    for (int i = 0; i < WINDOW; i++) {
        window->requests[i] = MPI_REQUEST_NULL;
        window->kinds[i] = NOTHING;
        window->active[i] = 0;
        window->persistent[i] = 0;
        window->buffers[i] = NULL;
    }
}

int active_in(const struct window *window, enum slot_kind kind)
{
    int count = 0;
    for (int i = 0; i < WINDOW; i++) {
        count += window->active[i] && (kind == NOTHING || window->kinds[i] == kind);
    }
    return count;
}

int active_slot(const struct window *window, enum slot_kind kind)
{
    int which = (int)draw_own((uint64_t)active_in(window, kind));
    for (int i = 0; i < WINDOW; i++) {
        if (window->active[i] && (kind == NOTHING || window->kinds[i] == kind) && which-- == 0) {
            return i;
        }
    }
    fail("there is no active request");
    return -1;
}

static int free_slot(const struct window *window)
{
    int first = (int)draw_own(WINDOW);
    for (int i = 0; i < WINDOW; i++) {
        int slot = (first + i) % WINDOW;
        if (window->kinds[slot] == NOTHING) {
            return slot;
        }
    }
    return -1;
}

int add_send(struct window *window, MPI_Request request, unsigned char *buffer, int persistent)
{
    int slot = free_slot(window);
    if (slot < 0) {
        return 0;
    }
    window->requests[slot] = request;
    window->kinds[slot] = SEND;
    window->active[slot] = 1;
    window->persistent[slot] = persistent;
    window->buffers[slot] = buffer;
    return 1;
}

static int idle_receive(const struct window *window, int source, int tag)
{
    for (int i = 0; i < WINDOW; i++) {
        if (window->kinds[i] == RECEIVE && !window->active[i] && window->sources[i] == source &&
            window->tags[i] == tag) {
            return i;
        }
    }
    return -1;
}

int add_receives(struct window *window, const struct comm *comm, int count, int source, int tag)
{
    MPI_Request starts[WINDOW];
    int slots[WINDOW], to_start = 0, added = 0;
    for (; added < count; added++) {
        int slot = idle_receive(window, source, tag);
        int again = slot >= 0;
        jitter();
        if (!again) {
            slot = free_slot(window);
            if (slot < 0) {
                break;
            }
            window->kinds[slot] = RECEIVE;
            window->sources[slot] = source;
            window->tags[slot] = tag;
            window->persistent[slot] = draw_own(3) == 0;
            window->buffers[slot] = malloc(MAX_BYTES);
            if (window->persistent[slot]) {
                MPI_Recv_init(window->buffers[slot], MAX_BYTES, MPI_BYTE, source, tag, comm->handle,
                              &window->requests[slot]);
            } else {
                MPI_Irecv(window->buffers[slot], MAX_BYTES, MPI_BYTE, source, tag, comm->handle,
                          &window->requests[slot]);
            }
        }
        window->active[slot] = 1;
        if (!window->persistent[slot]) {
            continue;
        }
        if (draw_own(2) == 0) {
            MPI_Start(&window->requests[slot]);
        } else {
            slots[to_start] = slot;
            starts[to_start++] = window->requests[slot];
        }
    }
    if (to_start > 0) {
        MPI_Startall(to_start, starts);
    }
    for (int i = 0; i < to_start; i++) {
        window->requests[slots[i]] = starts[i];
    }
    return added;
}

static void completed(struct window *window, struct completion *done, int slot, const MPI_Status *status)
{
    window->active[slot] = 0;
    if ((window->requests[slot] == MPI_REQUEST_NULL) == (window->persistent[slot] != 0)) {
        fail("a request that is complete is there, or a persistent one is not");
    }
    note((uint64_t)slot);
    done->indices[done->count] = slot;
    done->statuses[done->count++] = *status;
}

static void completed_all(struct window *window, struct completion *done, const MPI_Status *statuses)
{
    for (int i = 0; i < WINDOW; i++) {
        if (window->active[i]) {
            completed(window, done, i, &statuses[i]);
        }
    }
}

static void completed_some(struct window *window, struct completion *done, int count, const int *indices,
                           const MPI_Status *statuses)
{
    for (int i = 0; i < count; i++) {
        completed(window, done, indices[i], &statuses[i]);
    }
}

void complete_slot(struct window *window, int slot, struct completion *done)
{
    MPI_Status status;
    int flag = 0, failures = 0;
    uint64_t way = draw_own(4);
    done->count = 0;
    if (way == 0) {
        while (!flag) {
            MPI_Test(&window->requests[slot], &flag, &status);
            if (!flag) {
                poll_failed(&failures);
            }
        }
    } else {
        while (way == 1 && !flag) {
            MPI_Request_get_status(window->requests[slot], &flag, &status);
            if (!flag) {
                poll_failed(&failures);
            }
        }
        MPI_Wait(&window->requests[slot], &status);
    }
    note_polls(failures);
    completed(window, done, slot, &status);
}

/* Testany and Testsome until one is complete, at most `most` times. */
static void test_until(struct window *window, int some, int most, struct completion *done)
{
    MPI_Status status, statuses[WINDOW];
    int index, indices[WINDOW], count = 0, flag = 0, failures = 0;
    for (int i = 0; i < most && done->count == 0; i++) {
        if (some) {
            MPI_Testsome(WINDOW, window->requests, &count, indices, statuses);
            completed_some(window, done, count, indices, statuses);
        } else {
            MPI_Testany(WINDOW, window->requests, &index, &flag, &status);
            completed_some(window, done, flag, &index, &status);
        }
        if (done->count == 0) {
            poll_failed(&failures);
        }
    }
    note_polls(failures);
}

void complete_some(struct window *window, int any, struct completion *done)
{
    MPI_Status status, statuses[WINDOW];
    int index, indices[WINDOW], count = 0, flag = 0, failures = 0;
    uint64_t way = draw_own(any ? 6 : 10);
    done->count = 0;
    jitter();
    if (way == 2 || way == 3) {
        test_until(window, way == 2, 1000000000, done);
    } else if (way == 4 || way == 5) {
        test_until(window, way == 4, 1 + (int)draw_own(4), done);
    }
    if (done->count > 0) {
        return;
    }
    switch (way) {
    case 0:
    case 4:
        MPI_Waitany(WINDOW, window->requests, &index, &status);
        completed_some(window, done, 1, &index, &status);
        break;
    case 1:
    case 5:
        MPI_Waitsome(WINDOW, window->requests, &count, indices, statuses);
        completed_some(window, done, count, indices, statuses);
        break;
    case 6:
        MPI_Waitall(WINDOW, window->requests, statuses);
        completed_all(window, done, statuses);
        break;
    case 7:
        while (!flag) {
            MPI_Testall(WINDOW, window->requests, &flag, statuses);
            if (!flag) {
                poll_failed(&failures);
            }
        }
        note_polls(failures);
        completed_all(window, done, statuses);
        break;
    default:
        complete_slot(window, active_slot(window, NOTHING), done);
    }
}

static void empty_slot(struct window *window, int slot)
{
    free(window->buffers[slot]);
    window->buffers[slot] = NULL;
    window->kinds[slot] = NOTHING;
    window->persistent[slot] = 0;
}

int take_receive(struct window *window, const struct comm *comm, int slot, const MPI_Status *status,
                 struct received *got)
{
    int cancelled;
    MPI_Test_cancelled(status, &cancelled);
    note((uint64_t)cancelled);
    if (!cancelled) {
        *got = note_received(comm, window->buffers[slot], status);
    }
    if (!window->persistent[slot]) {
        empty_slot(window, slot);
    }
    return !cancelled;
}

void drop_send(struct window *window, int slot)
{
    if (window->persistent[slot]) {
        MPI_Request_free(&window->requests[slot]);
    }
    empty_slot(window, slot);
}

void cancel_receives(struct window *window, const struct comm *comm)
{
    struct completion done;
    struct received got;
    for (int i = 0; i < WINDOW; i++) {
        if (window->active[i] && window->kinds[i] == RECEIVE) {
            MPI_Cancel(&window->requests[i]);
            complete_slot(window, i, &done);
            if (take_receive(window, comm, i, &done.statuses[0], &got)) {
                fail("a receive was not cancelled that no message is for");
            }
        }
    }
}

void close_window(struct window *window)
{
    for (int i = 0; i < WINDOW; i++) {
        if (window->active[i]) {
            fail("a request is still active");
        }
        if (window->kinds[i] != NOTHING) {
            MPI_Request_free(&window->requests[i]);
            empty_slot(window, i);
        }
    }
}
