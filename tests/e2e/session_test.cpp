// Commands that come before the last one has begun, as a double click gives them.
//
// usage: session_test LONGRUN
#include "../../replay/session.h"
#include "../bench/event_loop.h"

#include <QCoreApplication>

#include <gtest/gtest.h>

using namespace stopline;
using namespace stopline::replay;
using bench::waitFor;

namespace {

QString program;

class SessionTest : public testing::Test {
  protected:
    SessionTest() {
        LaunchSpec spec;
        spec.program = program;
        spec.arguments = QStringList{QStringLiteral("100000000")};
        spec.ranks = 4;
        spec.launcherArguments = {QStringLiteral("--oversubscribe")};
        session.setLaunch(spec);
        QObject::connect(&session, &Session::operationFinished, &session,
                         [this](bool ok, const QString& text) {
                             finished.push_back({ok, text});
                         });
    }
    ~SessionTest() override {
        session.kill();
        waitFor([this] { return !session.jobExists(); }, 20);
    }

    /// The job runs, and every rank has recorded so many events.
    bool runs(std::uint64_t events) {
        const bool there = waitFor(
            [this, events] {
                session.refreshTimeline();
                for (int i = 0; i < 4; ++i) {
                    const RankView view = i < session.rankCount() ? session.rank(RankId(i)) : RankView();
                    if (view.phase != RankPhase::Running || view.place.event.value() < events) {
                        return false;
                    }
                }
                return true;
            },
            60);
        return there || states();
    }
    bool allStopped() {
        return waitFor([this] { return session.allStopped(); }, 60) || states();
    }
    /// A new job runs until every rank has recorded so many events, and is paused.
    bool pauses(std::uint64_t events) {
        session.run();
        if (!runs(events)) {
            return false;
        }
        session.pause();
        return allStopped();
    }
    bool goesOn() {
        session.continueRun();
        return waitFor([this] { return session.rank(RankId(0)).phase == RankPhase::Running; }, 20) ||
               states();
    }
    /// For a wait that was in vain.
    bool states() const {
        for (int i = 0; i < session.rankCount(); ++i) {
            const RankView view = session.rank(RankId(i));
            std::cout << "rank " << i << ": " << stateText(view).toStdString() << ", event "
                      << view.place.event.value() << std::endl;
        }
        return false;
    }

    struct End {
        bool ok;
        QString text;
    };
    Session session;
    std::vector<End> finished;
};

TEST_F(SessionTest, PauseBeforeAnyRankHasComeStopsThemAll) {
    session.run();
    ASSERT_EQ(session.whyNot(Verb::Pause), QString());
    session.pause();
    ASSERT_TRUE(waitFor([this] { return session.rankCount() == 4 && session.allStopped(); }, 60) || states());
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(session.rank(RankId(i)).why, StopWhy::Paused) << "rank " << i;
        EXPECT_EQ(session.rank(RankId(i)).place.event, EventIndex(0)) << "rank " << i;
    }
    session.continueRun();
    EXPECT_TRUE(runs(10));
}

/// Nobody is told that the gdbs of a job that has been killed are missing, wherever its start was.
TEST_F(SessionTest, KillWhileTheJobStartsReportsNoFailure) {
    QStringList said;
    QObject::connect(&session, &Session::message, &session,
                     [&said](Severity severity, const QString& text, const QString&) {
                         if (severity != Severity::Info) {
                             said << text;
                         }
                     });
    session.addBreakpoint(QStringLiteral("longrun.c:29"));
    for (int ms = 100; ms <= 1300; ms += 100) {
        session.run();
        QElapsedTimer timer;
        timer.start();
        waitFor([&] { return timer.elapsed() >= ms; }, 5);
        session.kill();
        ASSERT_TRUE(waitFor([this] { return !session.jobExists(); }, 30) || states()) << ms;
        for (const UserBreakpoint& b : session.breakpoints()) {
            EXPECT_EQ(b.refused, QString()) << ms;
        }
    }
    EXPECT_EQ(said, QStringList()) << said.join(QStringLiteral("; ")).toStdString();
}

TEST_F(SessionTest, UndoTwiceAtOnceIsOneUndo) {
    ASSERT_TRUE(pauses(10) && goesOn());
    session.undo();
    session.undo();
    ASSERT_EQ(finished.size(), 1U);
    EXPECT_FALSE(finished[0].ok);
    EXPECT_EQ(finished[0].text, QStringLiteral("the job is on its way to a place; cancel that first"));
    ASSERT_TRUE(waitFor([this] { return finished.size() == 2; }, 60) || states());
    EXPECT_TRUE(finished[1].ok) << finished[1].text.toStdString();
    EXPECT_TRUE(session.allStopped());
    ASSERT_TRUE(session.nextUndo());
    EXPECT_EQ(session.nextUndo()->verb, Verb::Run);
    ASSERT_TRUE(session.nextRedo());
    EXPECT_EQ(session.nextRedo()->verb, Verb::Continue);
}

TEST_F(SessionTest, RanksThatTheEndOfTheirJobHasTakenAreMarked) {
    session.run();
    ASSERT_TRUE(runs(40));
    for (int i = 0; i < 4; ++i) {
        EXPECT_FALSE(session.rank(RankId(i)).endedWithJob) << i;
    }
    session.kill();
    ASSERT_TRUE(waitFor([this] { return !session.jobExists(); }, 20) || states());
    for (int i = 0; i < 4; ++i) {
        const RankView view = session.rank(RankId(i));
        EXPECT_TRUE(view.phase == RankPhase::Exited) << i;
        EXPECT_EQ(view.endedWithJob, view.detail == QStringLiteral("ended with the job")) << i;
    }
    ASSERT_EQ(session.executions().size(), 1);
    EXPECT_EQ(session.executions().front().outcome, QStringLiteral("ended while it ran"));
}

TEST_F(SessionTest, KillRightAfterGoIsTheLastWord) {
    ASSERT_TRUE(pauses(40));
    session.setPoint(Point{{RankId(0), CallIndex(10)}, false});
    session.setStopline(Frontier::Past);
    ASSERT_TRUE(goesOn());
    session.go();
    session.kill();
    ASSERT_EQ(finished.size(), 1U);
    EXPECT_FALSE(finished[0].ok);
    ASSERT_TRUE(waitFor([this] { return !session.jobExists(); }, 20) || states());
    waitFor([] { return false; }, 2); // nothing starts it again
    EXPECT_FALSE(session.jobExists());
    EXPECT_EQ(finished.size(), 1U);
}

TEST_F(SessionTest, PauseRightAfterUndoCallsItOff) {
    ASSERT_TRUE(pauses(10) && goesOn());
    session.undo();
    session.pause();
    ASSERT_EQ(finished.size(), 1U);
    EXPECT_FALSE(finished[0].ok);
    ASSERT_TRUE(allStopped());
    EXPECT_EQ(session.nextUndo()->verb, Verb::Continue);
    EXPECT_FALSE(session.nextRedo());
    EXPECT_TRUE(session.operation().isEmpty());
}

} // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    QCoreApplication application(argc, argv);
    if (QCoreApplication::arguments().size() < 2) {
        std::cerr << "usage: session_test LONGRUN" << std::endl;
        return 2;
    }
    program = QCoreApplication::arguments().at(1);
    return RUN_ALL_TESTS();
}
