// Which requests a call has completed, in words.
#include "script.h"

#include "../../../replay/completion_words.h"

#include <gtest/gtest.h>

namespace stopline::replay {
namespace {

using namespace test;

/// Two ranks; the first does what `write` says.
class Program {
  public:
    Program() {
        m_trace.ranks.resize(2);
        for (std::int32_t i = 0; i < 2; ++i) {
            m_trace.ranks[static_cast<std::size_t>(i)].comms = {worldComm(2), selfComm(i)};
        }
    }
    [[nodiscard]] RankScript rank() { return {m_trace, 0}; }
    EventDetails& last(std::size_t before = 0) {
        auto& events = m_trace.ranks.front().events;
        return events[events.size() - 1 - before].details;
    }
    /// Gives the completions of the last end their places in the list of requests, and what they received.
    void at(std::initializer_list<std::uint32_t> places, std::uint64_t bytes = 4) {
        std::size_t i = 0;
        for (const std::uint32_t place : places) {
            trace::Completion& one = last().completions.at(i++);
            one.index = place;
            one.status.bytes = one.status.source == kNoPeer ? 0 : bytes;
        }
    }
    /// Of the end that was written last.
    std::string text(bool errors = true) {
        const Timeline timeline = load(m_trace);
        const EventIndex event = timeline.lastEvent(RankId{0});
        CompletionNames names = completionNames(timeline, RankId{0});
        names.errors = errors;
        const std::string text = completedText(timeline, RankId{0}, event, names).toStdString();
        // What knows all makers says the same.
        const RequestMakers makers(timeline, RankId{0});
        names.maker = [&makers](EventIndex at, RequestRef ref) { return makers.maker(at, ref); };
        EXPECT_EQ(completedText(timeline, RankId{0}, event, names).toStdString(), text);
        return text;
    }
    std::string chosen() {
        const Timeline timeline = load(m_trace);
        return chosenText(timeline, RankId{0}, timeline.lastEvent(RankId{0})).toStdString();
    }

  private:
    Trace m_trace;
};

TEST(CompletionWords, TheOneOfAWait) {
    Program program;
    RankScript rank = program.rank();
    rank.init();                          // 1, 2
    const Serial recv = rank.irecv(1, 5); // 3, 4
    const Serial send = rank.isend(1, 7, 4096);
    const Serial barrier = rank.icollective(FunctionId::Ibarrier);
    rank.wait(recv, {1, 5});
    program.at({0});
    EXPECT_EQ(program.text(), "completed MPI_Irecv of event 3 from 1 tag 5 4 B");
    EXPECT_EQ(program.chosen(), "");
    rank.wait(send);
    EXPECT_EQ(program.text(), "completed MPI_Isend of event 5 to 1 tag 7 4 KiB");
    rank.wait(barrier);
    EXPECT_EQ(program.text(), "completed MPI_Ibarrier of event 7");
    const Serial later = rank.irecv(1, 6); // 15
    rank.wait(FunctionId::Request_get_status, {later}, {{later, {1, 6}}});
    program.at({0});
    EXPECT_EQ(program.text(), "saw the end of MPI_Irecv of event 15 from 1 tag 6 4 B");
    rank.wait(FunctionId::Test, {later}, {}, false);
    EXPECT_EQ(program.text(), "");
    const Serial gone = rank.irecv(1, 8); // 21
    rank.waitCancelled(gone);
    EXPECT_EQ(program.text(), "completed MPI_Irecv of event 21 cancelled");
}

TEST(CompletionWords, TheChosenOneOfSeveral) {
    Program program;
    RankScript rank = program.rank();
    rank.init();
    const Serial first = rank.irecv(1, 1);           // 3
    const Serial second = rank.irecv(kAnySource, 2); // 5
    const Serial third = rank.isend(1, 3);           // 7
    rank.wait(FunctionId::Waitany, {first, second, third}, {{second, {1, 2}}});
    program.at({1});
    EXPECT_EQ(program.text(), "completed [1] MPI_Irecv of event 5 from 1 tag 2 4 B");
    EXPECT_EQ(program.chosen(), " that completed [1]");
    rank.wait(FunctionId::Waitsome, {first, second, third}, {{third}, {first, {1, 1}}});
    program.at({2, 0});
    EXPECT_EQ(program.text(),
              "completed [2] MPI_Isend of event 7 to 1 tag 3 8 B, [0] MPI_Irecv of event 3 from 1 tag 1 4 B");
    EXPECT_EQ(program.chosen(), " that completed [2], [0]");
}

TEST(CompletionWords, SendsThatShareAHandle) {
    Program program;
    RankScript rank = program.rank();
    rank.init();
    const Serial send = rank.isend(1, 1);
    const Serial other = rank.isend(1, 1);
    rank.wait(FunctionId::Waitany, {send, other}, {{other}});
    program.at({1});
    program.last().shared = true;
    EXPECT_EQ(program.text(),
              "completed [1] MPI_Isend of event 5 (or another with its handle) to 1 tag 1 8 B");
}

TEST(CompletionWords, ManyAreTheirPlacesAlone) {
    Program program;
    RankScript rank = program.rank();
    rank.init();
    std::vector<Serial> made;
    for (int i = 0; i < 6; ++i) {
        made.push_back(rank.irecv(1, i));
    }
    rank.wait(FunctionId::Waitsome, {made[0], made[1], made[2], made[3], made[4], made[5]},
              {{made[4]}, {made[0]}, {made[1]}, {made[2]}, {made[5]}});
    program.at({4, 0, 1, 2, 5});
    EXPECT_EQ(program.text(), "completed 5: [4], [0-2], [5]");
    EXPECT_EQ(program.chosen(), " that completed [4], [0-2], [5]");
    program.last().completions[2].error = trace::ErrorClass::Truncate;
    program.last().completions[2].errorCode = 15;
    EXPECT_EQ(program.text(),
              "completed 5: [4], [0-2], [5]; [1] MPI_Irecv of event 5 error MPI_ERR_TRUNCATE (code 15)");
    EXPECT_EQ(program.text(false), "completed 5: [4], [0-2], [5]");
    program.last().truncated = true;
    EXPECT_EQ(program.text(false), "completed 5: [4], [0-2], [5], and more that are not recorded");
}

TEST(CompletionWords, PlacesAreNeverMoreThanALine) {
    Program program;
    RankScript rank = program.rank();
    rank.init();
    const Serial a = rank.irecv(1, 0);
    rank.wait(FunctionId::Waitsome, {a, a}, {{a}});
    for (std::uint32_t place = 2; place < 40; place += 2) {
        trace::Completion one = program.last().completions.front();
        one.index = place;
        program.last().completions.push_back(one);
    }
    EXPECT_EQ(
        program.chosen(),
        " that completed [0], [2], [4], [6], [8], [10], [12], [14], [16], [18], [20], [22], … and 8 more");
}

TEST(CompletionWords, NoneWasActive) {
    Program program;
    RankScript rank = program.rank();
    rank.init();
    rank.irecv(1, 0);
    rank.wait(FunctionId::Waitany, {}, {});
    EXPECT_EQ(program.text(), "completed none: no request was active");
    EXPECT_EQ(program.chosen(), "");
    rank.wait(FunctionId::Testany, {1}, {}, false);
    EXPECT_EQ(program.text(), "");
}

TEST(CompletionWords, FreedReceivesThatAreToldOf) {
    Program program;
    RankScript rank = program.rank();
    rank.init();
    const Serial freed = rank.irecv(1, 4); // 3
    const Serial send = rank.isend(1, 5);  // 5
    rank.requestFree(freed);
    rank.send(1, 6);
    rank.tell(freed, {1, 4});
    program.at({0});
    EXPECT_EQ(program.text(), "saw the end of freed MPI_Irecv of event 3 from 1 tag 4 4 B");
    const Serial other = rank.irecv(1, 4); // 11
    rank.requestFree(other);
    rank.wait(FunctionId::Waitany, {send}, {{send}});
    rank.tell(other, {1, 4});
    EXPECT_EQ(program.text(), "completed MPI_Isend of event 5 to 1 tag 5 8 B; saw the end of freed MPI_Irecv "
                              "of event 11 from 1 tag 4 0 B");
    EXPECT_EQ(program.chosen(), " that completed [0]");
}

TEST(CompletionWords, RequestsThatAreNotKnown) {
    Program program;
    RankScript rank = program.rank();
    rank.init();
    const Serial send = rank.isend(1, 1);
    rank.wait(FunctionId::Wait, {send}, {{send}});
    program.last().completions.front().request.back = RequestRef::kUnknown;
    program.last(1).requests.front().back = RequestRef::kUnknown;
    EXPECT_EQ(program.text(),
              "completed a request made before the start of the history, or by no recorded call");
}

} // namespace
} // namespace stopline::replay
