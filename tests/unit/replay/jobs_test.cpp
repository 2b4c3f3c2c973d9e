// Spawned jobs: their rows and names, and what their ranks and the spawn need of each other.
#include "../../../replay/jobs.h"
#include "../../../replay/timeline.h"

#include <gtest/gtest.h>

using namespace stopline;
using namespace stopline::replay;
using trace::EventDetails;
using trace::EventKind;
using trace::FunctionId;

namespace {

constexpr JobKey kJob = 0xabcdULL;

JobTable twoJobs() {
    JobTable jobs(2);
    jobs.add(kJob, 2, Spawner{kFirstJob, 1, EventIndex(3)});
    return jobs;
}

/// Appends a call that has ended.
void call(Timeline& timeline, int rank, FunctionId function, CommIndex comm = kNoComm) {
    const RankId id(rank);
    EventDetails begin;
    begin.function = function;
    begin.comm = comm;
    EventDetails end;
    end.kind = EventKind::End;
    end.function = function;
    const TimeNs time = TimeNs(timeline.lastEvent(id).value()) * 1000;
    timeline.addEvent(id, timeline.addDetails(id, begin), time);
    timeline.addEvent(id, timeline.addDetails(id, end), time + 500);
}

/// Two ranks, of which rank 1 spawns two: all of them enter MPI and leave it.
Timeline spawned() {
    const JobTable jobs = twoJobs();
    Timeline timeline(2);
    timeline.addJob(jobs.all()[1]);
    for (int rank = 0; rank < 4; ++rank) {
        trace::CommInfo world;
        world.id = rank < 2 ? 1 : 2;
        world.members = rank < 2 ? std::vector<std::int32_t>{0, 1} : std::vector<std::int32_t>{2, 3};
        timeline.addComm(RankId(rank), world);
        call(timeline, rank, FunctionId::Init);
        if (rank < 2) {
            call(timeline, rank, FunctionId::Comm_spawn, kCommWorld);
        }
        call(timeline, rank, FunctionId::Finalize);
    }
    return timeline;
}

Place before(std::uint64_t event) {
    return {EventIndex(event), false};
}

} // namespace

TEST(Jobs, RowsFollowEachOther) {
    JobTable jobs = twoJobs();
    EXPECT_EQ(jobs.rankCount(), 4);
    EXPECT_EQ(jobs.all()[1], (JobRanks{kJob, 2, 2, RankId(1), EventIndex(3)}));
    EXPECT_EQ(jobs.row(kFirstJob, 1), RankId(1));
    EXPECT_EQ(jobs.row(kJob, 1), RankId(3));
    EXPECT_EQ(jobs.row(kJob, 2), RankId(-1));
    EXPECT_EQ(jobs.row(7, 0), RankId(-1));
    EXPECT_EQ(jobs.keyOf(RankId(2)), kJob);
    // The same job once more has the rows that it had.
    EXPECT_EQ(jobs.add(kJob, 5, {}).first, 2);
    EXPECT_EQ(jobs.rankCount(), 4);
    // One that was spawned by a spawned rank.
    EXPECT_EQ(jobs.add(9, 1, Spawner{kJob, 1, EventIndex(5)}), (JobRanks{9, 4, 1, RankId(3), EventIndex(5)}));
}

TEST(Jobs, NamesAreOfJobAndRank) {
    const JobTable jobs = twoJobs();
    EXPECT_EQ(jobs.name(RankId(1)), "1");
    EXPECT_EQ(jobs.name(RankId(3)), "1:1");
    nameRanks(jobs);
    EXPECT_EQ(rankName(RankId(2)), "1:0");
    EXPECT_EQ(rankOfName("1:1"), RankId(3));
    EXPECT_EQ(rankOfName("0"), RankId(0));
    for (const char* none : {"2", "1:2", "2:0", "1:", ":1", "-1", "a", "1:0x", ""}) {
        EXPECT_EQ(rankOfName(none), std::nullopt) << none;
    }
    nameRanks(JobTable(4)); // without spawned jobs a rank that is not there is for others to complain about
    EXPECT_EQ(rankOfName("7"), RankId(7));
}

TEST(Jobs, RanksAreNamedTogether) {
    const auto of = [](std::initializer_list<std::int32_t> ranks) { return std::vector<RankId>(ranks.begin(), ranks.end()); };
    using Parts = std::vector<std::string>;
    nameRanks(JobTable(9));
    EXPECT_EQ(rankRanges({}), Parts{});
    EXPECT_EQ(rankRanges(of({8, 2, 0, 1, 7, 2})), (Parts{"0-2", "7", "8"}));
    EXPECT_EQ(rankNames(of({4})), "rank 4");
    EXPECT_EQ(rankNames(of({1, 2})), "ranks 1 and 2");
    EXPECT_EQ(rankNames(of({0, 1, 2})), "ranks 0-2");
    EXPECT_EQ(rankNames(of({0, 1, 2, 5, 7})), "ranks 0-2, 5 and 7");
    JobTable jobs(3);
    jobs.add(JobKey{5}, 3, {kFirstJob, 0, EventIndex(3)});
    nameRanks(jobs);
    EXPECT_EQ(rankRanges(of({0, 1, 2, 3, 4, 5})), (Parts{"0-2", "1:0-2"}));
    EXPECT_EQ(rankRanges(of({1, 2, 3, 4})), (Parts{"1", "2", "1:0", "1:1"}));
    nameRanks(JobTable(4));
}

TEST(Jobs, SpawnerIsJobRankAndEvent) {
    const Spawner spawner = spawnerOf("ff:3:12");
    EXPECT_EQ(spawner.job, 0xffU);
    EXPECT_EQ(spawner.rank, 3);
    EXPECT_EQ(spawner.event, EventIndex(12));
    for (const char* none : {"", "ff", "ff:3", "ff:3:", "ff:3:12 ", "g:3:12", "ff::12"}) {
        EXPECT_EQ(spawnerOf(none).rank, -1) << none;
    }
}

TEST(Jobs, SpawnedRanksAreNotThereBeforeTheSpawn) {
    const Timeline timeline = spawned();
    const Point spawn{{RankId(1), CallIndex(1)}, false};
    EXPECT_EQ(timeline.pastFrontier(spawn).cut, (Cut{before(2), before(3), before(0), before(0)}));
    EXPECT_EQ(timeline.futureFrontier(spawn).cut, (Cut{before(3), before(3), before(0), before(0)}));
    EXPECT_FALSE(timeline.isClosed({before(3), before(2), before(1), before(0)}));
    EXPECT_TRUE(timeline.isClosed({before(3), before(3), before(0), before(0)}));
}

TEST(Jobs, TheSpawnReturnsWhenAllHaveEnteredInit) {
    const Timeline timeline = spawned();
    // After MPI_Init of a spawned rank: the spawn has been entered by its root, and by rank 0 as its collective asks.
    const Point init{{RankId(3), CallIndex(0)}, true};
    EXPECT_EQ(timeline.pastFrontier(init).cut, (Cut{before(4), before(4), before(2), before(2)}));
    EXPECT_FALSE(timeline.isClosed({before(4), before(4), before(2), before(0)}));
    EXPECT_FALSE(timeline.isClosed({before(4), before(4), before(0), before(0)}));
    EXPECT_TRUE(timeline.isClosed({before(4), before(4), before(2), before(2)}));
    // MPI_Init and MPI_Finalize are collectives of each job alone.
    EXPECT_TRUE(timeline.isClosed({before(6), before(6), before(2), before(2)}));
}
