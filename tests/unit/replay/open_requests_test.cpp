// Requests that a rank has made and not had back.
#include "script.h"

#include "../../../replay/open_requests.h"

#include <gtest/gtest.h>

namespace stopline::replay {
namespace {

using namespace test;

std::string text(const Timeline& timeline, RankId rank) {
    std::string all;
    for (const OpenRequest& request : openRequests(timeline, rank)) {
        all += std::to_string(request.madeBy.call.value());
        all += request.persistent ? "p" : "";
        all += ' ';
    }
    return all;
}

TEST(OpenRequests, EachWayOfGivingOneBack) {
    Trace trace;
    trace.ranks.resize(2);
    for (std::int32_t i = 0; i < 2; ++i) {
        trace.ranks[static_cast<std::size_t>(i)].comms = {worldComm(2), selfComm(i)};
    }
    RankScript rank(trace, 0);
    rank.init();                                                 // 0
    const Serial waited = rank.isend(1, 1);                      // 1
    const Serial kept = rank.irecv(1, 2);                        // 2
    const Serial freed = rank.isend(1, 3);                       // 3
    const Serial persistent = rank.sendInit(1, 4);               // 4
    const Serial active = rank.recvInit(1, 5);                   // 5
    const Serial gone = rank.sendInit(1, 6);                     // 6
    rank.wait(FunctionId::Wait, {waited}, {{waited}});           // 7
    rank.requestFree(freed);                                     // 8
    rank.start({persistent, active, gone});                      // 9
    rank.wait(FunctionId::Wait, {persistent}, {{persistent}});   // 10
    rank.wait(FunctionId::Wait, {gone}, {{gone}});               // 11
    rank.requestFree(gone);                                      // 12
    rank.wait(FunctionId::Request_get_status, {kept}, {{kept}}); // 13: a Wait is still to come
    const Serial barrier = rank.icollective(FunctionId::Barrier_init); // 14
    rank.start({barrier});                                             // 15
    rank.wait(FunctionId::Wait, {barrier}, {{barrier}});               // 16
    rank.start({barrier});                                             // 17
    RankScript other(trace, 1);
    other.init();
    other.icollective(FunctionId::Barrier_init); // 1: never started
    const Timeline timeline = load(trace);
    EXPECT_EQ(text(timeline, RankId{0}), "2 5p 14p ");
    EXPECT_EQ(text(timeline, RankId{1}), "");
}

} // namespace
} // namespace stopline::replay
