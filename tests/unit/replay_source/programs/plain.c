#include "mark.h"

static int work(int depth)
{
    mark(__LINE__, "work");
    if (depth > 0) {
        mark(__LINE__,
             "work");
        return work(depth - 1) + 1;
    }
    return 0;
}

int main(void)
{
    mark(__LINE__, "main");
    int turns = work(1);
    mark(__LINE__, "main");
    wait_for_test();
    return turns == 1 ? 0 : 1;
}
