/* Two ranks that start: two programs at once with arguments of their own, on "missing" one program that is not there, one more when the
   first ones have gone. Each process that is started says which arguments it has and sends a number. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int child(int argc, char **argv, MPI_Comm parent)
{
    int rank, size, i, value;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("child %d of %d:", rank, size);
    for (i = 1; i < argc; ++i) {
        printf(" %s", argv[i]);
    }
    printf("\n");
    value = 10 * atoi(argv[1]) + rank;
    MPI_Send(&value, 1, MPI_INT, 0, 7, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    char *one[] = {"1", "left", NULL}, *two[] = {"2", NULL}, *three[] = {"3", "a b", NULL};
    char *commands[2], **arguments[2];
    int counts[] = {1, 2}, codes[3] = {-1, -1, -1}, rank, i, value, sum = 0, failed;
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm parent, children;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        return child(argc, argv, parent);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    commands[0] = commands[1] = argv[0];
    arguments[0] = one;
    arguments[1] = two;
    MPI_Comm_spawn_multiple(2, commands, arguments, counts, infos, 0, MPI_COMM_WORLD, &children, codes);
    for (i = 0; rank == 0 && i < 3; ++i) {
        MPI_Recv(&value, 1, MPI_INT, i, 7, children, MPI_STATUS_IGNORE);
        sum += value;
    }
    MPI_Comm_disconnect(&children);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    failed = 0;
    if (rank == 0 && argc > 1 && strcmp(argv[1], "missing") == 0) {
        failed = MPI_Comm_spawn("./no-such-program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, codes) != MPI_SUCCESS;
    }
    MPI_Comm_spawn(argv[0], three, 1, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, 0, 7, children, MPI_STATUS_IGNORE);
        printf("sum = %d, codes %d %d %d, failed %d\n", sum + value, codes[0], codes[1], codes[2], failed);
    }
    MPI_Comm_disconnect(&children);
    MPI_Finalize();
    return 0;
}
