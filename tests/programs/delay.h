/* Waits that differ between processes and from run to run. Their seed are the random bytes that the kernel gives to each
 * process, which no call can ask for again. */
#ifndef DELAY_H
#define DELAY_H

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

/* Sleeps for up to so many microseconds, one time in four; else not at all. */
static inline void random_pause(unsigned most)
{
    static uint64_t state;
    if (state == 0) {
        memcpy(&state, (const void *)getauxval(AT_RANDOM), sizeof state);
        state |= 1;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    if ((state >> 20) % 4 == 0) {
        struct timespec time = {.tv_sec = 0, .tv_nsec = (long)((state >> 30) % most) * 1000};
        nanosleep(&time, NULL);
    }
}

#endif
