// The timeline against its brute-force twin and against simulated execution, on random traces.
#include "brute.h"
#include "script.h"
#include "simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace stopline::replay::test {
namespace {

constexpr std::uint64_t kTracesPerShard = 1000;

std::string show(const std::optional<CallRef>& ref) {
    return ref ? std::to_string(ref->rank.value()) + ":" + std::to_string(ref->call.value()) : "-";
}

std::string show(const Brute::FoundMessage& m) {
    return "state " + std::to_string(static_cast<int>(m.state)) + " send " + show(m.send) + " post " +
           show(m.post) + " done " + show(m.done) + " tag " + std::to_string(m.tag) + " comm " +
           std::to_string(m.comm) + " " + std::to_string(m.sender) + ">" + std::to_string(m.receiver);
}

std::string show(const Trace& trace) {
    std::ostringstream out;
    for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
        out << "rank " << rank << '\n';
        std::size_t number = 0;
        for (const TraceEvent& event : trace.ranks[rank].events) {
            const trace::EventDetails& d = event.details;
            out << "  " << ++number << ' ';
            if (d.kind == trace::EventKind::Begin) {
                out << trace::functionName(d.function) << " comm " << static_cast<int>(d.comm.value())
                    << " to " << d.sendPeer << '/' << d.sendTag << " bytes " << d.sendBytes << " from "
                    << d.recvPeer << '/' << d.recvTag << " root " << d.root;
                for (const auto& request : d.requests) {
                    out << " r-" << static_cast<int>(request.back);
                }
            } else {
                out << "  end flag " << d.flag << " status " << d.status.source << '/' << d.status.tag;
                for (const auto& c : d.completions) {
                    out << " r-" << c.request.back << (c.status.cancelled ? " cancelled " : " ")
                        << c.status.source << '/' << c.status.tag;
                }
            }
            out << '\n';
        }
    }
    return out.str();
}

std::multiset<Brute::FoundMessage> messagesOf(const Timeline& timeline) {
    std::multiset<Brute::FoundMessage> result;
    for (const Message& m : timeline.messages()) {
        result.insert(
            {m.state, m.send, m.post, m.done, m.tag, m.commId, m.sender.value(), m.receiver.value()});
    }
    return result;
}

std::multiset<std::string> collectivesOf(const Timeline& timeline) {
    std::multiset<std::string> result;
    for (const Collective& c : timeline.collectives()) {
        std::set<std::string> members;
        for (std::size_t i = 0; i < c.members.size(); ++i) {
            if (c.arrived[i]) {
                members.insert(" " + show(c.arrived[i]) + ">" +
                               (c.finished[i] ? std::to_string(c.finished[i]->call.value()) : "?"));
            }
        }
        std::string text{trace::functionName(c.function)};
        for (const std::string& member : members) {
            text += member;
        }
        result.insert(text);
    }
    return result;
}

Cut randomCut(Random& random, const Timeline& timeline) {
    Cut cut;
    for (std::int32_t rank = 0; rank < timeline.rankCount(); ++rank) {
        const std::uint64_t last = timeline.lastEvent(RankId{rank}).value();
        Place place{EventIndex{random() % (last + 1)}, false};
        place.inside = timeline.isBegin(RankId{rank}, place.event) && chance(random, 30);
        cut.push_back(place);
    }
    return cut;
}

bool below(const Cut& a, const Cut& b) {
    for (std::size_t rank = 0; rank < a.size(); ++rank) {
        if (a[rank] > b[rank]) {
            return false;
        }
    }
    return true;
}

class Check {
  public:
    explicit Check(std::uint64_t seed) : m_random(seed), m_program(randomProgram(m_random)) {
        RunOptions options;
        options.seed = m_random();
        if (chance(m_random, 50)) {
            options.maxSteps = test::below(m_random, 400);
        }
        options.onState = [&](const Cut& cut) { m_states.push_back(cut); };
        m_outcome = run(m_program, options);
        m_states.push_back(m_outcome.final);
        // Blocks so small that these traces have some; and questions on the way, whose answers are kept.
        static constexpr std::uint64_t kBlocks[] = {0, 1, 2, 4, 6, 512};
        m_outcome.trace.rules.digestEvents = kBlocks[m_random() % std::size(kBlocks)];
        const unsigned questions = chance(m_random, 50) ? 20 : 0;
        m_timeline.emplace(load(
            m_outcome.trace, [&](std::size_t count) { return test::below(m_random, count); },
            [&](const Timeline& timeline) {
                if (chance(m_random, questions)) {
                    (void)timeline.isClosed(randomCut(m_random, timeline));
                }
            }));
    }

    void all() {
        const Brute brute(m_outcome.trace);
        matching(brute);
        for (int i = 0; i < 4; ++i) {
            frontiers(brute);
        }
        for (int i = 0; i < 3; ++i) {
            closures(brute, randomCut(m_random, *m_timeline));
        }
        for (int i = 0; i < 3; ++i) {
            const Cut& state = m_states[test::below(m_random, m_states.size())];
            if (!m_outcome.ambiguous) {
                EXPECT_TRUE(m_timeline->isClosed(state)) << "really seen " << text(state);
            }
            closures(brute, state);
        }
    }
    [[nodiscard]] std::string trace() const { return show(m_outcome.trace); }

  private:
    void matching(const Brute& brute) {
        const auto found = messagesOf(*m_timeline);
        for (const auto& m : found) {
            EXPECT_TRUE(brute.messages().contains(m)) << show(m);
        }
        EXPECT_EQ(found.size(), brute.messages().size());
        std::size_t open = 0;
        for (const Brute::FoundMessage& m : brute.messages()) {
            EXPECT_TRUE(found.contains(m)) << "missed " << show(m);
            open += m.state != MessageState::Matched && m.state != MessageState::Cancelled ? 1 : 0;
        }
        EXPECT_EQ(m_timeline->openMessages().size(), open);
        EXPECT_EQ(collectivesOf(*m_timeline), brute.collectives());
        if (m_outcome.ambiguous) {
            return;
        }
        for (const auto& m : found) {
            const auto truth = m.post ? m_outcome.received.find({*m.post, 0}) : m_outcome.received.end();
            if (m.state == MessageState::Matched) {
                ASSERT_TRUE(truth != m_outcome.received.end()) << show(m);
            }
            if (m.send && truth != m_outcome.received.end()) {
                EXPECT_EQ(show(m.send), show(truth->second.first)) << show(m);
            }
        }
    }

    void frontiers(const Brute& brute) {
        const auto rank = static_cast<std::int32_t>(test::below(m_random, m_program.ranks.size()));
        const std::uint32_t calls = m_timeline->callCount(RankId{rank});
        if (calls == 0) {
            return;
        }
        const Point point{{RankId{rank}, CallIndex{static_cast<std::uint32_t>(test::below(m_random, calls))}},
                          chance(m_random, 50)};
        const Line past = m_timeline->pastFrontier(point);
        const Line future = m_timeline->futureFrontier(point);
        EXPECT_EQ(text(future), text(brute.future(point)))
            << show(point.call) << (point.after ? " after" : " before");
        EXPECT_EQ(text(past), text(brute.past(point)))
            << show(point.call) << (point.after ? " after" : " before");
        EXPECT_TRUE(below(past.cut, future.cut)) << text(past) << " | " << text(future);
        const Place place = m_timeline->placeOf(point);
        for (const Line* line : {&past, &future}) {
            EXPECT_EQ(line->cut[static_cast<std::size_t>(rank)], place);
            if (!m_outcome.ambiguous) { // else the trace may contradict itself
                EXPECT_TRUE(m_timeline->isClosed(line->cut)) << text(*line);
                EXPECT_EQ(text(m_timeline->closeDown(line->cut)), text(*line));
            }
            EXPECT_EQ(text(m_timeline->closeUp(line->cut, RankId{rank})),
                      text(brute.closeUp(line->cut, static_cast<std::size_t>(rank))));
            execute(*line);
        }
    }

    void closures(const Brute& brute, const Cut& cut) {
        EXPECT_EQ(m_timeline->isClosed(cut), brute.isClosed(cut)) << text(cut);
        const Line down = m_timeline->closeDown(cut);
        EXPECT_EQ(text(down), text(brute.closeDown(cut))) << text(cut);
        EXPECT_TRUE(m_timeline->isClosed(down.cut));
        EXPECT_TRUE(below(down.cut, cut));
        execute(down);
        const Line up = m_timeline->closeUp(cut, std::nullopt);
        EXPECT_EQ(text(up), text(brute.closeUp(cut, std::nullopt))) << text(cut);
        EXPECT_TRUE(m_timeline->isClosed(up.cut));
        EXPECT_TRUE(below(cut, up.cut));
        EXPECT_EQ(text(m_timeline->closeUp(up.cut, std::nullopt)), text(up));
        const std::size_t rank = test::below(m_random, cut.size());
        const RankId id{static_cast<std::int32_t>(rank)};
        const Line fixed = m_timeline->closeUp(cut, id);
        EXPECT_EQ(text(fixed), text(brute.closeUp(cut, rank))) << text(cut) << " fixed " << rank;
        EXPECT_EQ(fixed.cut[rank], cut[rank]);
        EXPECT_TRUE(m_outcome.ambiguous || m_timeline->isClosed(fixed.cut));
        execute(fixed);
        const auto back = m_timeline->rollback(cut, id);
        const auto backTwin = brute.rollback(cut, rank);
        ASSERT_EQ(back.has_value(), backTwin.has_value());
        if (back) {
            EXPECT_EQ(text(*back), text(*backTwin)) << text(cut) << " back " << rank;
            execute(*back);
        }
        const auto on = m_timeline->forward(cut, id);
        const auto onTwin = brute.forward(cut, rank);
        ASSERT_EQ(on.has_value(), onTwin.has_value());
        if (on) {
            EXPECT_EQ(text(*on), text(*onTwin)) << text(cut) << " on " << rank;
            execute(*on);
        }
    }

    /// Runs the program again with the places as thresholds: every rank comes to its place and no further.
    void execute(const Line& line) {
        std::size_t inside = 0;
        for (const Place& place : line.cut) {
            inside += place.inside ? 1 : 0;
        }
        EXPECT_EQ(line.obstacles.size(), inside);
        if (m_outcome.ambiguous) {
            return;
        }
        RunOptions options;
        options.seed = m_random();
        options.forced = &m_outcome;
        for (const Place& place : line.cut) {
            options.thresholds.emplace_back(place.event.value() + (place.inside ? 1 : 0));
        }
        const Cut reached = run(m_program, options).final;
        for (std::size_t rank = 0; rank < reached.size(); ++rank) {
            const Place& place = line.cut[rank];
            if (!place.inside) {
                EXPECT_EQ(text(Cut{reached[rank]}), text(Cut{place}))
                    << "rank " << rank << " of " << text(line);
                continue;
            }
            // It may return when the recording does not say that it cannot.
            const bool returned = reached[rank] == Place{EventIndex{place.event.value() + 1}, false};
            EXPECT_TRUE(reached[rank] == place || returned) << text(reached) << " of " << text(line);
            const auto blocked = m_timeline->blockedBy(line.cut, RankId{static_cast<std::int32_t>(rank)});
            EXPECT_FALSE(returned && blocked)
                << "rank " << rank << " of " << text(line) << ": " << blocked->reason;
        }
    }

    Random m_random;
    Program m_program;
    std::vector<Cut> m_states;
    Outcome m_outcome;
    std::optional<Timeline> m_timeline;
};

class Twin : public ::testing::TestWithParam<int> {};

TEST_P(Twin, AgreesOnRandomTraces) {
    for (std::uint64_t i = 0; i < kTracesPerShard; ++i) {
        const std::uint64_t seed = static_cast<std::uint64_t>(GetParam()) * kTracesPerShard + i;
        Check check(seed);
        check.all();
        if (HasFailure()) {
            FAIL() << "seed " << seed << '\n' << check.trace();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Shards, Twin, ::testing::Range(0, 10));

} // namespace
} // namespace stopline::replay::test
