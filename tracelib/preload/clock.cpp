#include "rank.h"

#include <ctime>

namespace stopline::preload {

TimeNs clockNow() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return TimeNs{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

} // namespace stopline::preload
