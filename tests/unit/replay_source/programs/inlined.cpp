// Built with -O2: what is forced inline has no frame of its own. The system header wraps mark() as some MPI bindings do.
#include "mark.h"
#include "wrapped_mark.h"

namespace deep {

[[gnu::always_inline]] inline void innermost()
{
    mark(__LINE__, "deep::innermost");
}

[[gnu::always_inline]] inline void middle()
{
    innermost();
    mark(__LINE__, "deep::middle");
}

[[gnu::always_inline]] inline void callsHeader()
{
    wrapped::mark(__LINE__, "deep::callsHeader");
}

[[gnu::noinline]] void notInlined()
{
    middle();
    callsHeader();
    mark(__LINE__, "deep::notInlined");
}

} // namespace deep

int main()
{
    deep::notInlined();
    wrapped::mark(__LINE__, "main");
    wait_for_test();
    return 0;
}
