/* Dynamic processes. Two ranks; arguments: the command that starts a child, and its arguments. Children are told by
   having a parent. */
#include <mpi.h>
#include <string.h>

int main(int argc, char** argv) {
    int rank, i, x = 0;
    MPI_Comm parent, first, second, both;
    char port[MPI_MAX_PORT_NAME];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Recv(&x, 1, MPI_INT, 0, 5, parent, MPI_STATUS_IGNORE);
        MPI_Intercomm_merge(parent, 1, &both);
        MPI_Barrier(both);
        MPI_Comm_free(&both);
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    for (i = 0; i < 2; ++i) {
        MPI_Comm* children = i == 0 ? &first : &second;
        MPI_Comm_spawn(argv[1], argv + 2, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE);
        if (rank == 0) {
            MPI_Send(&x, 1, MPI_INT, 0, 5, *children);
        }
        MPI_Intercomm_merge(*children, 0, &both);
        MPI_Barrier(both);
        MPI_Comm_free(&both);
    }
    MPI_Comm_disconnect(&second);
    MPI_Comm_disconnect(&first);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
    MPI_Finalize();
    return 0;
}
