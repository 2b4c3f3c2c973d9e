#include "mark.h"

#include <stdio.h>

void mark(int line, const char *function)
{
    printf("%d %p %s\n", line, __builtin_return_address(0), function);
}

void wait_for_test(void)
{
    puts("end");
    fflush(stdout);
    while (getchar() != EOF) {
    }
}
