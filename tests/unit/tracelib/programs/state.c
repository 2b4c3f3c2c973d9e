/* What a program can see of the library: errno, the floating-point environment, signals, error codes. One rank. Prints
   what must be the same without the library. */
#include <mpi.h>
#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int i, x = 0, code, class = 0, changed = 0;
    sigset_t blocked;
    MPI_Init(&argc, &argv);
    for (i = 1; i < 32; ++i) {
        struct sigaction action;
        sigaction(i, 0, &action);
        printf("signal %d %s\n", i, action.sa_handler == SIG_DFL ? "default" : action.sa_handler == SIG_IGN ? "ignored"
                                                                                                             : "handled");
    }
    pthread_sigmask(SIG_BLOCK, 0, &blocked);
    for (i = 1; i < 32; ++i) {
        printf("%d", sigismember(&blocked, i));
    }
    printf("\n");
    feclearexcept(FE_ALL_EXCEPT);
    fesetround(FE_UPWARD);
    errno = 77;
    /* Enough for some blocks, for the file to grow and for requests that need more memory. */
    for (i = 0; i < 300000; ++i) {
        MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, i % 3000, MPI_COMM_WORLD);
        changed += errno != 77 || fegetround() != FE_UPWARD || fetestexcept(FE_ALL_EXCEPT) != 0;
    }
    fesetround(FE_TONEAREST);
    printf("changed %d\n", changed);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    printf("error %d\n", class);
    MPI_Finalize();
    return 0;
}
