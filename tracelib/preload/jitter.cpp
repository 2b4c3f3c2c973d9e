// Delays before calls, by a seed: makes messages overtake each other that seldom do.
#include "rank.h"

#include <cerrno>
#include <ctime>

namespace stopline::preload {

void delayNowAndThen() {
    std::uint64_t random = 0;
    {
        const RankLock lock; // xorshift64*, Vigna 2016
        std::uint64_t state = rank.jitter;
        state ^= state >> 12U;
        state ^= state << 25U;
        state ^= state >> 27U;
        rank.jitter = state;
        random = state * 0x2545f4914f6cdd1dULL;
    }
    if ((random >> 61U) != 0) { // one call in eight
        return;
    }
    // From a microsecond to four milliseconds, each power of two as often as the next.
    const auto octave = static_cast<unsigned>((random >> 32U) % 12);
    const long wait = static_cast<long>(1000U << octave) + static_cast<long>(random & 0x3ff) * static_cast<long>(1U << octave);
    const int savedErrno = errno;
    const timespec time{0, wait};
    nanosleep(&time, nullptr);
    errno = savedErrno;
}

} // namespace stopline::preload
