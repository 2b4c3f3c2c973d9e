/* Rank 1 sends to rank 0, and between two messages overwrites shared memory that is not its own: what a wild pointer may
 * do to the recording of a debugger. Without one there is nothing to overwrite.
 *
 * Usage: overwrite zeros|ones|random|blocks [messages before [messages after]], by default 5 and 5. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 4096
#define BLOCKS (HEADER + (2 * 64 + 512 + 256 + 64 + 2 * 144) * 1024) /* where the recording's compressed blocks begin */

/* First byte of the recording's mapping; null where there is none. */
static unsigned char *recording(void)
{
    char line[4096];
    unsigned char *found = NULL;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && found == NULL && fgets(line, sizeof line, maps) != NULL) {
        if (strstr(line, "stopline-rank") != NULL) {
            found = (unsigned char *)(uintptr_t)strtoull(line, NULL, 16);
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return found;
}

static void overwrite(const char *how)
{
    unsigned char *at = recording();
    if (at == NULL) {
        return;
    }
    if (strcmp(how, "zeros") == 0) {
        memset(at, 0, HEADER);
    } else if (strcmp(how, "ones") == 0) {
        memset(at, 0xff, HEADER);
    } else if (strcmp(how, "blocks") == 0) {
        memset(at + BLOCKS + 100, 0x5a, 1000);
    } else {
        srand(7);
        for (int i = 0; i < 1024 * 1024; i++) {
            at[i] = (unsigned char)(rand() >> 8);
        }
    }
}

static int exchange(int rank, int messages)
{
    int sum = 0;
    for (int i = 0; i < messages; i++) {
        int value = i + 1;
        if (rank == 1) {
            MPI_Send(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        } else if (rank == 0) {
            MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        sum += value;
    }
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *how = argc > 1 ? argv[1] : "zeros";
    int sum = exchange(rank, argc > 2 ? atoi(argv[2]) : 5);
    if (rank == 1) {
        overwrite(how);
    }
    sum += exchange(rank, argc > 3 ? atoi(argv[3]) : 5);
    printf("rank %d: sum = %d\n", rank, sum);
    MPI_Finalize();
    return 0;
}
