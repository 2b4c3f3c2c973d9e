/* Adds with an operation of its own, which MPI calls on every rank while that is inside of MPI_Allreduce: a place that
 * a breakpoint finds and that nobody can be held at, as the call returns as soon as it is let go. */
#include <mpi.h>
#include <stdio.h>

static void combine(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

int main(int argc, char **argv)
{
    int rank, sum = 0;
    MPI_Op add;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(combine, 1, &add);
    for (int i = 0; i < 3; i++) {
        int mine = rank + i;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, add, MPI_COMM_WORLD);
    }
    MPI_Op_free(&add);
    printf("rank %d: %d\n", rank, sum);
    MPI_Finalize();
    return 0;
}
