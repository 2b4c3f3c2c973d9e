/* Counts the ways to put queens on a board, by a search in which idle ranks take work from others. Who takes from whom, and so
 * who finds which, is different each time: every rank prints from whom it got work. How many ways there are is known.
 *
 * That all is done is known by a credit. All of it is with the first board; who gives a board away gives half of its own
 * with it, who has no board left gives it back to rank 0. When all is back, nobody has work.
 *
 * Usage: search [queens], 6 to 10, by default 8. */
#include "delay.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_BOARDS = 200, SHOWN = 16, ASK = 1, GIVE = 2, REFUSE = 3, CREDIT = 4, OVER = 5 };

/* A board whose first rows are filled: what is attacked in the next row, as bits. */
struct board {
    int64_t credit; /* with it, when it is given away */
    uint32_t row, columns, left, right;
};

static const int ways_to_put[] = {[6] = 4, [7] = 40, [8] = 92, [9] = 352, [10] = 724};
static const int64_t all_credit = (int64_t)1 << 40;

static int rank, size, queens = 8;
static struct board boards[MOST_BOARDS];
static int board_count;
static int64_t credit;
static int found;               /* ways, by this rank */
static int got, refused;        /* answers to what it has asked */
static int got_from[SHOWN];
static int asking;              /* an answer is still to come */
static int over;

static void search_one(void)
{
    struct board board = boards[--board_count];
    if ((int)board.row == queens) {
        found++;
        return;
    }
    for (int column = 0; column < queens; column++) {
        uint32_t bit = 1u << column;
        if (((board.columns | board.left | board.right) & bit) == 0) {
            boards[board_count++] = (struct board){.row = board.row + 1,
                                                   .columns = board.columns | bit,
                                                   .left = (board.left | bit) << 1,
                                                   .right = (board.right | bit) >> 1};
        }
    }
}

/* The oldest board has the most below it. */
static void answer(int who)
{
    if (board_count < 2 || credit < 2) {
        MPI_Send(NULL, 0, MPI_BYTE, who, REFUSE, MPI_COMM_WORLD);
        return;
    }
    struct board board = boards[0];
    board.credit = credit / 2;
    credit -= board.credit;
    memmove(boards, boards + 1, (size_t)--board_count * sizeof boards[0]);
    random_pause(500);
    MPI_Send(&board, sizeof board, MPI_BYTE, who, GIVE, MPI_COMM_WORLD);
}

static void take_board(const struct board *board, int from)
{
    if (got < SHOWN) {
        got_from[got] = from;
    }
    got++;
    credit += board->credit;
    boards[board_count++] = *board;
}

static void receive_one(void)
{
    struct board board;
    MPI_Status status;
    MPI_Recv(&board, sizeof board, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    switch (status.MPI_TAG) {
    case ASK:
        answer(status.MPI_SOURCE);
        break;
    case GIVE:
        asking = 0;
        take_board(&board, status.MPI_SOURCE);
        break;
    case REFUSE:
        asking = 0;
        refused++;
        break;
    case CREDIT:
        credit += board.credit;
        break;
    default:
        over = 1;
    }
}

static void receive_what_is_there(void)
{
    int flag = 1;
    while (flag) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        if (flag) {
            receive_one();
        }
    }
}

static void be_idle(void)
{
    if (rank == 0 && credit == all_credit) {
        for (int other = 1; other < size; other++) {
            MPI_Send(NULL, 0, MPI_BYTE, other, OVER, MPI_COMM_WORLD);
        }
        over = 1;
        return;
    }
    if (rank != 0 && credit > 0) {
        struct board back = {.credit = credit};
        credit = 0;
        MPI_Send(&back, sizeof back, MPI_BYTE, 0, CREDIT, MPI_COMM_WORLD);
    }
    if (!asking) {
        random_pause(500);
        MPI_Send(NULL, 0, MPI_BYTE, (rank + 1 + (got + refused) % (size - 1)) % size, ASK, MPI_COMM_WORLD);
        asking = 1;
    }
    receive_one();
}

/* Somebody may still wait for an answer: who has all of his own says so, and goes when all have said it. */
static void answer_the_last(void)
{
    MPI_Request barrier;
    int all = 0;
    while (asking) {
        receive_one();
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    while (!all) {
        receive_what_is_there();
        MPI_Test(&barrier, &all, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        queens = atoi(argv[1]);
    }
    if (size < 2 || queens < 6 || queens > 10) {
        fprintf(stderr, "usage: search [6 to 10 queens], on two ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank == 0) {
        credit = all_credit;
        board_count = 1; /* the empty one */
    }
    while (!over) {
        if (board_count > 0) {
            search_one();
            receive_what_is_there();
        } else {
            be_idle();
        }
    }
    answer_the_last();
    printf("rank %d: %d ways, %d refused, work from", rank, found, refused);
    for (int i = 0; i < got && i < SHOWN; i++) {
        printf(" %d", got_from[i]);
    }
    printf("\n");
    fflush(stdout);
    MPI_Reduce(&found, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d ways to put %d queens\n", all, queens);
    }
    MPI_Finalize();
    return rank == 0 && all != ways_to_put[queens];
}
