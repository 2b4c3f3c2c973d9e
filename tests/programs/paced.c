/* Ranks 1 and 2 send to rank 0, which takes what comes from whoever sends. All look at a file in memory that they share,
 * which says how:
 *   PACED   the two take turns, and each sends when rank 0 has received what was sent before
 *   FLOOD   rank 0 receives nothing before both have sent all
 *   SLOW    rank 0 receives slowly, and the others send as fast as they can
 * Rank 0 notes there the most messages of one rank that had been sent and not received.
 *
 * Usage: paced FILE, with 3 ranks; FILE holds struct board, its `how` set. */
#include "paced.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int file = open(argv[1], O_RDWR);
    volatile struct board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (board == MAP_FAILED) {
        perror(argv[1]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) {
        while (board->how == FLOOD && (board->sent[1] < MESSAGES || board->sent[2] < MESSAGES)) {
            usleep(100);
        }
        for (int i = 0; i < 2 * MESSAGES; i++) {
            MPI_Status status;
            int value;
            if (board->how == SLOW) {
                usleep(1000);
            }
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
            for (int one = 1; one <= 2; one++) {
                const int waiting = board->sent[one] - board->received[one];
                board->most = waiting > board->most ? waiting : board->most;
            }
            board->received[status.MPI_SOURCE]++;
            sum = sum * 3 + value * status.MPI_SOURCE;
        }
        printf("%d\n", sum);
    } else if (rank <= 2) {
        for (int i = 0; i < MESSAGES; i++) {
            while (board->how == PACED && (board->received[rank] < i || board->received[3 - rank] < i + rank - 1)) {
                usleep(100);
            }
            MPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
            board->sent[rank]++;
        }
    }
    MPI_Finalize();
    return 0;
}
