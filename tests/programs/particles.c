/* Particles walk at random along a line of cells until they are absorbed. Each rank has a part of the line; a particle that
 * leaves it is sent to the rank that has the next part. Every particle has random numbers of its own, so the visits of all
 * cells are known: rank 0 computes them alone as well and compares. In which order particles come is different each time;
 * every rank prints whom the first ones came from.
 *
 * Usage: particles [number of particles], by default 60. */
#include "delay.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 4 /* of a rank */, MOST_RANKS = 32, AT_ONCE = 4, SHOWN = 12, PARTICLE = 1, ABSORBED = 2, FINISHED = 3 };

struct particle {
    uint64_t random;
    int64_t cell;
};

static int rank, size;
static int particles = 60;
static int visits[CELLS * MOST_RANKS];
static int arrived;              /* particles from other ranks */
static int arrived_from[SHOWN];  /* the first of them */
static int absorbed;             /* here, not yet told to rank 0 */
static int absorbed_in_all;      /* known to rank 0 */

static struct particle new_particle(int number)
{
    struct particle particle = {.random = (uint64_t)number * 0x9e3779b97f4a7c15u + 1, .cell = number % (CELLS * size)};
    return particle;
}

/* One step; 0: it was absorbed. */
static int step(struct particle *particle)
{
    particle->random ^= particle->random << 13;
    particle->random ^= particle->random >> 7;
    particle->random ^= particle->random << 17;
    uint64_t number = particle->random >> 20;
    if (number % 16 == 0) {
        return 0;
    }
    particle->cell += (number >> 4) % 2 == 0 ? 1 : -1;
    if (particle->cell < 0 || particle->cell >= CELLS * size) {
        particle->cell += particle->cell < 0 ? 2 : -2; /* back from the wall */
    }
    return 1;
}

/* Follows a particle as long as it is here. It goes as a short message, which MPI takes at once. */
static void follow(struct particle particle)
{
    do {
        if (particle.cell / CELLS != rank) {
            random_pause(400);
            MPI_Send(&particle, sizeof particle, MPI_BYTE, (int)(particle.cell / CELLS), PARTICLE, MPI_COMM_WORLD);
            return;
        }
        visits[particle.cell]++;
    } while (step(&particle));
    absorbed++;
}

static void take(const struct particle *particle, int from)
{
    if (arrived < SHOWN) {
        arrived_from[arrived] = from;
    }
    arrived++;
    follow(*particle);
}

/* What rank 0 does to know when all is over; then it tells the others. */
static int all_absorbed(void)
{
    int flag = 1;
    absorbed_in_all += absorbed;
    absorbed = 0;
    while (flag) {
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, ABSORBED, MPI_COMM_WORLD, &flag, &status);
        if (flag) {
            int more;
            MPI_Recv(&more, 1, MPI_INT, status.MPI_SOURCE, ABSORBED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            absorbed_in_all += more;
        }
    }
    if (absorbed_in_all < particles) {
        return 0;
    }
    for (int other = 1; other < size; other++) {
        MPI_Send(NULL, 0, MPI_INT, other, FINISHED, MPI_COMM_WORLD);
    }
    return 1;
}

static int is_finished(void)
{
    int flag;
    if (absorbed > 0) {
        MPI_Send(&absorbed, 1, MPI_INT, 0, ABSORBED, MPI_COMM_WORLD);
        absorbed = 0;
    }
    MPI_Iprobe(0, FINISHED, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (flag) {
        MPI_Recv(NULL, 0, MPI_INT, 0, FINISHED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return flag;
}

static void exchange(void)
{
    struct particle incoming[AT_ONCE];
    MPI_Request requests[AT_ONCE];
    MPI_Status statuses[AT_ONCE];
    int indices[AT_ONCE], count;
    for (int i = 0; i < AT_ONCE; i++) {
        MPI_Irecv(&incoming[i], sizeof incoming[i], MPI_BYTE, MPI_ANY_SOURCE, PARTICLE, MPI_COMM_WORLD, &requests[i]);
    }
    while (!(rank == 0 ? all_absorbed() : is_finished())) {
        random_pause(200);
        MPI_Testsome(AT_ONCE, requests, &count, indices, statuses);
        for (int i = 0; i < count; i++) {
            struct particle particle = incoming[indices[i]];
            MPI_Irecv(&incoming[indices[i]], sizeof particle, MPI_BYTE, MPI_ANY_SOURCE, PARTICLE, MPI_COMM_WORLD,
                      &requests[indices[i]]);
            take(&particle, statuses[i].MPI_SOURCE);
        }
    }
    for (int i = 0; i < AT_ONCE; i++) {
        MPI_Cancel(&requests[i]);
    }
    MPI_Waitall(AT_ONCE, requests, statuses);
}

static int same_as_alone(const int *found)
{
    static int alone[CELLS * MOST_RANKS];
    for (int i = 0; i < particles; i++) {
        struct particle particle = new_particle(i);
        do {
            alone[particle.cell]++;
        } while (step(&particle));
    }
    return memcmp(alone, found, sizeof alone) == 0;
}

int main(int argc, char **argv)
{
    static int all[CELLS * MOST_RANKS];
    int wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        particles = atoi(argv[1]);
    }
    if (size > MOST_RANKS) {
        fprintf(stderr, "%d ranks at most\n", MOST_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < particles; i++) {
        struct particle particle = new_particle(i);
        if (particle.cell / CELLS == rank) {
            follow(particle);
        }
    }
    exchange();
    printf("rank %d: %d came, first from", rank, arrived);
    for (int i = 0; i < arrived && i < SHOWN; i++) {
        printf(" %d", arrived_from[i]);
    }
    printf("\n");
    fflush(stdout);
    MPI_Reduce(visits, all, CELLS * MOST_RANKS, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        wrong = !same_as_alone(all);
        printf("%d particles absorbed, visits %s\n", absorbed_in_all, wrong ? "WRONG" : "right");
    }
    MPI_Finalize();
    return wrong;
}
