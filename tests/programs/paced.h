/* What paced and its test look at together. */
#pragma once

enum { MESSAGES = 100, PACED = 0, FLOOD = 1, SLOW = 2 };

struct board {
    int how;
    int sent[3];     /* by rank */
    int received[3]; /* by sender */
    int most;
};
