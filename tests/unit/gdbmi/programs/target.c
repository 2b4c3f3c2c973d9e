/* What the session tests attach to. The modes end or go on as their names say. It runs on when `go` is set to 1. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

struct Point {
    int x;
    double y[3];
    char name[12];
};

volatile int go = 0;
int total = 0;

int user_function(int a); /* in the library of the user's */

int add(int a, int b) {
    int sum = a + b;
    total += sum;
    return sum; /* line: add returns */
}

static void loop(int rounds) {
    struct Point point = {3, {1.5, 2.5, 3.5}, "caf\303\251 \"q\""};
    const char* text = "a\\b\tc";
    for (int i = 0; i < rounds; ++i) { /* line: loop head */
        point.x = add(i, point.x);     /* line: loop calls */
        usleep(2000);
    }
    printf("%s %d\n", text, point.x);
}

static void crash(void) {
    int* nowhere = NULL;
    *nowhere = 1; /* line: crash */
}

static void plugin(const char* path) {
    void* library = dlopen(path, RTLD_NOW);
    int (*function)(int) = library ? (int (*)(int))dlsym(library, "plugin_function") : NULL;
    if (!function) {
        exit(9);
    }
    total = function(20);
}

static volatile int spinning;

void turn(void) { usleep(1000); }

void* spin(void* unused) {
    (void)unused;
    spinning = 1;
    for (;;) {
        turn();
    }
}

static void useSignals(void) {
    raise(SIGUSR1);
    raise(SIGRTMIN + 3);
    total = 77;
}

static void ignoreSignal(int number) { total += number; }

void block(void) {
    for (;;) {
        pause();
    }
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "loop";
    alarm(300); /* never left behind */
    setvbuf(stdout, NULL, _IONBF, 0);
    signal(SIGUSR1, ignoreSignal);
    signal(SIGRTMIN + 3, ignoreSignal);
    if (strcmp(mode, "threads") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, spin, NULL);
        while (!spinning) {
            usleep(1000);
        }
    }
    puts("ready");
    while (!go) {
        usleep(1000); /* line: waiting */
    }
    if (strcmp(mode, "exit") == 0) {
        return user_function(11); /* line: exit */
    }
    if (strcmp(mode, "crash") == 0) {
        crash();
    } else if (strcmp(mode, "plugin") == 0) {
        plugin(argv[2]);
    } else if (strcmp(mode, "signals") == 0) {
        useSignals();
    } else {
        loop(strcmp(mode, "forever") == 0 ? 100000 : 20);
    }
    return 0;
}
