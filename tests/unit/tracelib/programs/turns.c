/* Two threads call MPI in turns, which a mutex decides: the order of the events must be that of the turns. One rank. */
#include <mpi.h>
#include <pthread.h>

enum { kTurns = 400 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void* work(void* argument) {
    int own = *(int*)argument;
    for (;;) {
        int now;
        pthread_mutex_lock(&lock);
        while (turn < kTurns && turn % 2 != own) {
            pthread_cond_wait(&changed, &lock);
        }
        now = turn;
        pthread_mutex_unlock(&lock);
        if (now >= kTurns) {
            return 0;
        }
        MPI_Send(&now, 1, MPI_INT, MPI_PROC_NULL, now, MPI_COMM_WORLD);
        pthread_mutex_lock(&lock);
        turn = now + 1;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
}

int main(int argc, char** argv) {
    pthread_t threads[2];
    int provided, i, numbers[2] = {0, 1};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 77;
    }
    for (i = 0; i < 2; ++i) {
        pthread_create(&threads[i], 0, work, &numbers[i]);
    }
    for (i = 0; i < 2; ++i) {
        pthread_join(threads[i], 0);
    }
    MPI_Finalize();
    return 0;
}
