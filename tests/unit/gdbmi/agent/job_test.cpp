// The agent under a real mpirun: the program sees what it would see without it.
#include "window.h"

#include <QFileInfo>
#include <QTemporaryDir>

#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace stopline::agent::test {
namespace {

const QString kProgram = QStringLiteral(RANK_PROGRAM);

QByteArray plainRun(int ranks, const QStringList& program) {
    QProcess mpirun;
    mpirun.setProcessEnvironment(launcherEnvironment());
    mpirun.start(QStringLiteral("mpirun"),
                 QStringList{QStringLiteral("-n"), QString::number(ranks)} + program);
    mpirun.closeWriteChannel();
    EXPECT_TRUE(mpirun.waitForFinished(30000));
    return mpirun.readAllStandardOutput();
}

bool allEnded(const Window& window, int count) {
    int ended = 0;
    for (const Rank& rank : window.ranks) {
        ended += rank.link->status().ended ? 1 : 0;
    }
    return ended == count;
}

void finishAll(Window& window) {
    for (Rank& rank : window.ranks) {
        rank.link->finish();
    }
    EXPECT_TRUE(
        window.waitFor("mpirun to end", [&] { return window.mpirun.state() == QProcess::NotRunning; }));
}

TEST(AgentJob, OutputAndTerminalsAreAsUnderPlainMpirun) {
    const QByteArray plain = plainRun(2, {kProgram, QStringLiteral("hello")});
    Window window;
    window.start(2, {kProgram, QStringLiteral("hello")});
    ASSERT_TRUE(window.waitFor("the ranks to end", [&] { return allEnded(window, 2); }));
    for (int rank = 0; rank < 2; ++rank) {
        EXPECT_TRUE(plain.contains(window.ranks[rank].out.trimmed())) << plain.toStdString();
        EXPECT_EQ(window.ranks[rank].out.count('\n'), 1);
        EXPECT_EQ(window.ranks[rank].err, "rank " + QByteArray::number(rank) + " complains\n");
        EXPECT_TRUE(WIFEXITED(window.ranks[rank].link->status().waitStatus));
        EXPECT_TRUE(window.ranks[rank].faults.isEmpty());
    }
    finishAll(window);
    EXPECT_EQ(window.mpirun.exitCode(), 0);
    EXPECT_EQ(window.mpirun.readAllStandardOutput(), QByteArray());
}

} // namespace
} // namespace stopline::agent::test
