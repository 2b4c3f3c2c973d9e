// Processor time of appending events with matching, and of frontiers, on a halo exchange of about a million
// events. The baseline of the same run: the same events stored in plain vectors, unmatched.
#include "../../../replay/timeline.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

using namespace stopline;
using namespace stopline::replay;

namespace {

/// Processor time, so that a busy machine does not count.
double now() {
    std::timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
double since(double start) {
    return now() - start;
}

struct Details {
    std::vector<DetailsId> step; ///< one iteration of a rank, in order
};

/// Irecv and Isend left and right, Waitall, and an Allreduce: 12 events an iteration.
Details addRank(Timeline& timeline, std::int32_t rank, std::int32_t ranks) {
    Details result;
    const RankId id{rank};
    trace::CommInfo world;
    world.id = 1;
    for (std::int32_t r = 0; r < ranks; ++r) {
        world.members.push_back(r);
    }
    timeline.addComm(id, world);
    const std::int32_t left = (rank + ranks - 1) % ranks;
    const std::int32_t right = (rank + 1) % ranks;
    const auto add = [&](trace::EventDetails begin, trace::EventDetails end) {
        begin.comm = kCommWorld;
        end.kind = trace::EventKind::End;
        result.step.push_back(timeline.addDetails(id, begin));
        result.step.push_back(timeline.addDetails(id, end));
    };
    for (const auto& [peer, tag] : {std::pair{left, 0}, std::pair{right, 1}}) {
        trace::EventDetails d;
        d.function = trace::FunctionId::Irecv;
        d.recvPeer = peer;
        d.recvTag = tag;
        add(d, {});
    }
    for (const auto& [peer, tag] : {std::pair{right, 0}, std::pair{left, 1}}) {
        trace::EventDetails d;
        d.function = trace::FunctionId::Isend;
        d.sendPeer = peer;
        d.sendTag = tag;
        d.sendBytes = 100000;
        add(d, {});
    }
    trace::EventDetails wait;
    trace::EventDetails waited;
    wait.function = trace::FunctionId::Waitall;
    for (std::uint32_t back = 4; back > 0; --back) {
        wait.requests.push_back({back - 1});
        waited.completions.push_back({{back - 1}, 4 - back, {}});
    }
    add(wait, waited);
    trace::EventDetails reduce;
    reduce.function = trace::FunctionId::Allreduce;
    reduce.sendBytes = 8;
    add(reduce, {});
    return result;
}

} // namespace

int main(int argc, char** argv) {
    const std::uint64_t wanted = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
    for (const std::int32_t ranks : {4, 16, 64}) {
        const std::uint64_t iterations =
            std::max<std::uint64_t>(wanted / (12U * static_cast<unsigned>(ranks)), 4);
        Timeline timeline(ranks);
        std::vector<Details> details;
        for (std::int32_t rank = 0; rank < ranks; ++rank) {
            details.push_back(addRank(timeline, rank, ranks));
        }
        std::uint64_t events = 0;
        auto start = now();
        std::vector<std::vector<DetailsId>> plainIds(static_cast<std::size_t>(ranks));
        std::vector<std::vector<TimeNs>> plainTimes(static_cast<std::size_t>(ranks));
        for (std::uint64_t i = 0; i < iterations; ++i) {
            for (std::size_t rank = 0; rank < details.size(); ++rank) {
                for (const DetailsId id : details[rank].step) {
                    plainIds[rank].push_back(id);
                    plainTimes[rank].push_back(static_cast<TimeNs>(i));
                }
            }
        }
        const double plain = since(start);
        start = now();
        for (std::uint64_t i = 0; i < iterations; ++i) {
            for (std::int32_t rank = 0; rank < ranks; ++rank) {
                for (const DetailsId id : details[static_cast<std::size_t>(rank)].step) {
                    timeline.addEvent(RankId{rank}, id, static_cast<TimeNs>(i));
                    ++events;
                }
            }
        }
        const double append = since(start);
        double worst[2] = {0, 0};
        double total[2] = {0, 0};
        const auto calls = timeline.callCount(RankId{0});
        const int points = 9;
        for (int p = 1; p <= points; ++p) {
            const auto call =
                static_cast<std::uint32_t>(std::uint64_t{calls} * static_cast<unsigned>(p) / 10);
            const Point point{{RankId{0}, CallIndex{call}}, true};
            for (int kind = 0; kind < 2; ++kind) {
                start = now();
                const Line line = kind == 0 ? timeline.pastFrontier(point) : timeline.futureFrontier(point);
                const double took = since(start);
                worst[kind] = std::max(worst[kind], took);
                total[kind] += took;
                if (!line.obstacles.empty()) {
                    std::printf("unexpected obstacle: %s\n", line.obstacles[0].reason.c_str());
                    return 1;
                }
            }
        }
        std::printf(
            "%2d ranks: %llu events, %zu messages, %zu collectives; append %.1f M events/s (plain vectors "
            "%.1f M/s); past frontier mean %.1f ms, worst %.1f ms; future mean %.1f ms, worst %.1f ms\n",
            ranks, static_cast<unsigned long long>(events), timeline.messages().size(),
            timeline.collectives().size(), static_cast<double>(events) / append / 1e6,
            static_cast<double>(events) / plain / 1e6, total[0] / points * 1e3, worst[0] * 1e3,
            total[1] / points * 1e3, worst[1] * 1e3);
    }
    return 0;
}
