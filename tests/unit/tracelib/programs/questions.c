/* Calls with communicators and a datatype that are none, under an error handler that counts: MPICH, where handles are
   numbers and any number can be given. */
#include <mpi.h>
#include <stdio.h>

static int heard;

static void hear(MPI_Comm* comm, int* code, ...) {
    char text[MPI_MAX_ERROR_STRING];
    int class = 0, length = 0;
    MPI_Error_class(*code, &class);
    MPI_Error_string(class, text, &length);
    ++heard;
    printf("%d: %s, %s\n", heard, text, *comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF ? "known" : "unknown");
}

int main(int argc, char** argv) {
    MPI_Errhandler handler;
    int x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Send(&x, 1, MPI_INT, 0, 0, (MPI_Comm)0xc4000777);
    MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD);
    MPI_Barrier((MPI_Comm)0xc4000fff);
    printf("heard %d\n", heard);
    MPI_Finalize();
    return heard == 3 ? 0 : 1;
}
