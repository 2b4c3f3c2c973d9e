/* How many pairs of line segments cross. Every rank makes the same segments and looks at its share of the pairs; rank 0 adds
 * up the counts in the order of the ranks, so no message races.
 *
 * Usage: line [segments], by default 1000. */
#include "seconds.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct point {
    int64_t x, y;
};
struct segment {
    struct point from, to;
};

static uint32_t state = 1;

static int64_t chance(int below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % (uint32_t)below;
}

static int side(struct point a, struct point b, struct point c)
{
    const int64_t area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    return (area > 0) - (area < 0);
}

static int crosses(const struct segment *a, const struct segment *b)
{
    return side(a->from, a->to, b->from) * side(a->from, a->to, b->to) < 0 &&
           side(b->from, b->to, a->from) * side(b->from, b->to, a->to) < 0;
}

static long count(const struct segment *segments, int size, int first, int step)
{
    long found = 0;
    for (int i = first; i < size; i += step) {
        for (int j = i + 1; j < size; j++) {
            found += crosses(&segments[i], &segments[j]);
        }
    }
    return found;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    note_seconds(rank);
    const int size = argc > 1 ? atoi(argv[1]) : 1000;
    if (size < 1) {
        fprintf(stderr, "usage: line [segments]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    struct segment *segments = malloc(sizeof *segments * (size_t)size);
    for (int i = 0; i < size; i++) {
        const struct point from = {chance(10000), chance(10000)};
        const struct point by = {chance(1000) - 500, chance(1000) - 500};
        segments[i].from = from;
        segments[i].to.x = from.x + by.x;
        segments[i].to.y = from.y + by.y;
    }
    long found = count(segments, size, rank, ranks);
    int code = 0;
    if (rank != 0) {
        MPI_Send(&found, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
    } else {
        for (int from = 1; from < ranks; from++) {
            long next;
            MPI_Recv(&next, 1, MPI_LONG, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            found += next;
        }
        code = found != count(segments, size, 0, 1);
        printf("%d segments cross %ld times, %s\n", size, found, code == 0 ? "right" : "WRONG");
    }
    free(segments);
    note_seconds(rank);
    MPI_Finalize();
    return code;
}
