// Processor time of finding races, for each event: programs with no receive of any source, with a master that
// takes what comes from its workers, with all-to-all traffic of any source, with windows of posted receives;
// all at once, and at a hundred stops. The baseline of the same run: matching the same events into the
// timeline.
//
// usage: bench_races [EVENTS]
#include "halo.h"

#include "../../../replay/order_marks.h"
#include "../../../replay/races.h"

#include <algorithm>
#include <cstdio>
#include <string>

using namespace stopline;
using namespace stopline::replay;
using bench::now;
using bench::since;

namespace {

struct Made {
    std::vector<std::vector<trace::EventDetails>> details; ///< by rank
    std::vector<std::vector<std::uint32_t>> events;        ///< by rank: which details
};

class Maker {
  public:
    explicit Maker(std::int32_t ranks)
        : m_made{std::vector<std::vector<trace::EventDetails>>(std::size_t(ranks)), {}} {
        m_made.events.resize(std::size_t(ranks));
        for (std::int32_t rank = 0; rank < ranks; ++rank) {
            trace::EventDetails init; // makes the world: else nothing of it can be marked
            init.function = trace::FunctionId::Init;
            call(rank, init, {});
        }
    }
    void call(std::int32_t rank, trace::EventDetails begin, trace::EventDetails end) {
        begin.comm = kCommWorld;
        end.kind = trace::EventKind::End;
        end.function = begin.function;
        add(rank, begin);
        add(rank, end);
    }
    void send(std::int32_t rank, std::int32_t to, std::int32_t tag) {
        trace::EventDetails d;
        d.function = trace::FunctionId::Send;
        d.sendPeer = to;
        d.sendTag = tag;
        d.sendBytes = 8;
        call(rank, d, {});
    }
    void recv(std::int32_t rank, std::int32_t from, std::int32_t tag, std::int32_t got, bool anyTag = false) {
        trace::EventDetails d;
        d.function = trace::FunctionId::Recv;
        d.recvPeer = from;
        d.recvTag = anyTag ? kAnyTag : tag;
        trace::EventDetails end;
        end.status.source = got;
        end.status.tag = tag;
        call(rank, d, end);
    }
    void irecv(std::int32_t rank, std::int32_t tag) {
        trace::EventDetails d;
        d.function = trace::FunctionId::Irecv;
        d.recvPeer = kAnySource;
        d.recvTag = tag;
        call(rank, d, {});
    }
    /// Completes the request that was made this many requests ago.
    void wait(std::int32_t rank, std::uint32_t back, std::int32_t got, std::int32_t tag) {
        trace::EventDetails d;
        trace::EventDetails end;
        d.function = trace::FunctionId::Waitany;
        d.requests.push_back({back});
        end.completions.push_back({{back}, 0, {got, tag, 8, false}});
        call(rank, d, end);
    }
    void add(std::int32_t rank, const trace::EventDetails& d) {
        auto& own = m_made.details[std::size_t(rank)];
        auto at = std::find(own.begin(), own.end(), d);
        if (at == own.end()) {
            own.push_back(d);
            at = own.end() - 1;
        }
        m_made.events[std::size_t(rank)].push_back(std::uint32_t(at - own.begin()));
    }
    Made m_made;
};

Made halo(std::int32_t ranks, std::uint64_t events) {
    Maker maker(ranks);
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
        const auto step = bench::iteration(rank, ranks);
        for (std::uint64_t i = 0; i < events / (12U * unsigned(ranks)); ++i) {
            for (const auto& d : step) {
                maker.add(rank, d);
            }
        }
    }
    return maker.m_made;
}

/// The master gives each worker a task, takes a result from any and gives that worker the next; results come
/// in an order from a fixed seed.
Made master(std::int32_t ranks, std::uint64_t events, bool anyTag) {
    Maker maker(ranks);
    std::uint64_t noise = 1;
    for (std::int32_t worker = 1; worker < ranks; ++worker) {
        maker.send(0, worker, 1);
    }
    for (std::uint64_t i = 0; i < events / 8; ++i) {
        noise = noise * 6364136223846793005ULL + 1442695040888963407ULL;
        const auto worker = std::int32_t(1 + (noise >> 33U) % std::uint64_t(ranks - 1));
        maker.recv(worker, 0, 1, 0);
        maker.send(worker, 0, 2);
        maker.recv(0, kAnySource, 2, worker, anyTag);
        maker.send(0, worker, 1);
    }
    return maker.m_made;
}

/// Every rank sends to every other in turn and takes what comes, from any source.
Made exchange(std::int32_t ranks, std::uint64_t events) {
    Maker maker(ranks);
    for (std::uint64_t i = 0; i < events / (4U * unsigned(ranks)); ++i) {
        const auto shift = std::int32_t(1 + i % std::uint64_t(ranks - 1));
        for (std::int32_t rank = 0; rank < ranks; ++rank) {
            maker.send(rank, (rank + shift) % ranks, 3);
            maker.recv(rank, kAnySource, 3, (rank + ranks - shift) % ranks);
        }
    }
    return maker.m_made;
}

/// The same with eight receives posted ahead at all times.
Made posted(std::int32_t ranks, std::uint64_t events) {
    constexpr std::uint32_t kAhead = 8;
    Maker maker(ranks);
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
        for (std::uint32_t i = 0; i < kAhead; ++i) {
            maker.irecv(rank, 3);
        }
    }
    for (std::uint64_t i = 0; i < events / (6U * unsigned(ranks)); ++i) {
        const auto shift = std::int32_t(1 + i % std::uint64_t(ranks - 1));
        for (std::int32_t rank = 0; rank < ranks; ++rank) {
            maker.send(rank, (rank + shift) % ranks, 3);
            maker.wait(rank, kAhead - 1, (rank + ranks - shift) % ranks, 3);
            maker.irecv(rank, 3);
        }
    }
    return maker.m_made;
}

void measure(const char* name, std::int32_t ranks, const Made& made) {
    for (const std::uint64_t stops : {1U, 100U}) {
        Timeline timeline(ranks);
        double events = 0;
        for (std::int32_t rank = 0; rank < ranks; ++rank) {
            timeline.addComm(RankId{rank}, bench::world(ranks));
            for (const auto& d : made.details[std::size_t(rank)]) {
                timeline.addDetails(RankId{rank}, d);
            }
            events += double(made.events[std::size_t(rank)].size());
        }
        RaceAnalysis races;
        double matching = 0;
        double analysis = 0;
        for (std::uint64_t stop = 0; stop < stops; ++stop) {
            double start = now();
            for (std::int32_t rank = 0; rank < ranks; ++rank) {
                const auto& own = made.events[std::size_t(rank)];
                const std::size_t to = own.size() * (stop + 1) / stops;
                for (std::size_t i = own.size() * stop / stops; i < to; ++i) {
                    timeline.addEvent(RankId{rank}, DetailsId{own[i]}, TimeNs(i) * 1000);
                }
            }
            matching += since(start);
            start = now();
            races.update(timeline);
            analysis += since(start);
        }
        double start = now();
        const OrderMarks marks = races.orderMarks();
        const double marking = since(start);
        start = now();
        const OrderMarks bounded = races.orderMarks(&timeline);
        const double bounding = since(start) - marking;
        std::uint64_t pairs = 0;
        for (const Race& race : races.races()) {
            pairs += race.alternatives;
        }
        std::printf("%-28s %3d ranks %8.0f events, %3d stop%s: matching %6.1f ns an event, races %6.1f ns an "
                    "event; %zu windows, %zu "
                    "races, %llu pairs, %.1f bytes an event; marking %6.1f ns an event (%llu), controls %6.1f ns (%zu)\n",
                    name, ranks, events, int(stops), stops == 1 ? " " : "s", matching / events * 1e9,
                    analysis / events * 1e9, races.windows(), races.count(),
                    static_cast<unsigned long long>(pairs), double(races.memoryBytes()) / events,
                    marking / events * 1e9, static_cast<unsigned long long>(marks.marked), bounding / events * 1e9,
                    bounded.controls.size());
    }
}

} // namespace

int main(int argc, char** argv) {
    const std::uint64_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
    for (const std::int32_t ranks : {4, 16, 64}) {
        measure("halo, no window", ranks, halo(ranks, events));
        measure("master and workers", ranks, master(ranks, events, false));
        measure("master and workers, any tag", ranks, master(ranks, events, true));
        measure("exchange of any source", ranks, exchange(ranks, events));
        measure("eight receives ahead", ranks, posted(ranks, events));
    }
    return 0;
}
