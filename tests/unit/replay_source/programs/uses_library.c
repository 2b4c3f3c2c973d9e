#include "mark.h"

void library_function(void);

int main(void)
{
    mark(__LINE__, "main");
    library_function();
    wait_for_test();
    return 0;
}
