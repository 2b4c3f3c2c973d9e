// Random MPI programs without control flow: each rank has a list of calls.
#pragma once

#include "trace.h"

#include <cstdint>
#include <random>
#include <vector>

namespace stopline::replay::test {

using Random = std::mt19937_64;

/// One call. Requests are named by serial (1 is the first the rank creates).
struct Op {
    trace::EventDetails begin; ///< without requests
    std::vector<std::uint32_t> requests;
    CommIndex newComm = kNoComm;
    std::uint32_t handle = 0; ///< Mrecv, Imrecv: which of the rank's matched probes (from 0)
    bool givesUp = false;     ///< poll that the program leaves after some failures
};

struct RankProgram {
    std::vector<trace::CommInfo> comms;
    std::vector<Op> ops;
};

struct Program {
    std::vector<RankProgram> ranks;
    TransportRules rules;
};

/// All kinds of call; most programs run to their end, some hang.
Program randomProgram(Random& random);

/// True with this chance in percent.
inline bool chance(Random& random, unsigned percent) {
    return random() % 100 < percent;
}
inline std::size_t below(Random& random, std::size_t limit) {
    return static_cast<std::size_t>(random() % limit);
}

} // namespace stopline::replay::test
