/* Runs the racing programs (racing.h) that belong to some seeds, one after the other. After each one every rank prints what it
 * has received; two runs print the same where all that was left to chance came out the same.
 *
 * Usage: racing [first seed [number of seeds [phases]]], by default seed 1 alone with 8 phases. RACING_JITTER (jitter.c)
 * delays the ranks at random. */
#include "racing.h"

#include <stdio.h>
#include <stdlib.h>

int world_rank, world_size;
struct comm comms[MAX_COMMS];
int comm_count;

static void run_phase(int number)
{
    uint64_t kind = draw(100);
    const struct comm *comm = &comms[draw((uint64_t)comm_count)];
    uint64_t seed = mix(draw(UINT64_MAX));
    int tag = 100 + number * TAGS;
    if (comm->me < 0) {
        return;
    }
    seed_phase(seed);
    if (kind < 28) {
        phase_traffic(comm, tag);
    } else if (kind < 36) {
        phase_sendrecv(comm, tag);
    } else if (kind < 50) {
        phase_cancel(comm, tag);
    } else if (kind < 58) {
        phase_freed(comm, tag);
    } else if (kind < 73) {
        phase_servers(comm, tag);
    } else if (kind < 83) {
        phase_tokens(comm, tag);
    } else if (kind < 90) {
        phase_exchange(comm, tag);
    } else if (kind < 95) {
        phase_errors(comm, tag);
    } else {
        phase_collective(comm);
    }
    if (draw_own(3) == 0) {
        finish_sends();
    }
}

static void run_seed(uint64_t seed, int phases)
{
    seed_plan(seed);
    failed_polls = 0;
    messages_received = 0;
    attach_buffer();
    make_comms();
    for (int i = 0; i < phases; i++) {
        run_phase(i);
    }
    finish_sends();
    detach_buffer();
    MPI_Barrier(MPI_COMM_WORLD);
    free_buried();
    free_comms();
    note((uint64_t)failed_polls);
    printf("seed %llu rank %d: %lu messages, %lu failed polls, checksum %016llx\n", (unsigned long long)seed, world_rank,
           messages_received, failed_polls, (unsigned long long)checksum());
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (getenv("RACING_THREADS") != NULL) { /* one thread calls MPI all the same */
        int provided;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
        if (provided != MPI_THREAD_MULTIPLE) {
            fail("no MPI_THREAD_MULTIPLE");
        }
    } else {
        MPI_Init(&argc, &argv);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int phases = argc > 3 ? atoi(argv[3]) : 8;
    if (world_size > MAX_RANKS) {
        fail("too many ranks");
    }
    read_jitter();
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        run_seed(seed, phases);
    }
    MPI_Finalize();
    return 0;
}
