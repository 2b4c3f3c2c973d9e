// How the ranks of a job set out: together, unless one does not come.
//
// usage: start_test LONGRUN
#include "session_support.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QObject>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include <algorithm>

using namespace stopline;
using namespace stopline::replay;
using stopline::test::waitFor;

namespace {

QString program;
constexpr int kRanks = 4;

class StartTest : public testing::Test {
  protected:
    ~StartTest() override { test::endJob(session); }

    /// Rank 3 does this before it becomes the program; the others are it at once.
    void runWith(const QString& before) {
        LaunchSpec spec;
        spec.program = QStringLiteral("/bin/sh");
        const QString script = QStringLiteral("[ $OMPI_COMM_WORLD_RANK != 3 ] || { %1; }; exec %2 100000000").arg(before, program);
        spec.arguments = QStringList{QStringLiteral("-c"), script};
        spec.ranks = kRanks;
        spec.launcherArguments = {QStringLiteral("--oversubscribe")};
        session.setLaunch(spec);
        session.run();
    }
    [[nodiscard]] QString waitsForFile() const {
        return QStringLiteral("while [ ! -e %1 ]; do sleep 0.02; done").arg(file());
    }
    [[nodiscard]] QString file() const { return directory.filePath(QStringLiteral("now")); }
    void letRank3Come() const {
        QFile made(file());
        ASSERT_TRUE(made.open(QIODevice::WriteOnly));
    }
    [[nodiscard]] int count(const std::function<bool(const RankView&)>& of) const {
        int result = 0;
        for (int i = 0; i < session.rankCount(); ++i) {
            result += of(session.rank(RankId(i))) ? 1 : 0;
        }
        return result;
    }
    [[nodiscard]] int inPhase(RankPhase phase) const {
        return count([phase](const RankView& view) { return view.phase == phase; });
    }
    [[nodiscard]] bool comes(const std::function<bool()>& there) const {
        if (waitFor(there, 60)) {
            return true;
        }
        test::printStates(session);
        return false;
    }
    /// All but rank 3 could go.
    [[nodiscard]] bool threeAreReady() const {
        return comes([this] {
            return count([](const RankView& view) { return stateText(view) == u"starting (ready, waits for the other ranks)"; }) == 3;
        });
    }

    QTemporaryDir directory;
    Session session;
};

TEST_F(StartTest, NobodyIsLetGoBeforeTheLastOneCanBe) {
    runWith(waitsForFile());
    ASSERT_TRUE(threeAreReady());
    QElapsedTimer sinceReady;
    sinceReady.start();
    bool together = false;
    qint64 waited = -1;
    const QObject here; // what is listened to ends with the variables
    QObject::connect(&session, &Session::rankChanged, &here, [&](RankId rank) {
        if (session.rank(rank).phase == RankPhase::Running && waited < 0) {
            waited = sinceReady.elapsed();
            together = session.rank(RankId(3)).gdbPid > 0;
        }
    });
    letRank3Come();
    ASSERT_TRUE(comes([this] { return inPhase(RankPhase::Running) == kRanks; }));
    EXPECT_TRUE(together || waited >= 2000) << "the first one went after " << waited << " ms"; // their patience is 3 s
}

TEST_F(StartTest, OneThatNeverComesDoesNotKeepTheOthersForEver) {
    runWith(QStringLiteral("exec sleep 1000"));
    ASSERT_TRUE(threeAreReady());
    EXPECT_TRUE(comes([this] { return inPhase(RankPhase::Running) == 3; }));
}

TEST_F(StartTest, APauseStopsThoseThatWait) {
    runWith(waitsForFile());
    ASSERT_TRUE(threeAreReady());
    session.pause();
    ASSERT_TRUE(comes([this] { return inPhase(RankPhase::Stopped) == 3 || inPhase(RankPhase::Stopped) == kRanks; }));
    letRank3Come();
    ASSERT_TRUE(comes([this] { return session.allStopped(); }));
    EXPECT_EQ(inPhase(RankPhase::Stopped), kRanks);
    session.continueRun();
    EXPECT_TRUE(comes([this] {
        session.refreshTimeline();
        return count([](const RankView& view) { return view.phase == RankPhase::Running && view.place.event.value() > 1000; }) == kRanks;
    }));
}

TEST_F(StartTest, KillEndsThoseThatWait) {
    runWith(waitsForFile());
    ASSERT_TRUE(threeAreReady());
    session.kill();
    EXPECT_TRUE(comes([this] { return !session.jobExists(); }));
}

} // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    testing::InitGoogleTest(&argc, argv);
    program = argc > 1 ? QString::fromLocal8Bit(argv[1]) : QString();
    return RUN_ALL_TESTS();
}
