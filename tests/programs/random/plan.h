/* A random but deterministic and deadlock-free MPI program, made from a seed.
 *
 * All ranks draw the same plan, a list of steps, from the same generator. Whatever a rank does in a step depends only on
 * what others do in the same or in an earlier step, and within a step never in a circle, even if every send waits for its
 * receive. Requests may stay open over many steps. So the program ends, and each rank makes the same calls, with the same
 * matches, in every run. What each rank draws for itself alone (in which order it completes its requests, how long it
 * computes) comes from a second generator. */
#ifndef RANDOM_PLAN_H
#define RANDOM_PLAN_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_RANKS = 64, MAX_COMMS = 6, MAX_OPEN = 48, BSEND_SPACE = 4 << 20 };

/* A communicator as every rank knows it, member or not. Members are world ranks in the order of the communicator. */
struct comm {
    MPI_Comm handle; /* MPI_COMM_NULL here if this rank is no member */
    int size;
    int members[MAX_RANKS];
    int remote_size; /* > 0: an intercommunicator; `members` and `remote` are then the two sides, the same on all ranks */
    int remote[MAX_RANKS];
};

/* A message of the plan. */
struct message {
    int from, to; /* world ranks */
    int tag;
    int bytes;
    uint64_t id; /* its contents follow from it */
};

/* A request that has not been completed yet, with what its buffer must hold afterwards. */
struct open_request {
    MPI_Request request;
    MPI_Comm comm;
    unsigned char *buffer;   /* freed when complete */
    unsigned char *expected; /* NULL: nothing to compare */
    size_t bytes;
    void *more; /* a second buffer to free, or NULL */
};

extern int world_rank, world_size;
extern struct comm comms[MAX_COMMS]; /* 0 is the world */
extern int comm_count;

/* plan.c */
void seed_plan(uint64_t seed);
uint64_t draw(uint64_t below);     /* from the plan: all ranks alike */
uint64_t draw_own(uint64_t below); /* this rank's own */
int draw_bytes(void);
uint64_t next_id(void);
int rank_in(const int *members, int count, int world); /* -1: none */
unsigned char *contents_of(uint64_t id, size_t bytes); /* to be freed */
void account(const unsigned char *bytes, size_t count); /* into the checksum */
uint64_t checksum(void);
void fail(const char *what);
void compute(void);
/* Pick a pair of different members that can talk, as world ranks; 0 if there is none. */
int draw_pair(const struct comm *comm, int *from, int *to);
int peer_rank(const struct comm *comm, int from_world, int to_world); /* `to` as `from` has to name it */

/* open.c */
void keep_open(struct open_request request);
void complete_some(void);
void complete_on(MPI_Comm comm); /* all that belong to it; MPI_COMM_NULL: all */

/* p2p.c, exchange.c, collective.c, communicator.c: one step each */
void step_message(const struct comm *comm);
void step_persistent(const struct comm *comm);
void step_sendrecv(const struct comm *comm);
void step_oddity(const struct comm *comm);
void step_exchange(const struct comm *comm);
void step_collective(const struct comm *comm);
void step_make_comm(void);
void step_free_comm(void);

#endif
