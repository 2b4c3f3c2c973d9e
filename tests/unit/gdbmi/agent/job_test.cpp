// The agent under a real mpirun: the program sees what it would see without it.
#include "window.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <system_error>
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

TEST(AgentJob, ErrorOutputToATerminalAndInputToRankZero) {
    const QByteArray plain = plainRun(1, {kProgram, QStringLiteral("hello")});
    EXPECT_TRUE(plain.contains("rank 0 tty 0 1 0"))
        << "this launcher gives other channels: " << plain.toStdString();
    Window window;
    window.start(2, {kProgram, QStringLiteral("stdin")}, "first\nsecond\n");
    ASSERT_TRUE(window.waitFor("the ranks to end", [&] { return allEnded(window, 2); }));
    EXPECT_EQ(window.ranks[0].out, "rank 0 read first\nrank 0 read second\nrank 0 end of input\n");
    EXPECT_EQ(window.ranks[1].out, "rank 1 end of input\n");
    finishAll(window);
}

TEST(AgentJob, EnvironmentIsTheProgramsOwn) {
    Window window;
    window.environment.insert(QStringLiteral("LINES"), QStringLiteral("77"));
    window.start(1, {kProgram, QStringLiteral("environment")});
    ASSERT_TRUE(window.waitFor("the rank to end", [&] { return allEnded(window, 1); }));
    const QByteArray& out = window.ranks[0].out;
    EXPECT_TRUE(out.contains("STOPLINE_TOKEN=(unset)")) << out.toStdString();
    EXPECT_TRUE(out.contains("STOPLINE_CONNECT=(unset)"));
    EXPECT_TRUE(out.contains("LD_PRELOAD=" FAKE_LIBRARIES "/libstopline-mpi-openmpi.so\n"));
    EXPECT_TRUE(out.contains("LINES=77"));
    EXPECT_TRUE(out.contains("COLUMNS=(unset)"));
    EXPECT_TRUE(out.contains("OMPI_COMMAND=" + kProgram.toUtf8() + '\n'));
    finishAll(window);
}

TEST(AgentJob, ExitCodesAreTheRanksOwn) {
    struct Row {
        QStringList arguments;
        int status;
        int launcherCode;
    };
    const QString one = QStringLiteral("1");
    for (const Row& row : {Row{{QStringLiteral("exit"), one, QStringLiteral("5")}, 5 << 8, 5},
                           Row{{QStringLiteral("segv")}, SIGSEGV, 128 + SIGSEGV},
                           Row{{QStringLiteral("exit-before-init")}, 9 << 8, 9}}) {
        Leftovers leftovers;
        Window window;
        window.start(2, QStringList{kProgram} + row.arguments);
        ASSERT_TRUE(window.waitFor("rank 1 to end", [&] {
            return window.ranks.contains(1) && window.ranks[1].link->status().ended;
        }));
        EXPECT_EQ(window.ranks[1].link->status().waitStatus & ~0x80, row.status)
            << row.arguments[0].toStdString();
        leftovers.watchJob(window);
        finishAll(window);
        EXPECT_EQ(window.mpirun.exitCode(), row.launcherCode);
        EXPECT_TRUE(leftovers.gone(window));
    }
}

TEST(AgentJob, AbortEndsTheJob) {
    Leftovers leftovers;
    Window window;
    window.start(2, {kProgram, QStringLiteral("abort")});
    ASSERT_TRUE(
        window.waitFor("mpirun to end", [&] { return window.mpirun.state() == QProcess::NotRunning; }));
    EXPECT_TRUE(window.waitFor("the links to close",
                               [&] { return window.ranks[0].closed && window.ranks[1].closed; }));
    EXPECT_TRUE(window.ranks[1].out.contains("rank 1 says leaving")) << window.describe().toStdString();
    EXPECT_NE(window.mpirun.exitCode(), 0);
    leftovers.watchJob(window);
    EXPECT_TRUE(leftovers.gone(window));
}

TEST(AgentJob, GateAttachContinueAndTimeHeld) {
    Window window;
    window.autoOpenGate = false;
    window.start(2, {kProgram, QStringLiteral("spin")});
    ASSERT_TRUE(window.waitFor("both at the gate", [&] {
        return window.ranks.size() == 2 && window.ranks[0].link->status().atGate &&
               window.ranks[1].link->status().atGate;
    }));
    EXPECT_EQ(window.ranks[0].link->status().state, trace::RankState::AtGate);
    EXPECT_TRUE(window.ranks[0].link->status().mpiLinked);
    window.attachAll();
    window.waste(200);
    bool pulled = false;
    const auto held = [&] {
        pulled = false;
        window.ranks[0].link->pull([&](bool ok) { pulled = ok; });
        EXPECT_TRUE(window.waitFor("a pull", [&] { return pulled; }));
        std::int64_t value = 0;
        std::memcpy(&value,
                    window.ranks[0].link->image().header.data() + offsetof(trace::MappingHeader, heldNs), 8);
        return value;
    };
    EXPECT_EQ(held(), 0);
    for (Rank& rank : window.ranks) {
        rank.link->openGate();
        rank.link->gdb()->send("5-exec-continue --all\n");
    }
    ASSERT_TRUE(window.waitForReady(2));
    // The gate's time is for the library to count, which this program does not have.
    EXPECT_EQ(held(), 0);
    EXPECT_EQ(window.ranks[0].link->image().stops.size(), 0U);
    // A stop by signal through the agent is a stop of gdb's.
    window.ranks[0].mi.clear();
    window.ranks[0].link->stopRank();
    ASSERT_TRUE(window.waitFor("the stop", [&] { return window.ranks[0].mi.contains("*stopped"); }));
    EXPECT_TRUE(window.ranks[0].mi.contains("SIGSTOP")) << window.ranks[0].mi.toStdString();
    EXPECT_EQ(held(), 0);
    window.waste(200);
    window.send(0, "6-exec-continue --all");
    ASSERT_TRUE(window.waitFor("the continue", [&] { return window.ranks[0].mi.contains("6^running"); }));
    EXPECT_GE(held(), 200'000'000);
    EXPECT_LE(held(), window.clock.nsecsElapsed());
    EXPECT_EQ(window.ranks[0].link->image().stops.size(), sizeof(trace::MappedStop));
    for (Rank& rank : window.ranks) {
        rank.link->kill();
    }
    ASSERT_TRUE(window.waitFor("the ends", [&] { return allEnded(window, 2); }));
    finishAll(window);
}

TEST(AgentJob, PullBringsEverythingAlsoInPieces) {
    Window window;
    window.environment.insert(QStringLiteral("FAKE_LARGE"), QStringLiteral("1"));
    window.start(1, {kProgram, QStringLiteral("spin")});
    ASSERT_TRUE(window.waitForReady(1));
    AgentLink* link = window.ranks[0].link;
    int answers = 0;
    for (int i = 0; i < 3; ++i) {
        link->pull([&](bool ok) { answers += ok ? 1 : 0; });
    }
    ASSERT_TRUE(window.waitFor("three pulls", [&] { return answers == 3; }));
    const trace::RankImage& image = link->image();
    EXPECT_EQ(image.header.size(), sizeof(trace::MappingHeader));
    EXPECT_EQ(image.staging.size(), trace::kStagingBytes);
    EXPECT_EQ(image.staging[99], std::byte{0x5a});
    EXPECT_EQ(std::memcmp(image.dictionary.data(), "dictionary", 10), 0);
    EXPECT_EQ(image.dictionary.size(), 10u);
    ASSERT_EQ(image.blocks.size(), std::size_t{80} << 20);
    bool same = true;
    for (std::size_t i = 0; i < image.blocks.size(); ++i) {
        same = same && image.blocks[i] == static_cast<std::byte>(i * 7);
    }
    EXPECT_TRUE(same);
    link->kill();
    ASSERT_TRUE(window.waitFor("the end", [&] { return allEnded(window, 1); }));
    // What a dead rank has recorded is still there.
    link->pull([&](bool ok) { answers += ok ? 1 : 0; });
    EXPECT_TRUE(window.waitFor("a pull from the dead", [&] { return answers == 4; }));
    finishAll(window);
}

TEST(AgentJob, MuchOutputArrivesWhole) {
    Window window;
    window.start(2, {kProgram, QStringLiteral("flood")});
    ASSERT_TRUE(window.waitFor(
        "the ranks to end", [&] { return allEnded(window, 2); }, 60000));
    finishAll(window);
    for (const Rank& rank : window.ranks) {
        EXPECT_EQ(rank.out.size(), 20000 * 1000);
        EXPECT_EQ(rank.out.count('\n'), 20000);
    }
}

TEST(AgentJob, WhatCannotStartIsSaid) {
    QTemporaryDir folder;
    const QString plain = folder.filePath(QStringLiteral("plain"));
    const QString foreign = folder.filePath(QStringLiteral("foreign"));
    for (const QString& name : {plain, foreign}) {
        QFile file(name);
        ASSERT_TRUE(file.open(QIODevice::WriteOnly));
        QFile model(kProgram);
        ASSERT_TRUE(model.open(QIODevice::ReadOnly));
        QByteArray bytes = model.readAll();
        if (name == foreign) {
            bytes[18] = '\xf7'; // e_machine
            bytes[19] = '\x00';
            file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        }
        file.write(bytes);
    }
    struct Row {
        const char* code;
        QString program;
        std::function<void(RankConfig&)> change;
        int exit;
    };
    const Row rows[] = {
        {"program-missing", QStringLiteral("./no-such-program"), {}, 127},
        {"program-missing", QStringLiteral("no-such-program"), {}, 127},
        {"program-not-executable", plain, {}, 126},
        {"program-not-executable", folder.path(), {}, 126},
        {"program-architecture", foreign, {}, 126},
        {"gdb-missing", kProgram, [](RankConfig& c) { c.gdbProgram = QStringLiteral("no-such-gdb"); }, 127},
        {"library-missing", kProgram,
         [](RankConfig& c) { c.libraryDirectory = QStringLiteral("/nonexistent"); }, 127},
        {"mapping", kProgram, [](RankConfig& c) { c.mapDirectory = QStringLiteral("/dev/null/none"); }, 127},
    };
    for (const Row& row : rows) {
        Window window;
        if (row.change) {
            row.change(window.config);
        }
        window.start(1, {row.program});
        ASSERT_TRUE(window.waitFor("mpirun to end", [&] {
            return window.mpirun.state() == QProcess::NotRunning;
        })) << row.code;
        ASSERT_EQ(window.ranks[0].faults.size(), 1) << row.code << window.describe().toStdString();
        EXPECT_TRUE(window.ranks[0].faults[0].startsWith(QLatin1StringView(row.code) + u':'))
            << window.ranks[0].faults[0].toStdString();
        EXPECT_FALSE(window.ranks[0].faults[0].endsWith(u"| ")) << "no remedy: " << row.code;
        EXPECT_EQ(window.mpirun.exitCode(), row.exit) << row.code;
    }
}

TEST(AgentJob, FullFileSystemUnderTheMapping) {
    // A directory on a file system too small for the recording; needs the right to mount one.
    QTemporaryDir folder;
    QProcess mount;
    mount.start(QStringLiteral("mount"), {QStringLiteral("-t"), QStringLiteral("tmpfs"), QStringLiteral("-o"),
                                          QStringLiteral("size=64k"), QStringLiteral("none"), folder.path()});
    if (!mount.waitForFinished(10000) || mount.exitCode() != 0) {
        GTEST_SKIP() << "may not mount a file system here";
    }
    Window window;
    window.config.mapDirectory = folder.path();
    window.start(1, {kProgram, QStringLiteral("hello")});
    EXPECT_TRUE(
        window.waitFor("mpirun to end", [&] { return window.mpirun.state() == QProcess::NotRunning; }));
    EXPECT_EQ(window.ranks[0].faults.size(), 1);
    const QString fault = window.ranks[0].faults.value(0);
    EXPECT_TRUE(fault.startsWith(QStringLiteral("mapping:"))) << fault.toStdString();
    EXPECT_TRUE(fault.contains(folder.path()) && fault.contains(u"No space left") &&
                fault.contains(u"2 MiB"));
    QProcess::execute(QStringLiteral("umount"), {folder.path()});
}

TEST(AgentJob, MappingInADirectoryLeavesNoFile) {
    QTemporaryDir folder;
    Window window;
    window.config.mapDirectory = folder.path();
    window.start(1, {kProgram, QStringLiteral("hello")});
    ASSERT_TRUE(window.waitFor("the rank to end", [&] { return allEnded(window, 1); }));
    EXPECT_EQ(window.ranks[0].link->status().event, EventIndex{42});
    EXPECT_TRUE(QDir(folder.path()).isEmpty());
    finishAll(window);
}

TEST(AgentJob, AMappingTakesNoRoomOnceItIsForgotten) {
    QTemporaryDir folder;
    const auto held = [&folder] { // files there that this process, which is the window, has open; their names are gone
        int count = 0;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            std::error_code error; // of the iterator's own, which is closed by then
            count += std::filesystem::read_symlink(entry, error).string().starts_with(folder.path().toStdString()) ? 1 : 0;
        }
        return count;
    };
    Window window;
    window.config.mapDirectory = folder.path();
    window.start(1, {kProgram, QStringLiteral("hello")});
    ASSERT_TRUE(window.waitFor("the rank to end", [&] { return allEnded(window, 1); }));
    EXPECT_EQ(held(), 1);
    window.ranks[0].link->forgetMapping();
    EXPECT_EQ(held(), 0);
    finishAll(window);
}

TEST(AgentJob, AddressLayoutIsFixedUnlessAskedOtherwise) {
    QMap<bool, QList<quint64>> places;
    for (const bool randomize : {false, false, true, true}) {
        Window window;
        window.config.randomizeAddresses = randomize;
        window.start(
            1, {QStringLiteral("sh"), QStringLiteral("-c"), QStringLiteral("grep stack /proc/self/maps")});
        ASSERT_TRUE(window.waitFor("the rank to end", [&] { return allEnded(window, 1); }));
        places[randomize] << window.ranks[0].out.left(12).toULongLong(nullptr, 16);
        EXPECT_TRUE(window.ranks[0].faults.isEmpty());
        finishAll(window);
    }
    EXPECT_NE(places[false][0], 0u);
    EXPECT_EQ(places[false][0], places[false][1]);
    EXPECT_NE(places[true][0], places[true][1]);
}

TEST(AgentJob, WrongTokenStartsNothing) {
    Window window;
    window.environment.insert(QLatin1StringView(kTokenVariable), QStringLiteral("0123"));
    window.start(1, {kProgram, QStringLiteral("hello")});
    ASSERT_TRUE(
        window.waitFor("mpirun to end", [&] { return window.mpirun.state() == QProcess::NotRunning; }));
    EXPECT_EQ(window.rejected.size(), 1);
    EXPECT_TRUE(window.ranks.isEmpty());
    EXPECT_TRUE(window.mpirun.readAllStandardError().contains("stopline-agent: rank 0: the window closed"));
}

} // namespace
} // namespace stopline::agent::test
