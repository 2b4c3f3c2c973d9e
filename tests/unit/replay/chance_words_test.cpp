// Calls that may come out otherwise though nothing races.
#include "script.h"

#include "../../../replay/chance_words.h"

#include <gtest/gtest.h>

namespace stopline::replay {
namespace {

using namespace test;

Trace ranks(std::int32_t count) {
    Trace trace;
    trace.ranks.resize(static_cast<std::size_t>(count));
    for (std::int32_t i = 0; i < count; ++i) {
        trace.ranks[static_cast<std::size_t>(i)].comms = {worldComm(count), selfComm(i)};
    }
    return trace;
}

TEST(ChanceWords, NoneWhereMpiHasNoChoice) {
    Trace trace = ranks(2);
    RankScript rank(trace, 0);
    rank.init();
    const Serial a = rank.irecv(1, 1);
    const Serial b = rank.irecv(1, 2);
    rank.wait(FunctionId::Waitall, {a, b}, {{a}, {b}});
    const Serial c = rank.irecv(1, 3);
    rank.wait(FunctionId::Wait, {c}, {{c}});
    const Serial d = rank.irecv(1, 4);
    rank.wait(FunctionId::Waitany, {d}, {{d}});                // one alone
    rank.wait(FunctionId::Waitany, {}, {});                    // none
    rank.probe(FunctionId::Probe, 1, 1, {1, 1});               // waits
    rank.probe(FunctionId::Iprobe, kProcNull, 1, {kProcNull}); // always true at once
    rank.recv(kAnySource, 1, {1, 1});                          // races tell of these
    const Serial e = rank.irecv(1, 5);
    const Serial f = rank.irecv(1, 6);
    rank.wait(FunctionId::Waitany, {e, f}, {});
    rank.unfinished();
    EXPECT_EQ(chanceText(load(trace)).toStdString(), "");
}

TEST(ChanceWords, EachKindIsCounted) {
    Trace trace = ranks(2);
    RankScript rank(trace, 0);
    rank.init();
    for (int round = 0; round < 3; ++round) {
        const Serial a = rank.irecv(1, 1);
        const Serial b = rank.irecv(1, 2);
        rank.wait(FunctionId::Waitany, {a, b}, {{b}});
        rank.wait(FunctionId::Waitany, {a}, {{a}});
    }
    EXPECT_EQ(chanceText(load(trace)).toStdString(),
              "also without a race, 3 calls of MPI_Waitany may come out otherwise in another run, by what is "
              "complete or has "
              "come by then; a replay repeats what they came to");
    const Serial a = rank.irecv(1, 1);
    rank.wait(FunctionId::Test, {a}, {}, false, 4); // one call, however often it failed
    EXPECT_EQ(chanceText(load(trace)).toStdString(),
              "also without a race, 3 calls of MPI_Waitany and 1 of MPI_Test may come out otherwise in "
              "another run, by what is "
              "complete or has come by then; a replay repeats what they came to");
    RankScript other(trace, 1);
    other.init();
    other.probe(FunctionId::Iprobe, 0, 1, {}, false, 2);
    const Serial one = other.irecv(0, 7);
    other.cancel(one);
    const Timeline timeline = load(trace);
    EXPECT_EQ(chanceText(timeline).toStdString(),
              "also without a race, 3 calls of MPI_Waitany, 1 of MPI_Test, 1 of MPI_Iprobe and 1 of "
              "MPI_Cancel may come out "
              "otherwise in another run, by what is complete or has come by then; a replay repeats what they "
              "came to");
    EXPECT_EQ(chanceText(timeline, RankId{1}).toStdString(),
              "also without a race, 1 call of MPI_Iprobe and 1 of MPI_Cancel may come out otherwise in "
              "another run, by what is "
              "complete or has come by then; a replay repeats what they came to");
}

TEST(ChanceWords, NothingIsPromisedOfSeveralThreads) {
    Trace trace = ranks(1);
    RankScript rank(trace, 0);
    rank.init();
    const Serial a = rank.irecv(0, 1);
    rank.wait(FunctionId::Test, {a}, {{a}});
    for (std::size_t back = 1; back <= 2; ++back) {
        auto& events = trace.ranks.front().events;
        events[events.size() - back].details.thread = 1;
    }
    EXPECT_EQ(chanceText(load(trace)).toStdString(),
              "also without a race, 1 call of MPI_Test may come out otherwise in another run, by what is "
              "complete or has come by then");
}

} // namespace
} // namespace stopline::replay
