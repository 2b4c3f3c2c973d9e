/* Rank 1 has two blocks of memory, one as large as a file says, and sends from both in the order of their addresses, as a
 * program does that keeps what it works on sorted by address.
 *
 * Usage: byaddress FILE shown|hidden|sent|plain
 *   shown   a message from each block before
 *   hidden  two messages before, from neither
 *   sent    as shown, and then in the order of their making; one of the messages holds the address of a block. More follow
 *   plain   the file says nothing of memory, but which tag comes first */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANNOUNCED = 9, MORE = 8, MESSAGES = 5000 };

/* More than malloc ever takes from the heap, and more than the largest block that the file may ask for. */
static const size_t TABLE_BYTES = (size_t)48 << 20;

static size_t number_in(const char *path)
{
    static char text[32]; /* no memory of malloc's */
    static char buffer[64];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    setvbuf(file, buffer, _IOFBF, sizeof buffer);
    if (fgets(text, sizeof text, file) == NULL) {
        exit(1);
    }
    fclose(file);
    return strtoul(text, NULL, 10);
}

static void send_of(const int *block, int tag)
{
    MPI_Send(block, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
}

static void work(size_t number, const char *how)
{
    if (strcmp(how, "plain") == 0) {
        const int nothing = 0;
        send_of(&nothing, number == 1 ? 1 : 2);
        send_of(&nothing, number == 1 ? 2 : 1);
        return;
    }
    int *input = malloc(number);
    int *table = malloc(TABLE_BYTES);
    if (input == NULL || table == NULL) {
        exit(1);
    }
    *input = 1;
    *table = 2;
    const int one = 1, two = 2;
    const int hidden = strcmp(how, "hidden") == 0;
    send_of(hidden ? &one : input, ANNOUNCED);
    send_of(hidden ? &two : table, ANNOUNCED);
    if (strcmp(how, "sent") == 0) {
        uintptr_t address = (uintptr_t)input;
        send_of(table, 1);
        MPI_Send(&address, sizeof address, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        for (int i = 0; i < MESSAGES; i++) {
            send_of(&i, MORE);
        }
    } else if ((uintptr_t)input < (uintptr_t)table) {
        send_of(input, 1);
        send_of(table, 2);
    } else {
        send_of(table, 2);
        send_of(input, 1);
    }
    free(table);
    free(input);
}

int main(int argc, char **argv)
{
    if (getenv("BYADDRESS_THREADS") != NULL) { /* one thread calls MPI all the same */
        int provided;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    } else {
        MPI_Init(&argc, &argv);
    }
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank == 1) {
        work(number_in(argv[1]), argv[2]);
    } else if (rank == 0) {
        int announced[2], of[2][2];
        MPI_Request requests[2];
        MPI_Irecv(of[0], sizeof of[0], MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(of[1], sizeof of[1], MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[1]);
        for (int i = 0; i < 2 && strcmp(argv[2], "plain") != 0; i++) {
            MPI_Recv(&announced[i], 1, MPI_INT, 1, ANNOUNCED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < MESSAGES && strcmp(argv[2], "sent") == 0; i++) {
            MPI_Recv(&announced[0], 1, MPI_INT, 1, MORE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
