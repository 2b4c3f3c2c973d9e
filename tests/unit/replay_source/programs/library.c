#include "mark.h"

void library_function(void)
{
    mark(__LINE__, "library_function");
}
