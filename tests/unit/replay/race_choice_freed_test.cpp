// The same where the requests of receives were freed: no call tells what these got, but by chance.
#include "race_choice_text.h"

#include <string>

namespace stopline::replay::test {
namespace {

TEST(RaceChoice, AFreedReceiveIsNotDecidedWhereItWasSeenComplete) {
    for (const bool last : {false, true}) {
        Job job(3);
        const Serial request = job[0].irecv(kAny, 5); // 3
        job[1].send(0, 5);
        job[0].requestFree(request); // 5-6
        job[0].tell(request, {1, 5});
        job[0].send(2, 7); // 7
        job[2].recv(0, 7);
        job[2].send(0, 5); // 5: the other message
        if (last) {
            job[0].irecv(2, 5); // 9
        } else {
            job[0].recv(2, 5); // 9: would not get it
        }
        const Timeline timeline = job.timeline();
        const Choice choice = choose(timeline, at(0, 1), 2);
        EXPECT_EQ(choice.sendBegin, EventIndex{5});
        EXPECT_EQ(upTo(choice), "9 4 6");
        EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choice)), "3 kind 1 2\n10 kind 10 1\n");
    }
}

TEST(RaceChoice, AFreedReceiveIsNotSharedFromWhereTheProgramMayKnowWhatItGot) {
    Job job(3);
    const Serial request = job[0].irecv(kAny, 5); // 3
    job[1].send(0, 5);
    job[0].requestFree(request); // 5-6
    job[0].tell(request, {1, 5});
    job[0].collective(FunctionId::Barrier); // 7-8: all has been sent
    job[0].send(1, 9);                      // 9
    job[2].send(0, 5);
    job[1].collective(FunctionId::Barrier);
    job[2].collective(FunctionId::Barrier);
    job[1].recv(0, 9);
    const Timeline timeline = job.timeline();
    EXPECT_EQ(upTo(choose(timeline, at(0, 1), 2)), "7 7 6");
}

TEST(RaceChoice, AYoungerFreedReceiveIsNotSharedFromWhereTheProgramMayKnowWhatItGot) {
    Job job(3);
    const Serial a = job[0].irecv(kAny, 5); // 3
    const Serial b = job[0].irecv(kAny, 5); // 5
    job[0].requestFree(b);                  // 7-8
    job[0].tell(b, {2, 5});
    job[0].collective(FunctionId::Barrier); // 9-10
    job[0].wait(a, {1, 5});                 // 11
    job[1].send(0, 5);
    job[2].send(0, 5);
    job[1].collective(FunctionId::Barrier);
    job[2].collective(FunctionId::Barrier);
    EXPECT_EQ(upTo(choose(job.timeline(), at(0, 1), 2)), "9 6 6");
}

TEST(RaceChoice, AFreedReceiveThatNoCallSawCompleteGetsTheChosenMessage) {
    Job job(3);
    const Serial request = job[0].irecv(kAny, 5); // 3
    job[1].send(0, 5);
    job[0].requestFree(request); // 5-6
    job[2].send(0, 5);
    job[0].recv(2, 5); // 7-8: so the first is rank 1's
    const Timeline timeline = job.timeline();
    Race race;
    race.call = at(0, 1);
    Choice choice;
    choice.race = race;
    choice.source = 2;
    choice.tag = 5;
    choice.upTo = {EventIndex{8}, EventIndex{4}, EventIndex{4}};
    EXPECT_EQ(text(plannedOrder(timeline, RankId{0}, choice)), "3 kind 1 2\n");
}

TEST(RaceChoice, AYoungerFreedReceiveThatChanceToldOfIsLeftToMpi) {
    Job job(3);
    const Serial a = job[0].irecv(kAny, 5); // 3
    const Serial b = job[0].irecv(kAny, 5); // 5
    job[0].requestFree(b);                  // 7-8
    job[0].tell(b, {2, 5});
    job[0].wait(a, {1, 5}); // 9
    job[1].send(0, 5);
    job[2].send(0, 5);
    std::string shared;
    EXPECT_EQ(plannedFor(job.timeline(), at(0, 1), 1, 2, &shared), "3 kind 1 2\n");
    EXPECT_EQ(shared, "9 4 4");
}

} // namespace
} // namespace stopline::replay::test
