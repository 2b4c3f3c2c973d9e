/* Runs the random program that belongs to a seed (see plan.h) and prints a checksum of all that was received. The same seed
 * and number of ranks give the same calls, messages and checksum in every run.
 *
 * Usage: random_mpi [seed [steps]], by default seed 1 and 60 steps. */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>

static void run_step(void)
{
    uint64_t kind = draw(100);
    struct comm *comm = &comms[draw((uint64_t)comm_count)];
    if (kind < 40) {
        step_message(comm);
    } else if (kind < 47) {
        step_persistent(comm);
    } else if (kind < 56) {
        step_sendrecv(comm);
    } else if (kind < 63) {
        step_oddity(comm);
    } else if (kind < 75) {
        step_exchange(comm);
    } else if (kind < 88) {
        step_collective(comm);
    } else if (kind < 93) {
        step_make_comm();
    } else if (kind < 95) {
        step_free_comm();
    } else {
        complete_some();
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    long steps = argc > 2 ? atol(argv[2]) : 60;
    if (world_size > MAX_RANKS) {
        fail("too many ranks");
    }
    seed_plan(seed);
    comms[0].handle = MPI_COMM_WORLD;
    comms[0].size = world_size;
    for (int i = 0; i < world_size; i++) {
        comms[0].members[i] = i;
    }
    comm_count = 1;
    void *buffer = malloc(BSEND_SPACE);
    int size = BSEND_SPACE;
    MPI_Buffer_attach(buffer, size);

    for (long step = 0; step < steps; step++) {
        run_step();
        if (draw_own(4) == 0) {
            compute();
        }
    }

    complete_on(MPI_COMM_NULL);
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
    while (comm_count > 1) {
        step_free_comm();
    }
    unsigned long long own = checksum(), total = 0;
    MPI_Reduce(&own, &total, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank == 0) {
        printf("seed %llu, %ld steps, checksum %016llx\n", (unsigned long long)seed, steps, total);
    }
    MPI_Finalize();
    return 0;
}
