/* Random delays, so that rare orders happen. RACING_JITTER is a seed, or the path of a file that holds one: then two runs with
 * the same environment can still be delayed differently. Nothing of it is seen by MPI or printed. */
#include "racing.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t state; /* 0: no delays */

void read_jitter(void)
{
    const char *setting = getenv("RACING_JITTER");
    char text[32] = "";
    if (setting == NULL || setting[0] == '\0') {
        return;
    }
    if (setting[0] == '/') {
        FILE *file = fopen(setting, "r");
        if (file == NULL || fgets(text, sizeof text, file) == NULL) {
            fail("the file that RACING_JITTER names cannot be read");
        }
        fclose(file);
        setting = text;
    }
    state = mix(strtoull(setting, NULL, 10) + 1) + (uint64_t)world_rank + 1;
}

static uint64_t next_delay(uint64_t below)
{
    state += 0x9e3779b97f4a7c15u;
    return mix(state) % below;
}

static void pause_for(long microseconds)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = microseconds * 1000};
    nanosleep(&time, NULL);
}

void jitter(void)
{
    if (state == 0) {
        return;
    }
    uint64_t kind = next_delay(100);
    if (kind < 25) {
        volatile uint64_t turns = next_delay(10000);
        while (turns > 0) {
            turns--;
        }
    } else if (kind < 40) {
        pause_for((long)next_delay(200));
    } else if (kind < 42) {
        pause_for(500 + (long)next_delay(1500));
    }
}
