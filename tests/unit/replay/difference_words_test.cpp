// What differs between two events that read the same, in words.
#include "../../bench/timeline/halo.h"

#include "../../../replay/difference_words.h"
#include "../../../replay/recording.h"

#include <gtest/gtest.h>

namespace stopline::replay {
namespace {

using trace::EventDetails;
using trace::EventKind;
using trace::FunctionId;
using trace::RequestRef;

const RankId kRank{0};

/// Sites are their lines; 0 is not known.
const DifferenceNames kNames{
    [](RequestRef ref) { return QStringLiteral("request %1").arg(ref.back); },
    [](CodeAddress site) {
        return site.value() == 0 ? QString() : QStringLiteral("a.c:%1").arg(site.value() / 10);
    },
    [](CodeAddress site) {
        return site.value() == 0 ? QString() : QStringLiteral("a.c:%1").arg(site.value() / 10);
    },
    false};

EventDetails waitall() {
    EventDetails event;
    event.function = FunctionId::Waitall;
    event.site = CodeAddress{120};
    event.requests = {{0}, {1}};
    return event;
}

/// `change` makes the executed event of the recorded one.
template <typename Change>
std::string words(EventDetails recorded, Change change, const DifferenceNames& names = kNames) {
    EventDetails executed = recorded;
    change(executed);
    return whatDiffers(recorded, executed, names).toStdString();
}

TEST(DifferenceWords, OneThing) {
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.kind = EventKind::End; }),
              " at its end instead of its begin");
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.comm = CommIndex{3}; }),
              " on communicator 3 instead of none");
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.newComm = kCommSelf; }),
              " making MPI_COMM_SELF instead of none");
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.sendBytes = 8; }), " with 8 B to send instead of 0 B");
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.recvBytes = 2048; }),
              " with room for 2 KiB instead of 0 B");
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.thread = 2; }), " by thread 2 instead of thread 0");
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.mode = 1; }), " in mode 1 instead of 0");
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.message = {1}; }), " for another matched message");
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.peers = {1}; }), " with the ranks in another order");
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.status.bytes = 4; }), " receiving 4 B instead of 0 B");
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.status.cancelled = true; }), " cancelled");
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.errorCode = 5; }), " with other arguments");
}

TEST(DifferenceWords, SizesThatAreNearlyTheSameAreToldInBytes) {
    EventDetails event = waitall();
    event.sendBytes = 1 << 20;
    EXPECT_EQ(words(event, [](EventDetails& d) { ++d.sendBytes; }),
              " with 1048577 B to send instead of 1048576 B");
    EXPECT_EQ(words(event, [](EventDetails& d) { d.sendBytes *= 2; }),
              " with 2 MiB to send instead of 1 MiB");
}

TEST(DifferenceWords, Requests) {
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.requests[1] = {4}; }),
              " for request 4 at [1] instead of request 1");
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.requests.pop_back(); }),
              " for 1 requests instead of 2");
    EventDetails wait = waitall();
    wait.requests.pop_back();
    EXPECT_EQ(words(wait, [](EventDetails& d) { d.requests[0] = {4}; }),
              " for request 4 instead of request 0");
    wait.kind = EventKind::End;
    wait.requests.clear();
    wait.completions = {{{1}, 0, {0, 5, 8, false}}, {{2}, 3, {0, 5, 8, false}}};
    EXPECT_EQ(words(wait, [](EventDetails& d) { d.completions[1].request = {7}; }),
              " completing request 7 at [3] instead of request 2");
    EXPECT_EQ(words(wait, [](EventDetails& d) { d.completions[1].status.bytes = 9; }),
              " receiving 9 B at [3] instead of 8 B");
    EXPECT_EQ(words(wait, [](EventDetails& d) { d.completions[0].status.cancelled = true; }),
              " with [0] cancelled");
}

TEST(DifferenceWords, CallSites) {
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.site = CodeAddress{340}; }),
              " from a.c:34 instead of a.c:12");
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.site = CodeAddress{125}; }),
              " by another call in a.c:12");
    EXPECT_EQ(words(waitall(), [](EventDetails& d) { d.site = CodeAddress{0}; }),
              " from another place in the program");
}

TEST(DifferenceWords, TheMostTellingFirstAndNothingOfMovedCode) {
    const auto change = [](EventDetails& d) {
        d.site = CodeAddress{340};
        d.requests[0] = {5};
        d.comm = kCommWorld;
        d.recvBytes = 3;
    };
    EXPECT_EQ(words(waitall(), change), " on MPI_COMM_WORLD instead of none, with room for 3 B instead of 0 "
                                        "B, for request 5 at [0] instead of request 0, "
                                        "from a.c:34 instead of a.c:12");
    DifferenceNames moved = kNames;
    moved.sitesMayBeOne = true;
    EXPECT_EQ(words(waitall(), change, moved), " on MPI_COMM_WORLD instead of none, with room for 3 B "
                                               "instead of 0 B, for request 5 at [0] instead of request 0");
}

TEST(DifferenceWords, ARequestIsToldByTheCallThatMadeIt) {
    std::vector<EventDetails> events(4);
    events[0].function = events[1].function = FunctionId::Isend;
    events[0].sendPeer = 1;
    events[0].sendTag = 3;
    events[0].sendBytes = 4;
    events[2].function = events[3].function = FunctionId::Wait;
    events[1].kind = events[3].kind = EventKind::End;
    Recording recording(2);
    QString error;
    (void)recording.feed(kRank, bench::recording(events, 0, 2, 1), error);
    const auto text = [&](std::uint32_t back) {
        return requestText(recording.timeline(), kRank, EventIndex{3}, {back}).toStdString();
    };
    EXPECT_EQ(text(0), "the request of MPI_Isend to 1 tag 3 4 B (event 1)");
    EXPECT_EQ(text(1), "a request that no recorded call has made");
    EXPECT_EQ(text(RequestRef::kNull), "no active request");
    EXPECT_EQ(text(RequestRef::kUnknown), "a request that no recorded call has made");
}

} // namespace
} // namespace stopline::replay
