/* Requests that stay open over several steps, and the ways to complete them. Only ways whose result is certain: Waitany and its
 * kin get one active request among null ones. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

static struct open_request pool[MAX_OPEN];
static int open_count;

static void finish(int index)
{
    struct open_request *done = &pool[index];
    if (done->expected != NULL) {
        if (memcmp(done->buffer, done->expected, done->bytes) != 0) {
            fail("a request delivered wrong contents");
        }
        account(done->buffer, done->bytes);
    }
    free(done->buffer);
    free(done->expected);
    free(done->more);
    pool[index] = pool[--open_count];
}

static void finish_first(int count)
{
    for (int i = count - 1; i >= 0; i--) {
        finish(i);
    }
}

/* Moves `count` requests, drawn by this rank, to the front of the pool, in the order drawn. */
static void shuffle_to_front(int count)
{
    for (int i = 0; i < count; i++) {
        int other = i + (int)draw_own((uint64_t)(open_count - i));
        struct open_request swap = pool[i];
        pool[i] = pool[other];
        pool[other] = swap;
    }
}

static void wait_for_one(void)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status, statuses[3];
    int flag = 0, count = 0, index, indices[3];
    shuffle_to_front(1);
    int slot = (int)draw_own(3);
    requests[slot] = pool[0].request;
    switch (draw_own(8)) {
    case 0:
        MPI_Waitany(3, requests, &index, &status);
        break;
    case 1:
        MPI_Waitsome(3, requests, &count, indices, statuses);
        break;
    case 2:
        while (!flag) {
            MPI_Testany(3, requests, &index, &flag, &status);
        }
        break;
    case 3:
        while (count == 0) {
            MPI_Testsome(3, requests, &count, indices, statuses);
        }
        break;
    case 4:
        while (!flag) {
            MPI_Test(&requests[slot], &flag, &status);
        }
        break;
    case 5:
        while (!flag) {
            MPI_Request_get_status(requests[slot], &flag, &status);
        }
        MPI_Wait(&requests[slot], &status);
        break;
    default:
        MPI_Wait(&requests[slot], MPI_STATUS_IGNORE);
    }
    if (requests[slot] != MPI_REQUEST_NULL) {
        fail("a request is still there after its completion");
    }
    finish(0);
}

static void wait_for_first(int count)
{
    MPI_Request requests[MAX_OPEN];
    int flag = 0;
    for (int i = 0; i < count; i++) {
        requests[i] = pool[i].request;
    }
    if (draw_own(3) == 0) {
        while (!flag) {
            MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
        }
    } else {
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    }
    finish_first(count);
}

void keep_open(struct open_request request)
{
    if (open_count == MAX_OPEN) {
        wait_for_first(MAX_OPEN);
    }
    pool[open_count++] = request;
}

void complete_some(void)
{
    if (open_count == 0) {
        return;
    }
    if (draw_own(2) == 0) {
        wait_for_one();
    } else {
        int count = 1 + (int)draw_own((uint64_t)open_count);
        shuffle_to_front(count);
        wait_for_first(count);
    }
}

void complete_on(MPI_Comm comm)
{
    int count = 0;
    for (int i = 0; i < open_count; i++) {
        if (comm == MPI_COMM_NULL || pool[i].comm == comm) {
            struct open_request swap = pool[count];
            pool[count++] = pool[i];
            pool[i] = swap;
        }
    }
    if (count > 0) {
        wait_for_first(count);
    }
}
