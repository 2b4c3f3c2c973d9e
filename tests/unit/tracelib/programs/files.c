/* MPI-IO. Two ranks. Argument: a file to write. */
#include <mpi.h>

#define W MPI_COMM_WORLD

int main(int argc, char** argv) {
    int rank, x[4] = {1, 2, 3, 4};
    MPI_File f;
    MPI_Request r;
    MPI_Status s;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    MPI_File_open(W, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    MPI_File_set_size(f, 0);
    MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_at(f, 4 * rank, x, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at_all(f, 8 + 2 * rank, x, 2, MPI_INT, &s);
    MPI_File_sync(f);
    MPI_Barrier(W);
    MPI_File_seek(f, 0, MPI_SEEK_SET);
    MPI_File_read(f, x, 3, MPI_INT, &s);
    MPI_File_read_at_all_begin(f, 0, x, 4, MPI_INT);
    MPI_File_read_at_all_end(f, x, &s);
    MPI_File_iread_at(f, 8, x, 4, MPI_INT, &r);
    MPI_Wait(&r, &s);
    MPI_File_iwrite_at_all(f, 12 + rank, x, 1, MPI_INT, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    MPI_Finalize();
    return 0;
}
