/* The last rank sleeps and never reaches MPI_Init; the others wait for it there.
 *
 * Usage: neverinit [seconds], by default 600: then that rank exits with code 4. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static int number_from(const char *const *names)
{
    for (; *names != NULL; names++) {
        const char *text = getenv(*names);
        if (text != NULL) {
            return atoi(text);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", NULL};
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL};
    int seconds = argc > 1 ? atoi(argv[1]) : 600;
    if (number_from(ranks) == number_from(sizes) - 1) {
        for (int i = 0; i < seconds; i++) {
            sleep(1);
        }
        return 4;
    }
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
