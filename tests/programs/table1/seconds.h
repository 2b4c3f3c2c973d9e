/* How long rank 0 computed, for who asks by setting TABLE1_SECONDS. */
#ifndef SECONDS_H
#define SECONDS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* To be called behind MPI_Init, and once more before MPI_Finalize; that prints the time between. */
static inline void note_seconds(int rank)
{
    static double begin = -1;
    const double now = MPI_Wtime();
    if (begin < 0) {
        begin = now;
    } else if (rank == 0 && getenv("TABLE1_SECONDS") != NULL) {
        fprintf(stderr, "seconds: %.6f\n", now - begin);
    }
}

#endif
