/* A table whose keys are spread over the ranks by a hash. Every rank enters itself under every key, in an order of its own,
 * then looks every key up. The owner of a key keeps who entered, in the order in which they came. That order is different
 * each time, and rank 0 prints who was first; that everybody is there once is checked.
 *
 * Usage: table [keys], by default 24. */
#include "delay.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_KEYS = 200, MOST_RANKS = 32, ENTER = 1, LOOK = 2, ANSWER = 3 };

struct entries {
    int count;
    int ranks[MOST_RANKS];
};

static int rank, size, keys = 24;
static struct entries table[MOST_KEYS];
static int entered;      /* entries of others and of this rank in its part of the table */
static int answered;     /* look-ups in it */
static int first[MOST_KEYS];
static int wrong;

static int owner(int key)
{
    return (int)(((unsigned)key * 2654435761u >> 8) % (unsigned)size);
}

static int keys_here(void)
{
    int count = 0;
    for (int key = 0; key < keys; key++) {
        count += owner(key) == rank;
    }
    return count;
}

static void enter(int key, int who)
{
    table[key].ranks[table[key].count++] = who;
    entered++;
}

static void receive_entry(void)
{
    int key;
    MPI_Status status;
    MPI_Recv(&key, 1, MPI_INT, MPI_ANY_SOURCE, ENTER, MPI_COMM_WORLD, &status);
    enter(key, status.MPI_SOURCE);
}

static void enter_all(void)
{
    static int sent[MOST_KEYS];
    MPI_Request requests[MOST_KEYS];
    for (int i = 0; i < keys; i++) {
        int flag;
        sent[i] = (i * 7 + rank * 5) % keys;
        random_pause(400);
        MPI_Isend(&sent[i], 1, MPI_INT, owner(sent[i]), ENTER, MPI_COMM_WORLD, &requests[i]);
        MPI_Iprobe(MPI_ANY_SOURCE, ENTER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        if (flag) {
            receive_entry();
        }
    }
    while (entered < keys_here() * size) {
        receive_entry();
    }
    MPI_Waitall(keys, requests, MPI_STATUSES_IGNORE);
}

/* Waits for a question of others or the answer to its own, whatever comes first. */
static void look_up_all(void)
{
    struct entries answer;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int asked = 0, question, index;
    int to_answer = keys_here() * size;
    while (asked < keys || requests[0] != MPI_REQUEST_NULL || answered < to_answer) {
        MPI_Status status;
        if (requests[0] == MPI_REQUEST_NULL && asked < keys) {
            random_pause(400);
            MPI_Irecv(&answer, sizeof answer / sizeof(int), MPI_INT, owner(asked), ANSWER, MPI_COMM_WORLD, &requests[0]);
            MPI_Send(&asked, 1, MPI_INT, owner(asked), LOOK, MPI_COMM_WORLD);
        }
        if (requests[1] == MPI_REQUEST_NULL && answered < to_answer) {
            MPI_Irecv(&question, 1, MPI_INT, MPI_ANY_SOURCE, LOOK, MPI_COMM_WORLD, &requests[1]);
        }
        MPI_Waitany(2, requests, &index, &status);
        if (index == 1) {
            MPI_Send(&table[question], sizeof table[question] / sizeof(int), MPI_INT, status.MPI_SOURCE, ANSWER,
                     MPI_COMM_WORLD);
            answered++;
            continue;
        }
        int sum = 0;
        for (int i = 0; i < answer.count; i++) {
            sum += 1 << answer.ranks[i];
        }
        wrong += answer.count != size || sum != (1 << size) - 1;
        first[asked++] = answer.ranks[0];
    }
}

int main(int argc, char **argv)
{
    int all_wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        keys = atoi(argv[1]);
    }
    if (size >= MOST_RANKS || keys < 1 || keys > MOST_KEYS || keys % 7 == 0) {
        fprintf(stderr, "usage: table [1 to %d keys, no multiple of 7], on fewer than %d ranks\n", MOST_KEYS, MOST_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    enter_all();
    MPI_Barrier(MPI_COMM_WORLD);
    look_up_all();
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("first:");
        for (int key = 0; key < keys; key++) {
            printf(" %d", first[key]);
        }
        printf("\n%d keys, %d wrong\n", keys, all_wrong);
    }
    MPI_Finalize();
    return rank == 0 && all_wrong != 0;
}
