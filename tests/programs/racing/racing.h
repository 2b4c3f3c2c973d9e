/* A random MPI program whose messages race, made from a seed.
 *
 * All ranks draw the same plan, a list of phases, from one generator. In a phase every rank knows how its part ends,
 * whatever comes in which order: so many messages, or a word that it is over. Nobody waits for what is sent in a later
 * phase, and within a phase a send that may block is taken by somebody who receives whatever comes. So the program ends.
 * But who is received from first, how often a poll fails, which request is complete first, whether a cancel comes in time:
 * that is left to chance, and what a rank does next (whom it answers, how, with what) is drawn from a generator of its own
 * that all it has received has gone into. Every rank keeps a checksum of what it received, in order. */
#ifndef RACING_H
#define RACING_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MAX_RANKS = 32,
    MAX_COMMS = 6,
    WINDOW = 12,      /* requests in one list */
    MAX_BYTES = 9000, /* of a message, with its header */
    BSEND_SPACE = 4 << 20,
    TAGS = 8          /* that a phase has for itself */
};

/* A communicator as every rank knows it, member or not. Participants are numbered through; of an intercommunicator those
 * of the first side come first. */
struct comm {
    MPI_Comm handle; /* MPI_COMM_NULL here if this rank is no member */
    int count;
    int first_side; /* 0: no intercommunicator */
    int members[MAX_RANKS]; /* world ranks of the participants */
    int me;                 /* participant, -1: no member */
};

/* What every message begins with; what follows is made from `id`. */
struct header {
    uint64_t id;
    uint64_t value; /* what the phase wants to say */
    int32_t kind;
    int32_t bytes; /* with the header */
};

/* A message that has been received. */
struct received {
    int from; /* participant */
    int tag;
    struct header header;
};

enum slot_kind { NOTHING, RECEIVE, SEND };
/* Requests that are waited for together; slots without one hold the null request. */
struct window {
    MPI_Request requests[WINDOW];
    enum slot_kind kinds[WINDOW];
    int active[WINDOW]; /* 0 while there is a request: persistent and not started */
    int persistent[WINDOW];
    int sources[WINDOW], tags[WINDOW]; /* of receives, as they were asked for */
    unsigned char *buffers[WINDOW];
};
/* What one call has completed. */
struct completion {
    int count;
    int indices[WINDOW];
    MPI_Status statuses[WINDOW];
};

extern int world_rank, world_size;
extern struct comm comms[MAX_COMMS]; /* 0 is the world */
extern int comm_count;

/* draw.c */
void seed_plan(uint64_t seed);
void seed_phase(uint64_t seed);
uint64_t draw(uint64_t below);       /* from the plan: all ranks alike */
uint64_t draw_phase(uint64_t below); /* the same for the members of a phase */
uint64_t draw_own(uint64_t below);   /* this rank's own, of what it has received */
uint64_t mix(uint64_t value);
void note(uint64_t value); /* into the checksum, and into what this rank will draw */
uint64_t checksum(void);
int draw_bytes(void); /* this rank's own */
void fill_message(unsigned char *buffer, int kind, uint64_t value, int bytes);
struct header check_message(const unsigned char *buffer, int bytes); /* notes it as well */
int sender_of(const struct header *header); /* world rank */
void fail(const char *what);

/* jitter.c */
void read_jitter(void);
void jitter(void);

/* comms.c */
void make_comms(void);
void free_comms(void);
int can_talk(const struct comm *comm, int from, int to);
int name_of(const struct comm *comm, int participant);   /* rank to call it by */
int participant_of(const struct comm *comm, int source); /* the other way round */

/* window.c */
extern unsigned long failed_polls, messages_received;
void poll_failed(int *failures); /* counts it, and leaves the others some time */
void note_polls(int failures);
void clear_window(struct window *window);
int active_in(const struct window *window, enum slot_kind kind);
int active_slot(const struct window *window, enum slot_kind kind); /* a drawn one */
int add_send(struct window *window, MPI_Request request, unsigned char *buffer, int persistent); /* 0: no room */
/* Posts as many as there is room for, some of them persistent; returns how many. */
int add_receives(struct window *window, const struct comm *comm, int count, int source, int tag);
/* Completes one or more of those that are active. `any`: only by ways that do not wait for a certain one. */
void complete_some(struct window *window, int any, struct completion *done);
void complete_slot(struct window *window, int slot, struct completion *done); /* this one */
/* What has become of a receive that is complete; 0: it was cancelled. */
int take_receive(struct window *window, const struct comm *comm, int slot, const MPI_Status *status,
                 struct received *got);
void drop_send(struct window *window, int slot); /* that is complete */
void cancel_receives(struct window *window, const struct comm *comm); /* no message can come any more */
void close_window(struct window *window); /* when nothing is active: frees what is left */

/* send.c; `may_block`: somebody receives it whatever else he waits for */
void send_message(const struct comm *comm, int to, int tag, int kind, uint64_t value, int bytes, int may_block);
void send_synchronous(const struct comm *comm, int to, int tag, int kind, uint64_t value, int bytes);
/* Puts open ones into the window, where nothing may wait for a certain one of them as long as there is more to receive. */
void lend_sends(struct window *window, int most);
void take_back_sends(struct window *window);
void poll_sends(void);   /* once */
void finish_sends(void); /* all */
void attach_buffer(void);
void detach_buffer(void);
void free_buried(void); /* buffers of freed requests: all messages have been received */

/* receive.c */
struct received note_received(const struct comm *comm, const unsigned char *buffer, const MPI_Status *status);
/* One message, by a way that is drawn. `poll_too` (or NULL) is called between failed polls. */
struct received receive_one(const struct comm *comm, int source, int tag, void (*poll_too)(void));
void receive_many(const struct comm *comm, int count, int source, int tag);

/* flow.c, cancel.c, errors.c, dynamic.c, collective.c: what a member does in a phase; `tag` is the first of TAGS */
void phase_traffic(const struct comm *comm, int tag);
void phase_sendrecv(const struct comm *comm, int tag);
/* Some send, the others receive: how many messages go to each from this rank; returns how many are for it. */
int draw_counts(const struct comm *comm, int most, int *to_send);
void phase_cancel(const struct comm *comm, int tag);
void phase_freed(const struct comm *comm, int tag);
void phase_errors(const struct comm *comm, int tag);
void phase_servers(const struct comm *comm, int tag);
void phase_tokens(const struct comm *comm, int tag);
void phase_exchange(const struct comm *comm, int tag);
void phase_collective(const struct comm *comm);
void synchronise(const struct comm *comm); /* nobody leaves before all have come */

#endif
