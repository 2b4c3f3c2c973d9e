/* Rank 0 sends `count` messages to rank 1, by every kind of send in turn and of every kind of data: one piece of memory, a
 * type with gaps, a persistent request. The gaps, and the buffer of a receive, hold what is another thing in each run.
 *
 * Usage: payload COUNT [AT]   AT: the message with this number holds the number of the process */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 64 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, count = atoi(argv[1]), at = argc > 2 ? atoi(argv[2]) : -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int data[WORDS], pid = (int)getpid();
    for (int i = 0; i < WORDS; i++) {
        data[i] = i % 2 != 0 ? pid : i; /* every second one is a gap */
    }
    MPI_Datatype gappy;
    MPI_Type_vector(WORDS / 2, 1, 2, MPI_INT, &gappy);
    MPI_Type_commit(&gappy);
    int plain[2] = {0, 0}, kept[2] = {0, 0};
    MPI_Request persistent;
    if (rank == 0) {
        MPI_Send_init(kept, 2, MPI_INT, 1, 0, MPI_COMM_WORLD, &persistent);
    }
    for (int i = 0; i < count; i++) {
        if (rank == 1) {
            MPI_Recv(data, WORDS, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            continue;
        }
        plain[0] = i;
        plain[1] = i == at ? pid : 0;
        if (i % 1000 == 1) {
            data[0] = i;
            data[2] = plain[1];
            MPI_Ssend(data, 1, gappy, 1, 0, MPI_COMM_WORLD);
        } else if (i % 1000 == 2) {
            kept[0] = i;
            kept[1] = plain[1];
            MPI_Start(&persistent);
            MPI_Wait(&persistent, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(plain, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
        }
    }
    if (rank == 0) {
        MPI_Request_free(&persistent);
    }
    MPI_Type_free(&gappy);
    MPI_Bcast(plain, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
