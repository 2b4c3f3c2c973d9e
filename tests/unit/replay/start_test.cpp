// Histories that lack their first events, against the same histories with them: what is kept means the same.
#include "script.h"
#include "simulator.h"

#include "../../../tracelib/history_tracker.h"
#include "../../../tracelib/reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <tuple>

namespace stopline::replay::test {
namespace {

using trace::HistoryStart;

/// What is known of a rank's first events when the rest starts with event `first`.
std::unique_ptr<HistoryStart> startOf(const RankTrace& rank, std::uint64_t first) {
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    const std::unique_ptr<trace::HistoryMemory, Free> memory(
        static_cast<trace::HistoryMemory*>(std::calloc(1, sizeof(trace::HistoryMemory))));
    trace::HistoryTracker tracker;
    tracker.open(nullptr, memory.get());
    for (std::uint64_t event = 1; event < first; ++event) {
        EXPECT_TRUE(tracker.add(trace::encodeDetails(rank.events[event - 1].details)));
    }
    std::vector<std::byte> packed(trace::packedStartBytes(tracker.start()));
    trace::packStart(tracker.start(), packed.data());
    auto start = std::make_unique<HistoryStart>();
    EXPECT_TRUE(trace::unpackStart(packed, *start));
    return start;
}

/// The events of all ranks from `first` on, in a random interleaving.
Timeline loadFrom(const Trace& trace, const std::vector<std::uint64_t>& first, Random& random, bool& incomplete) {
    const auto count = static_cast<std::int32_t>(trace.ranks.size());
    Timeline timeline(count, trace.rules);
    std::vector<std::uint64_t> next(first);
    std::vector<bool> begun(trace.ranks.size(), false);
    for (std::int32_t rank = 0; rank < count; ++rank) {
        for (const trace::CommInfo& info : trace.ranks[static_cast<std::size_t>(rank)].comms) {
            timeline.addComm(RankId{rank}, info);
        }
    }
    for (std::vector<std::size_t> live;; live.clear()) {
        for (std::size_t rank = 0; rank < next.size(); ++rank) {
            if (next[rank] <= trace.ranks[rank].events.size()) {
                live.push_back(rank);
            }
        }
        if (live.empty()) {
            return timeline;
        }
        const std::size_t rank = live[below(random, live.size())];
        const RankId id{static_cast<std::int32_t>(rank)};
        if (!begun[rank]) {
            begun[rank] = true;
            const auto start = startOf(trace.ranks[rank], first[rank]);
            incomplete = incomplete || start->incomplete != 0;
            timeline.setStart(id, *start);
        }
        const TraceEvent& event = trace.ranks[rank].events[next[rank]++ - 1];
        timeline.addEvent(id, timeline.addDetails(id, event.details), event.time, event.pollFailures);
    }
}

/// A call by where it is, whichever of them are there.
using At = std::pair<std::int32_t, std::uint64_t>;
At at(const Timeline& timeline, const MaybeCall& call) {
    return call ? At{call->rank.value(), timeline.call(*call).begin.value()} : At{-1, 0};
}

using Found = std::tuple<At, At, At, MessageState>;

class Starts {
  public:
    explicit Starts(std::uint64_t seed) : m_random(seed), m_program(randomProgram(m_random)) {
        RunOptions options;
        options.seed = m_random();
        if (chance(m_random, 50)) {
            options.maxSteps = test::below(m_random, 400);
        }
        m_outcome = run(m_program, options);
        static constexpr std::uint64_t kBlocks[] = {0, 1, 2, 4, 512};
        m_outcome.trace.rules.digestEvents = kBlocks[m_random() % std::size(kBlocks)];
        for (const RankTrace& rank : m_outcome.trace.ranks) {
            m_first.push_back(chance(m_random, 20) ? 1 : 1 + test::below(m_random, rank.events.size() + 1));
        }
    }

    /// False: this one has nothing to tell.
    bool all() {
        for (const RankTrace& rank : m_outcome.trace.ranks) {
            for (const TraceEvent& event : rank.events) {
                // Which message an Mrecv gets is not in these traces.
                if (event.details.function == FunctionId::Mrecv || event.details.function == FunctionId::Imrecv) {
                    return false;
                }
            }
        }
        const Timeline whole = load(m_outcome.trace);
        bool incomplete = false;
        const Timeline part = loadFrom(m_outcome.trace, m_first, m_random, incomplete);
        for (std::int32_t rank = 0; rank < whole.rankCount(); ++rank) {
            if (m_first[static_cast<std::size_t>(rank)] > m_outcome.trace.ranks[static_cast<std::size_t>(rank)].events.size()) {
                return false; // nothing was added: its start has not been told
            }
            EXPECT_EQ(part.lastEvent(RankId{rank}), whole.lastEvent(RankId{rank}));
            EXPECT_GE(part.firstEvent(RankId{rank}).value(), m_first[static_cast<std::size_t>(rank)]);
            EXPECT_LE(part.firstEvent(RankId{rank}).value(), m_first[static_cast<std::size_t>(rank)] + 1);
        }
        messages(whole, part, incomplete);
        if (!incomplete) {
            collectives(whole, part);
            closures(whole, part);
        }
        return !incomplete;
    }

    /// For failures.
    [[nodiscard]] std::string text() const {
        std::string all;
        for (std::size_t rank = 0; rank < m_first.size(); ++rank) {
            all += "rank " + std::to_string(rank) + " from event " + std::to_string(m_first[rank]) + "\n";
            std::size_t number = 0;
            for (const TraceEvent& event : m_outcome.trace.ranks[rank].events) {
                const trace::EventDetails& d = event.details;
                all += "  " + std::to_string(++number) + (d.kind == EventKind::Begin ? " " : " end ") +
                       std::string(trace::functionName(d.function)) + " to " + std::to_string(d.sendPeer) + "/" +
                       std::to_string(d.sendTag) + " from " + std::to_string(d.recvPeer) + "/" +
                       std::to_string(d.recvTag) + " got " + std::to_string(d.status.source) + "/" +
                       std::to_string(d.status.tag) + (d.flag ? "" : " false") + "\n";
            }
        }
        return all;
    }

  private:
    [[nodiscard]] bool kept(const Timeline& part, const At& call) const {
        return call.first >= 0 && call.second >= part.firstEvent(RankId{call.first}).value();
    }

    void messages(const Timeline& whole, const Timeline& part, bool incomplete) {
        std::multiset<Found> expected;
        for (const Message& m : whole.messages()) {
            const At send = at(whole, m.send);
            const At post = at(whole, m.post);
            const bool sendKept = kept(part, send);
            const bool postKept = kept(part, post);
            const bool both = (sendKept || send.first < 0) && (postKept || post.first < 0);
            if (both) {
                expected.insert({send, post, at(whole, m.done), m.state});
            } else if (sendKept) {
                expected.insert({send, At{-1, 0}, At{-1, 0}, MessageState::Early});
            } else if (postKept) {
                expected.insert({At{-1, 0}, post, at(whole, m.done), MessageState::Early});
            }
        }
        std::multiset<Found> found;
        for (const Message& m : part.messages()) {
            const Found one{at(part, m.send), at(part, m.post), at(part, m.done), m.state};
            if (!incomplete) {
                found.insert(one);
            } else if (m.send && m.post) {
                EXPECT_TRUE(expected.contains(one)); // less, but nothing wrong
            }
        }
        if (!incomplete) {
            EXPECT_EQ(found, expected);
        }
    }

    void collectives(const Timeline& whole, const Timeline& part) {
        using Members = std::set<std::pair<At, At>>;
        const auto of = [&](const Timeline& timeline) {
            std::multiset<Members> result;
            for (const Collective& c : timeline.collectives()) {
                Members members;
                bool missing = false;
                for (std::size_t i = 0; i < c.members.size(); ++i) {
                    const At arrived = at(timeline, c.arrived[i]);
                    if (kept(part, arrived)) {
                        members.insert({arrived, at(timeline, c.finished[i])});
                    }
                    missing = missing || (arrived.first >= 0 && !kept(part, arrived));
                }
                if (!members.empty()) {
                    members.insert({At{-2, (&timeline == &part ? c.early : missing) ? 1 : 0}, At{}});
                    result.insert(members);
                }
            }
            return result;
        };
        EXPECT_EQ(of(part), of(whole));
    }

    void closures(const Timeline& whole, const Timeline& part) {
        for (int i = 0; i < 10; ++i) {
            Cut cut;
            for (std::int32_t rank = 0; rank < part.rankCount(); ++rank) {
                const Place from = part.reachableFrom(RankId{rank});
                const std::uint64_t last = part.lastEvent(RankId{rank}).value();
                Place place = from;
                if (last > from.event.value()) {
                    place = {EventIndex{from.event.value() + 1 + test::below(m_random, last - from.event.value())}, false};
                    place.inside = part.isBegin(RankId{rank}, place.event) && chance(m_random, 30);
                }
                cut.push_back(place);
            }
            EXPECT_EQ(part.isClosed(cut), whole.isClosed(cut));
            // What comes of lowering it is the same, or it lies before what can be reached.
            const Line lowered = part.closeDown(cut);
            bool reachable = true;
            for (std::size_t rank = 0; rank < lowered.cut.size(); ++rank) {
                reachable = reachable && lowered.cut[rank] >= part.reachableFrom(RankId{static_cast<std::int32_t>(rank)});
            }
            if (reachable) {
                EXPECT_EQ(lowered.cut, whole.closeDown(cut).cut);
            }
        }
    }

    Random m_random;
    Program m_program;
    Outcome m_outcome;
    std::vector<std::uint64_t> m_first;
};

TEST(Start, KeptEventsMeanTheSame) {
    int told = 0;
    for (std::uint64_t seed = 1; seed <= 4000 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Starts starts(seed);
        told += starts.all() ? 1 : 0;
        if (testing::Test::HasFailure()) {
            ADD_FAILURE() << starts.text();
        }
    }
    EXPECT_GT(told, 500);
}

} // namespace
} // namespace stopline::replay::test
