// Whatever is killed, nothing is left behind, and the death of a rank is told at once.
#include "window.h"

#include <array>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace stopline::agent::test {
namespace {

const QString kProgram = QStringLiteral(RANK_PROGRAM);
constexpr int kRanks = 4;

/// Runs with ranks that poll, or that gdb has stopped inside MPI.
class Kill : public ::testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        window.start(kRanks, {kProgram, QStringLiteral("spin")});
        ASSERT_TRUE(window.waitForReady(kRanks));
        if (GetParam()) {
            window.attachAll();
        }
        leftovers.watchJob(window);
        // Agent, rank, gdb and segment of each; launcher and session directory: the check must be able to
        // fail.
        ASSERT_EQ(leftovers.now().size(), kRanks * 4 + 2) << leftovers.now().join(u'\n').toStdString();
    }
    AgentLink* link(int rank) { return window.ranks[rank].link; }
    bool mpirunEnds() {
        return window.waitFor(
            "mpirun to end", [&] { return window.mpirun.state() == QProcess::NotRunning; }, 60000);
    }

    Leftovers leftovers;
    Window window;
};

TEST_P(Kill, Window) {
    // To the agents a killed window is the end of their sockets.
    for (Rank& rank : window.ranks) {
        delete rank.link;
    }
    window.ranks.clear();
    EXPECT_TRUE(leftovers.gone(window));
    EXPECT_TRUE(mpirunEnds());
}

TEST_P(Kill, Agent) {
    ::kill(static_cast<pid_t>(link(2)->hello().agentPid), SIGKILL);
    EXPECT_TRUE(window.waitFor("the link to close", [&] { return window.ranks[2].closed; }));
    EXPECT_TRUE(leftovers.gone(window));
    EXPECT_TRUE(mpirunEnds());
}

TEST_P(Kill, Gdb) {
    ::kill(static_cast<pid_t>(link(1)->status().gdbPid), SIGKILL);
    if (GetParam()) {
        // It was attached: its rank goes with it, the others stay until the window says so.
        EXPECT_TRUE(window.waitFor("the rank's end", [&] { return link(1)->status().ended; }));
        EXPECT_TRUE(window.waitFor("the fault", [&] { return !window.ranks[1].faults.isEmpty(); }));
        EXPECT_TRUE(window.ranks[1].faults.value(0).startsWith(QStringLiteral("gdb-died")));
        EXPECT_EQ(link(1)->status().gdbPid, 0);
        EXPECT_TRUE(link(0)->status().alive);
        link(1)->finish();
    } else {
        // Nothing depended on it yet: another one takes its place, told what the first had been told.
        const qint64 first = link(1)->status().gdbPid;
        EXPECT_TRUE(window.waitFor("another gdb", [&] {
            return link(1)->status().gdbPid != 0 && link(1)->status().gdbPid != first;
        }));
        EXPECT_TRUE(window.ranks[1].faults.isEmpty());
        leftovers.watch(link(1)->status().gdbPid);
        window.send(1, "17-list-features");
        EXPECT_TRUE(
            window.waitFor("the new gdb to answer", [&] { return window.ranks[1].mi.contains("17^done"); }));
        link(1)->kill();
        EXPECT_TRUE(window.waitFor("the rank's end", [&] { return link(1)->status().ended; }));
        link(1)->finish();
    }
    EXPECT_TRUE(leftovers.gone(window));
    EXPECT_TRUE(mpirunEnds());
}

TEST_P(Kill, Mpirun) {
    ::kill(static_cast<pid_t>(window.mpirun.processId()), SIGKILL);
    EXPECT_TRUE(mpirunEnds());
    EXPECT_TRUE(leftovers.gone(window));
}

TEST_P(Kill, MpirunAsked) {
    ::kill(static_cast<pid_t>(window.mpirun.processId()), SIGTERM);
    EXPECT_TRUE(mpirunEnds());
    EXPECT_TRUE(leftovers.gone(window));
}

TEST_P(Kill, Rank) {
    const qint64 before = window.clock.elapsed();
    ::kill(static_cast<pid_t>(link(3)->status().pid), SIGKILL);
    ASSERT_TRUE(window.waitFor("the rank's end", [&] { return link(3)->status().ended; }));
    std::printf("told after %lld ms\n", static_cast<long long>(window.ranks[3].endedAt - before));
    EXPECT_TRUE(WIFSIGNALED(link(3)->status().waitStatus));
    EXPECT_EQ(WTERMSIG(link(3)->status().waitStatus), SIGKILL);
    // The launcher and the others do not care until the agent leaves.
    window.waste(500);
    for (int rank = 0; rank < kRanks - 1; ++rank) {
        EXPECT_TRUE(link(rank)->status().alive) << rank;
    }
    EXPECT_EQ(window.mpirun.state(), QProcess::Running);
    link(3)->finish();
    EXPECT_TRUE(leftovers.gone(window));
    EXPECT_TRUE(mpirunEnds());
    EXPECT_EQ(window.mpirun.exitCode(), 128 + SIGKILL);
}

TEST_P(Kill, RankByTheWindow) {
    for (Rank& rank : window.ranks) {
        rank.link->kill();
    }
    EXPECT_TRUE(window.waitFor("all ends", [&] {
        bool all = true;
        for (const Rank& rank : window.ranks) {
            all = all && rank.link->status().ended && rank.link->status().gdbPid == 0;
        }
        return all;
    }));
    for (Rank& rank : window.ranks) {
        EXPECT_TRUE(rank.faults.isEmpty()) << rank.faults.join(u' ').toStdString();
        rank.link->finish();
    }
    EXPECT_TRUE(leftovers.gone(window));
    EXPECT_TRUE(mpirunEnds());
}

INSTANTIATE_TEST_SUITE_P(Ranks, Kill, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "Stopped" : "Running"; });

/// A process that each rank has started in a session of its own and left.
class KillDaemons : public ::testing::Test {
  protected:
    void begin(const QStringList& arguments) {
        window.start(2, QStringList{kProgram} + arguments);
        ASSERT_TRUE(window.waitFor("the daemons", [&] {
            daemons.clear();
            for (const Rank& rank : window.ranks) {
                const qsizetype at = rank.out.indexOf(" daemon ");
                const qsizetype end = rank.out.indexOf('\n', at);
                if (at >= 0 && end > at) {
                    daemons << rank.out.mid(at + 8, end - at - 8).toLongLong();
                }
            }
            return daemons.size() == 2;
        }));
        leftovers.watchJob(window);
        for (const qint64 pid : daemons) {
            leftovers.watch(pid);
        }
    }
    void TearDown() override {
        for (const qint64 pid : daemons) {
            ::kill(static_cast<pid_t>(pid), SIGKILL);
        }
    }
    QList<qint64> daemons;
    Leftovers leftovers;
    Window window;
};

const QStringList kSpinWithDaemon{QStringLiteral("spin"), QStringLiteral("600")};

TEST_F(KillDaemons, Window) {
    begin(kSpinWithDaemon);
    for (Rank& rank : window.ranks) {
        delete rank.link;
    }
    window.ranks.clear();
    EXPECT_TRUE(leftovers.gone(window));
}

TEST_F(KillDaemons, Mpirun) {
    begin(kSpinWithDaemon);
    ::kill(static_cast<pid_t>(window.mpirun.processId()), SIGKILL);
    EXPECT_TRUE(leftovers.gone(window));
}

TEST_F(KillDaemons, ByTheWindow) {
    begin(kSpinWithDaemon);
    window.attachAll();
    for (Rank& rank : window.ranks) {
        rank.link->kill();
        rank.link->finish();
    }
    EXPECT_TRUE(leftovers.gone(window));
}

TEST_F(KillDaemons, WhoOutlivesAProgramThatEndsByItselfMay) {
    begin({QStringLiteral("daemon"), QStringLiteral("600")});
    EXPECT_TRUE(window.waitFor("the ends", [&] {
        return window.ranks[0].link->status().ended && window.ranks[1].link->status().ended;
    }));
    window.ranks[0].link->finish();
    window.ranks[1].link->kill(); // there is nothing any more
    window.ranks[1].link->finish();
    EXPECT_TRUE(window.waitFor(
        "mpirun to end", [&] { return window.mpirun.state() == QProcess::NotRunning; }, 60000));
    for (const qint64 pid : daemons) {
        EXPECT_EQ(::kill(static_cast<pid_t>(pid), 0), 0) << pid;
    }
}

TEST_F(KillDaemons, OneThatEndsIsNoZombie) {
    begin({QStringLiteral("spin"), QStringLiteral("0")});
    for (const qint64 pid : daemons) {
        EXPECT_TRUE(
            window.waitFor("its end to be taken", [&] { return ::kill(static_cast<pid_t>(pid), 0) != 0; }));
    }
    for (Rank& rank : window.ranks) {
        EXPECT_TRUE(rank.link->status().alive);
        rank.link->kill();
        rank.link->finish();
    }
    EXPECT_TRUE(leftovers.gone(window));
}

TEST(KillBehindScript, RankThatIsNoChildOfTheAgent) {
    for (const bool stopped : {false, true}) {
        Leftovers leftovers;
        Window window;
        // The shell stays: the rank is its child.
        window.start(
            2, {QStringLiteral("sh"), QStringLiteral("-c"), kProgram + QStringLiteral(" spin; echo over")});
        ASSERT_TRUE(window.waitForReady(2));
        ASSERT_TRUE(window.waitFor("the rank's own pid", [&] {
            return window.ranks[0].link->status().pid != 0 && window.ranks[1].link->status().pid != 0;
        }));
        if (stopped) {
            window.attachAll();
        }
        leftovers.watchJob(window);
        if (stopped) {
            ::kill(static_cast<pid_t>(window.ranks[0].link->status().pid), SIGKILL);
            EXPECT_TRUE(
                window.waitFor("the rank's end", [&] { return window.ranks[0].link->status().ended; }));
            EXPECT_EQ(window.ranks[0].link->status().waitStatus, SIGKILL);
        }
        ::kill(static_cast<pid_t>(window.ranks[0].link->hello().agentPid), SIGKILL);
        EXPECT_TRUE(leftovers.gone(window));
    }
}

} // namespace
} // namespace stopline::agent::test
