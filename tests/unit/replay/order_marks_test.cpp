// What the next execution of a rank has to follow when messages that raced are marked.
#include "order_text.h"
#include "races_text.h"

#include "../../../replay/order_marks.h"

namespace stopline::replay::test {
namespace {

/// The logs of all ranks, with and without marks.
class MarkedLogs {
  public:
    explicit MarkedLogs(const Job& job)
        : m_timeline(job.timeline()), m_marks(analyse(m_timeline).orderMarks()) {}

    [[nodiscard]] std::string bySource(std::int32_t rank) const {
        return text(orderLogOf(m_timeline, RankId{rank}));
    }
    [[nodiscard]] std::string byTag(std::int32_t rank) const {
        return text(orderLogOf(m_timeline, RankId{rank}, 0, {}, &m_marks));
    }
    [[nodiscard]] const OrderMarks& marks() const { return m_marks; }

  private:
    Timeline m_timeline;
    OrderMarks m_marks;
};

void finalize(Job& job) {
    for (RankScript& rank : job.ranks) {
        rank.finalize();
    }
}

TEST(OrderMarksTest, TheSecondOfTwoMessagesIsMarkedAndTheFirstNeedsNothing) {
    Job job(3);
    receiveInOrder(job, 0, {1, 2});
    finalize(job);
    const MarkedLogs logs(job);
    EXPECT_EQ(logs.bySource(0), "3 kind 1 1\n5 kind 1 2\n");
    EXPECT_EQ(logs.bySource(1), "");
    EXPECT_EQ(logs.bySource(2), "");
    EXPECT_EQ(logs.byTag(0), "1 kind 8\n5 kind 7 2 3\n");
    EXPECT_EQ(logs.byTag(1), "1 kind 8\n");
    EXPECT_EQ(logs.byTag(2), "1 kind 8\n3 kind 7 1 0\n");
    EXPECT_EQ(logs.marks().messages, 2U);
    EXPECT_EQ(logs.marks().traced, 1U);
    EXPECT_EQ(logs.marks().marked, 1U);
    EXPECT_EQ(logs.marks().windows, 2U);
    EXPECT_EQ(logs.marks().open, 1U);
}

TEST(OrderMarksTest, WithoutRacesNoMarksAndNothingForced) {
    Job job(3);
    job[1].send(0);
    job[0].recv(kAny, 0, {1});
    job[0].send(2, 7);
    job[2].recv(0, 7);
    job[2].send(0);
    job[0].recv(kAny, 0, {2});
    finalize(job);
    const MarkedLogs logs(job);
    EXPECT_EQ(logs.bySource(0), "3 kind 1 1\n7 kind 1 2\n");
    for (std::int32_t rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(logs.byTag(rank), "");
    }
    EXPECT_EQ(logs.marks().open, 2U);
}

TEST(OrderMarksTest, WhatIsSentBehindTheEndCouldComeFirst) {
    // No rank is known to have sent its last message; of rank 1 it is known that it goes on behind the first
    // receive.
    Job job(3);
    job[1].send(0);
    job[0].recv(kAny, 0, {1});
    job[0].send(1, 7);
    job[1].recv(0, 7);
    EXPECT_EQ(MarkedLogs(job).byTag(0), "3 kind 1 1\n");
    job[1].send(2, 7);
    job[2].recv(1, 7);
    EXPECT_EQ(MarkedLogs(job).byTag(0), "");
}

TEST(OrderMarksTest, AMessageUnderWayIsNotMarked) {
    Job job(3);
    job[1].send(0);
    job[2].send(0);
    job[0].recv(kAny, 0, {1});
    finalize(job);
    const MarkedLogs logs(job);
    EXPECT_EQ(logs.marks().traced, 1U);
    EXPECT_EQ(logs.byTag(0), "3 kind 1 1\n");
    EXPECT_EQ(logs.byTag(2), "");
}

TEST(OrderMarksTest, AMessageThatCannotBeMarkedKeepsTheSourcesOfWhatFitsIt) {
    Job job(3);
    job[1].send(0, 1);
    job[1].send(0, 2);
    const Serial sent = job[2].sendInit(0, 1); // 3
    job[2].start({sent});                      // 5
    job[2].wait(sent);                         // 7
    job[2].send(0, 2);                         // 9
    job[0].recv(kAny, 1, {1, 1});              // 3
    job[0].recv(kAny, 2, {1, 2});              // 5
    job[0].recv(kAny, 1, {2, 1});              // 7
    job[0].recv(kAny, 2, {2, 2});              // 9
    finalize(job);
    const MarkedLogs logs(job);
    EXPECT_EQ(logs.marks().traced, 2U);
    EXPECT_EQ(logs.marks().marked, 1U);
    EXPECT_EQ(logs.byTag(0), "1 kind 8\n3 kind 1 1\n7 kind 1 2\n9 kind 7 2 3\n");
    EXPECT_EQ(logs.byTag(2), "1 kind 8\n9 kind 7 1 0\n");
}

TEST(OrderMarksTest, NamedReceivesAndProbesLookWhereTheMessageIs) {
    Job job(3);
    job[1].send(0, 5);
    job[2].send(0, 5);
    job[0].recv(kAny, 5, {1, 5});                               // 3
    job[0].probe(FunctionId::Iprobe, kAny, 5, {2, 5}, true, 4); // 5
    job[0].probe(FunctionId::Probe, 2, kAnyTag, {2, 5});        // 7
    job[0].recv(2, 5);                                          // 9
    finalize(job);
    const MarkedLogs logs(job);
    EXPECT_EQ(logs.bySource(0), "3 kind 1 1\n5 kind 6 4 2 2\n");
    EXPECT_EQ(logs.byTag(0), "1 kind 8\n5 kind 6 4 6 2\n7 kind 7 2 0\n9 kind 7 2 0\n");
    EXPECT_EQ(logs.byTag(2), "1 kind 8\n3 kind 7 1 0\n");
}

TEST(OrderMarksTest, OneWayOrBothOfASendrecv) {
    Job job(3);
    job[1].send(0);            // 3
    job[0].recv(kAny, 0, {1}); // 3
    job[2].sendrecv(0, 0);     // 3: sends the marked one
    job[0].sendrecv(2, 2);     // 5: gets it
    finalize(job);
    const MarkedLogs logs(job);
    EXPECT_EQ(logs.byTag(0), "1 kind 8\n5 kind 7 2 0\n");
    EXPECT_EQ(logs.byTag(2), "1 kind 8\n3 kind 7 1 0\n");
}

TEST(OrderMarksTest, NonBlockingReceivesAtTheirPosting) {
    Job job(3);
    job[1].isend(0);                                                      // 3
    job[2].isend(0);                                                      // 3
    const Serial a = job[0].irecv(kAny);                                  // 3
    const Serial b = job[0].irecv(kAny);                                  // 5
    job[0].wait(FunctionId::Waitall, {a, b}, {{a, {2, 0}}, {b, {1, 0}}}); // 7
    finalize(job);
    const MarkedLogs logs(job);
    EXPECT_EQ(logs.byTag(0), "1 kind 8\n5 kind 7 2 2\n");
    EXPECT_EQ(logs.byTag(1), "1 kind 8\n3 kind 7 1 0\n");
    EXPECT_EQ(logs.byTag(2), "1 kind 8\n");
}

TEST(OrderMarksTest, OfAFreedReceiveOnlyAYoungerOneTellsThatItWasDecided) {
    // What the receive got came by chance before the Request_free ended; the next time what rank 1 sends may come first.
    for (const FunctionId seenBy : {FunctionId::Wait, FunctionId::Request_free}) {
        Job job(3);
        job[2].send(0);
        job[1].send(0);
        const auto request = job[0].irecv(kAny);
        job[0].wait(seenBy, {request}, {{request, {2, 0}}});
        job[0].recv(kAny, 0, {1, 0});
        finalize(job);
        EXPECT_EQ(racesOf(job), Texts({"0:1 got 2, also 1:1"}));
        const MarkedLogs logs(job);
        EXPECT_EQ(logs.marks().windows, 2U);
        EXPECT_EQ(logs.marks().marked, 1U);
        EXPECT_EQ(logs.marks().open, seenBy == FunctionId::Wait ? 1U : 0U);
        EXPECT_EQ(logs.byTag(0), seenBy == FunctionId::Wait ? "1 kind 8\n7 kind 7 2 2\n" : "1 kind 8\n3 kind 1 2\n7 kind 7 2 2\n");
    }
}

TEST(OrderMarksTest, AMessageThatIsSentWhenAFreedReceiveWasSeenCompleteIsMarked) {
    for (const bool freed : {false, true}) {
        Job job(3);
        const Serial request = job[0].irecv(kAny); // 3
        job[2].send(0);
        if (freed) {
            job[0].requestFree(request); // 5
            job[0].tell(request, {2, 0});
        } else {
            job[0].wait(request, {2, 0}); // 5
        }
        job[0].send(1, 7); // 7
        job[1].recv(0, 7); // 3
        job[1].send(0);    // 5
        job[0].recv(1);    // 9
        finalize(job);
        const MarkedLogs logs(job);
        EXPECT_EQ(logs.byTag(0), freed ? "1 kind 8\n3 kind 1 2\n9 kind 7 2 0\n" : "");
        EXPECT_EQ(logs.byTag(1), freed ? "1 kind 8\n5 kind 7 1 0\n" : "");
    }
}

TEST(OrderMarksTest, ACommunicatorHasATwinWhereItCarriesMarkedMessages) {
    Job job(3);
    trace::CommInfo one;
    one.id = 77;
    one.kind = trace::CommKind::Dup;
    one.parent = kWorld;
    one.ordinal = 1;
    one.members = {0, 1, 2};
    trace::CommInfo other = one;
    other.id = 78;
    other.ordinal = 2;
    CommIndex comm = kWorld;
    for (RankScript& rank : job.ranks) {
        comm = rank.construct(FunctionId::Comm_dup, one); // 3
        rank.construct(FunctionId::Comm_dup, other);      // 5
    }
    job[1].send(0, 0, 8, comm);         // 7
    job[2].send(0, 0, 8, comm);         // 7
    job[0].recv(kAny, 0, {1, 0}, comm); // 7
    job[0].recv(kAny, 0, {2, 0}, comm); // 9
    finalize(job);
    const MarkedLogs logs(job);
    EXPECT_EQ(logs.byTag(0), "1 kind 8\n3 kind 8\n9 kind 7 2 3\n");
    EXPECT_EQ(logs.byTag(1), "1 kind 8\n3 kind 8\n");
    EXPECT_EQ(logs.byTag(2), "1 kind 8\n3 kind 8\n7 kind 7 1 0\n");
}

TEST(OrderMarksTest, WithoutATwinOnAllMembersSourcesAreForced) {
    // MPI_Comm_idup is complete at another moment on each rank: there is none at which the twin could be
    // made.
    Job job(3);
    trace::CommInfo info;
    info.id = 77;
    info.kind = trace::CommKind::Dup;
    info.parent = kWorld;
    info.ordinal = 1;
    info.members = {0, 1, 2};
    CommIndex comm = kWorld;
    for (RankScript& rank : job.ranks) {
        comm = rank.construct(&rank == &job.ranks[1] ? FunctionId::Comm_idup : FunctionId::Comm_dup, info);
    }
    job[1].send(0, 0, 8, comm);
    job[2].send(0, 0, 8, comm);
    job[0].recv(kAny, 0, {1, 0}, comm); // 5
    job[0].recv(kAny, 0, {2, 0}, comm); // 7
    finalize(job);
    const MarkedLogs logs(job);
    EXPECT_EQ(logs.byTag(0), "5 kind 1 1\n7 kind 1 2\n");
    EXPECT_EQ(logs.byTag(2), "");
}

TEST(OrderMarksTest, WhatFollowsOnlyFromWhoGotWhatIsForced) {
    // That the younger receive got a message which the older one would have taken tells that the older one
    // was decided, and so what is sent then could not have been its own. Marked messages tell no such thing.
    Job job(3);
    job[1].send(0);                            // 3
    job[2].send(0);                            // 3
    const Serial older = job[0].irecv(kAny);   // 3
    const Serial younger = job[0].irecv(kAny); // 5
    job[0].wait(younger, {2, 0});              // 7
    job[0].send(2, 7);                         // 9
    job[2].recv(0, 7);                         // 5
    job[2].send(0);                            // 7
    job[0].wait(older, {1, 0});                // 11
    job[0].recv(kAny, 0, {2, 0});              // 13
    finalize(job);
    const MarkedLogs logs(job);
    EXPECT_EQ(logs.byTag(0), "1 kind 8\n3 kind 1 1\n5 kind 7 2 3\n");
    EXPECT_EQ(logs.byTag(2), "1 kind 8\n3 kind 7 1 0\n");
}

TEST(OrderMarksTest, SeveralThreadsLeaveNothingMarked) {
    Job job(3);
    receiveInOrder(job, 0, {1, 2});
    EventDetails begin;
    begin.function = FunctionId::Barrier;
    begin.thread = 1;
    EventDetails end;
    end.thread = 1;
    job[1].both(begin, end);
    finalize(job);
    const MarkedLogs logs(job);
    EXPECT_EQ(logs.marks().marked, 0U);
    EXPECT_EQ(logs.byTag(0), logs.bySource(0));
}

} // namespace
} // namespace stopline::replay::test
