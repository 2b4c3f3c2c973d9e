#include "../../../viewer/call_text.h"
#include "../../../viewer/diagram_model.h"
#include "../../../viewer/navigation.h"
#include "../../../viewer/search.h"
#include "synthetic.h"

#include <gtest/gtest.h>

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;
using namespace Qt::StringLiterals;

namespace {

struct Small {
    Small() : story(3) {
        for (int r = 0; r < 3; ++r) {
            story.init(r, 10, 20);
        }
        send = story.send(0, 1, 5, 4096, 100, 150);
        recv = story.recv(1, 0, 5, 8192, 90, 200);
        lost = story.send(2, 0, 9, 16, 120, 130);
        any = story.recvOpen(1, kAnySource, 6, 220);
        for (int r = 0; r < 3; r += 2) {
            story.collectiveOpen(r, trace::FunctionId::Barrier, kNoPeer, 300 + r);
        }
        model.setTimeline(&story.timeline());
    }
    Story story;
    DiagramModel model;
    std::uint32_t send = 0;
    std::uint32_t recv = 0;
    std::uint32_t lost = 0;
    std::uint32_t any = 0;
};

bool has(const QStringList& lines, const QString& part) {
    for (const QString& line : lines) {
        if (line.contains(part)) {
            return true;
        }
    }
    return false;
}

} // namespace

TEST(CallText, SaysAllThatIsKnown) {
    Small s;
    const QStringList lines = callLines(s.story.timeline(), Story::ref(1, s.recv), u"solve.c:42"_s);
    EXPECT_EQ(lines.first(), u"MPI_Recv"_s);
    EXPECT_TRUE(has(lines, u"rank 1, events 3 to 4"_s));
    EXPECT_TRUE(has(lines, u"takes 110 ns"_s));
    EXPECT_TRUE(has(lines, u"from rank 0, tag 5"_s));
    EXPECT_TRUE(has(lines, u"MPI_COMM_WORLD, 3 members"_s));
    EXPECT_TRUE(has(lines, u"matched with rank 0 event 3 (MPI_Send)"_s)) << lines.join(u'\n').toStdString();
    EXPECT_TRUE(has(lines, u"solve.c:42"_s));
    const QStringList sender = callLines(s.story.timeline(), Story::ref(0, s.send), {});
    EXPECT_TRUE(has(sender, u"matched with rank 1 event 4 (MPI_Recv)"_s));
    EXPECT_TRUE(
        has(callLines(s.story.timeline(), Story::ref(2, s.lost), {}), u"pending: sent, no receive yet"_s));
    const QStringList wild = callLines(s.story.timeline(), Story::ref(1, s.any), {});
    EXPECT_TRUE(has(wild, u"any source"_s));
    EXPECT_TRUE(has(wild, u"wildcard"_s));
    EXPECT_TRUE(has(wild, u"not finished"_s));
    EXPECT_TRUE(has(callLines(s.story.timeline(), Story::ref(0, 2), {}),
                    u"2 of 3 members arrived; missing: rank 1"_s));
}

TEST(CallText, ErrorsOfCallsAndOfRequests) {
    Small s;
    trace::EventDetails wait;
    wait.function = trace::FunctionId::Waitall;
    trace::EventDetails end;
    end.kind = trace::EventKind::End;
    end.function = wait.function;
    end.error = trace::ErrorClass::InStatus;
    end.errorCode = 18;
    end.completions = {{{1}, 0, {}, trace::ErrorClass::Success, 0}, {{0}, 1, {}, trace::ErrorClass::Truncate, 15}};
    replay::Timeline& timeline = s.story.timeline();
    timeline.addEvent(RankId{0}, timeline.addDetails(RankId{0}, wait), 400); // after an open call of the same thread
    const std::uint32_t call = timeline.callCount(RankId{0}) - 1;
    timeline.addEvent(RankId{0}, timeline.addDetails(RankId{0}, end), 410);
    const QStringList lines = callLines(timeline, Story::ref(0, call), {});
    EXPECT_TRUE(has(lines, u"failed with MPI_ERR_IN_STATUS (code 18)"_s)) << lines.join(u'\n').toStdString();
    EXPECT_TRUE(has(lines, u"request [1] failed with MPI_ERR_TRUNCATE (code 15)"_s));
    EXPECT_FALSE(has(lines, u"request [0]"_s));
}

TEST(CallText, WhichRequestsACallHasCompleted) {
    Small s;
    trace::EventDetails post;
    post.function = trace::FunctionId::Irecv;
    post.comm = kCommWorld;
    post.recvPeer = kAnySource;
    post.recvTag = kAnyTag;
    trace::EventDetails wait;
    wait.function = trace::FunctionId::Waitany;
    wait.requests = {{trace::RequestRef::kNull}, {0}};
    trace::EventDetails end;
    end.completions = {{{0}, 1, {2, 9, 16, false}, trace::ErrorClass::Success, 0}};
    replay::Timeline& timeline = s.story.timeline();
    TimeNs time = 1000;
    const auto add = [&](const trace::EventDetails& begin, trace::EventDetails result) {
        result.kind = trace::EventKind::End;
        result.function = begin.function;
        timeline.addEvent(RankId{1}, timeline.addDetails(RankId{1}, begin), time += 10);
        timeline.addEvent(RankId{1}, timeline.addDetails(RankId{1}, result), time += 10);
        return timeline.callCount(RankId{1}) - 1;
    };
    add(post, {});
    const std::uint32_t call = add(wait, end);
    const QStringList lines = callLines(timeline, Story::ref(1, call), {});
    EXPECT_TRUE(lines.contains(u"completed [1] MPI_Irecv of event 6 from rank 2 tag 9 16 B"_s)) << lines.join(u'\n').toStdString();
}

TEST(CallText, OneSidedCallsSayWhatTheyMoveAndWhatCompletesIt) {
    replay::Timeline timeline(2);
    const auto call = [&](int rank, trace::EventDetails begin) {
        trace::EventDetails end;
        end.kind = trace::EventKind::End;
        end.function = begin.function;
        const RankId id{rank};
        timeline.addEvent(id, timeline.addDetails(id, begin), 10 * TimeNs(timeline.lastEvent(id).value()));
        timeline.addEvent(id, timeline.addDetails(id, end), 10 * TimeNs(timeline.lastEvent(id).value()));
    };
    trace::EventDetails fence;
    fence.function = trace::FunctionId::Win_fence;
    trace::EventDetails put;
    put.function = trace::FunctionId::Put;
    for (int rank = 0; rank < 2; ++rank) {
        trace::CommInfo window;
        window.id = 5;
        window.kind = trace::CommKind::Window;
        window.members = {0, 1};
        fence.comm = timeline.addComm(RankId{rank}, window);
    }
    put.comm = fence.comm;
    put.sendPeer = 1;
    put.sendBytes = 4096;
    call(0, fence);
    call(0, put);
    const QStringList early = callLines(timeline, Story::ref(0, 1), {});
    EXPECT_TRUE(has(early, u"at rank 1, puts 4 KiB"_s)) << early.join(u'\n').toStdString();
    EXPECT_TRUE(has(early, u"not complete"_s));
    EXPECT_FALSE(has(early, u"tag"_s));
    call(0, fence);
    call(1, fence);
    call(1, fence);
    const QStringList lines = callLines(timeline, Story::ref(0, 1), {});
    EXPECT_TRUE(has(lines, u"memory opened by rank 1 event 1 (MPI_Win_fence)"_s)) << lines.join(u'\n').toStdString();
    EXPECT_TRUE(has(lines, u"complete here with rank 0 event 6 (MPI_Win_fence)"_s));
    EXPECT_TRUE(has(lines, u"complete at the target with rank 0 event 6 (MPI_Win_fence)"_s));
    EXPECT_TRUE(has(lines, u"the target may rely on it after rank 1 event 4 (MPI_Win_fence)"_s));
    trace::EventDetails start;
    start.function = trace::FunctionId::Win_start;
    start.comm = fence.comm;
    start.peers = {1};
    call(0, start);
    EXPECT_TRUE(has(callLines(timeline, Story::ref(0, 3), {}), u"with rank 1"_s));
}

TEST(CallText, Labels) {
    Small s;
    const replay::MessageIndex message = s.story.timeline().messagesOf(Story::ref(0, s.send)).front();
    EXPECT_EQ(messageLabelText(s.story.timeline().messages()[message.value()]), u"0 → 1, tag 5, 4 KiB"_s);
    EXPECT_EQ(functionText(s.story.timeline(), Story::ref(0, s.send)), u"MPI_Send"_s);
    EXPECT_FALSE(accessibleCallText(s.story.timeline(), Story::ref(0, s.send)).contains(u'\n'));
}

TEST(Search, WordsAndConditions) {
    Small s;
    const auto first = [&](const QString& text) {
        return SearchQuery(text).next(s.model, std::nullopt, true);
    };
    EXPECT_EQ(first(u"recv"_s), Story::ref(1, s.recv));
    EXPECT_EQ(first(u"MPI_SEND tag=9"_s), Story::ref(2, s.lost));
    EXPECT_EQ(first(u"to=1"_s), Story::ref(0, s.send));
    EXPECT_EQ(first(u"from:0"_s), Story::ref(1, s.recv));
    EXPECT_EQ(first(u"size>1k"_s), Story::ref(1, s.recv));
    EXPECT_EQ(first(u"size=4k send"_s), Story::ref(0, s.send));
    EXPECT_EQ(first(u"size<1k"_s), Story::ref(2, s.lost));
    EXPECT_EQ(first(u"wildcard"_s), Story::ref(1, s.any));
    EXPECT_EQ(first(u"unmatched"_s), Story::ref(2, s.lost));
    EXPECT_EQ(first(u"unfinished rank=2"_s), Story::ref(2, 2));
    EXPECT_EQ(first(u"comm=world peer=0"_s), Story::ref(1, s.recv));
    EXPECT_EQ(first(u"tag 9"_s), Story::ref(2, s.lost));
    EXPECT_EQ(first(u"rank 2 send"_s), Story::ref(2, s.lost));
    EXPECT_EQ(first(u"send tag"_s), std::nullopt);
    EXPECT_EQ(first(u"nonsense"_s), std::nullopt);
    EXPECT_EQ(first(QString()), std::nullopt);
}

TEST(Search, GoesRoundBothWays) {
    Small s;
    const SearchQuery init(u"init"_s);
    auto at = init.next(s.model, std::nullopt, true);
    EXPECT_EQ(at, Story::ref(0, 0));
    at = init.next(s.model, at, true);
    EXPECT_EQ(at, Story::ref(1, 0));
    at = init.next(s.model, at, true);
    at = init.next(s.model, at, true);
    EXPECT_EQ(at, Story::ref(0, 0));
    EXPECT_EQ(init.next(s.model, at, false), Story::ref(2, 0));
}

TEST(Navigation, FollowsMessagesAndCollectives) {
    Small s;
    EXPECT_EQ(receiveEnd(s.model, Story::ref(0, s.send)), Story::ref(1, s.recv));
    EXPECT_EQ(sendEnd(s.model, Story::ref(1, s.recv)), Story::ref(0, s.send));
    EXPECT_EQ(receiveEnd(s.model, Story::ref(2, s.lost)), std::nullopt);
    EXPECT_EQ(nextMember(s.model, Story::ref(0, 2)), Story::ref(2, 2));
    EXPECT_EQ(nextMember(s.model, Story::ref(2, 2)), Story::ref(0, 2));
    EXPECT_EQ(neighbour(s.model, Story::ref(0, 0), true), Story::ref(0, 1));
    EXPECT_EQ(neighbour(s.model, Story::ref(0, 0), false), std::nullopt);
    EXPECT_EQ(neighbour(s.model, Story::ref(0, 2), true), std::nullopt);
    EXPECT_EQ(sameSite(s.model, Story::ref(1, s.recv), true), Story::ref(1, s.any));
    EXPECT_EQ(onRank(s.model, Story::ref(1, s.recv), 2, Axis::Time), Story::ref(2, s.lost));
    EXPECT_EQ(onRank(s.model, Story::ref(1, s.recv), 7, Axis::Time), std::nullopt);
}
