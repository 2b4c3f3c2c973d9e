// gdbs that die, hang or talk rubbish, programs that are killed: each request is answered exactly once.
#include "gdb_fixture.h"

#include <csignal>

namespace stopline::mi {
namespace {

using std::chrono::milliseconds;

QString target() {
    return QStringLiteral(PROGRAM_DIRECTORY "/gdbmi_target");
}

/// A gdb played by the test.
class FakeGdb : public MiTransport {
  public:
    using MiTransport::MiTransport;
    void send(const QByteArray& bytes) override {
        for (const QByteArray& line : bytes.split('\n')) {
            if (!line.isEmpty()) {
                sent.append(line);
                if (answer) {
                    say(answer(line));
                }
            }
        }
    }
    void say(const QByteArray& bytes) {
        if (!bytes.isEmpty()) {
            emit received(bytes);
        }
    }
    /// "^done" with the request's token.
    static QByteArray done(const QByteArray& line, const QByteArray& rest = {}) {
        return line.left(line.indexOf('-')) + "^done" + rest + "\n(gdb) \n";
    }
    QByteArrayList sent;
    std::function<QByteArray(const QByteArray&)> answer;
};

void makeStopped(FakeGdb& gdb, GdbSession& session) {
    gdb.answer = [](const QByteArray& line) { return FakeGdb::done(line); };
    QTimer::singleShot(0, &gdb, [&gdb] { gdb.say("(gdb) \n"); });
    ASSERT_TRUE(answerOf<Unit>([&](auto handler) { session.initialise(handler); }).ok());
    gdb.say("*stopped,reason=\"end-stepping-range\",thread-id=\"1\"\n");
    ASSERT_EQ(session.state(), GdbState::Stopped);
    gdb.answer = {};
    gdb.sent.clear();
}

TEST(GdbFailure, NoSuchProgram) {
    GdbProcess gdb;
    GdbSession session(&gdb);
    QStringList deaths;
    QObject::connect(&session, &GdbSession::died, &session, [&](const QString& why) { deaths.append(why); });
    gdb.start(QStringLiteral("/nonexistent/gdb"), {});
    const auto status = answerOf<Unit>([&](auto handler) { session.initialise(handler); });
    EXPECT_EQ(status.error().code, ErrorCode::GdbDied);
    EXPECT_EQ(deaths.size(), 1);
    EXPECT_EQ(session.state(), GdbState::Dead);
    EXPECT_EQ(answerOf<Unit>([&](auto handler) { session.attach(1, handler); }).error().code,
              ErrorCode::GdbDied);
}

TEST(GdbFailure, AnotherProgramThanGdb) {
    GdbProcess gdb;
    GdbSession session(&gdb);
    gdb.start(QStringLiteral("/bin/sh"), {QStringLiteral("-c"), QStringLiteral("echo I am no gdb; exit 3")});
    const auto status = answerOf<Unit>([&](auto handler) { session.initialise(handler); });
    EXPECT_EQ(status.error().code, ErrorCode::GdbDied);
    EXPECT_TRUE(status.error().text.contains(QStringLiteral("I am no gdb")))
        << status.error().text.toStdString();
}

TEST(GdbFailure, EndlessRubbishEndsTheSession) {
    GdbProcess gdb;
    GdbSession session(&gdb);
    gdb.start(QStringLiteral("/bin/sh"),
              {QStringLiteral("-c"), QStringLiteral("while :; do echo rubbish; done")});
    const auto status = answerOf<Unit>([&](auto handler) { session.initialise(handler); });
    EXPECT_EQ(status.error().code, ErrorCode::GdbDied);
    EXPECT_TRUE(status.error().text.contains(QStringLiteral("rubbish")));
}

TEST(GdbFailure, ADeadlineDropsTheLateAnswer) {
    FakeGdb gdb;
    GdbSession session(&gdb);
    makeStopped(gdb, session);
    session.setDeadline(milliseconds(50));
    const auto value = answerOf<QString>([&](auto h) { session.evaluate(QStringLiteral("a"), 1, 0, h); });
    EXPECT_EQ(value.error().code, ErrorCode::TimedOut);
    EXPECT_TRUE(value.error().text.contains(QStringLiteral("-data-evaluate-expression")));
    session.setDeadline(milliseconds(60000));
    const QByteArray first = gdb.sent.last();
    QTimer::singleShot(20, &gdb, [&] {
        gdb.say(FakeGdb::done(first, ",value=\"late\""));
        gdb.say(FakeGdb::done(gdb.sent.last(), ",value=\"mine\""));
    });
    const auto second = answerOf<QString>([&](auto h) { session.evaluate(QStringLiteral("b"), 1, 0, h); });
    EXPECT_EQ(second.value(), QStringLiteral("mine"));
}

TEST(GdbFailure, ABreakpointMadeTooLateIsDeleted) {
    FakeGdb gdb;
    GdbSession session(&gdb);
    makeStopped(gdb, session);
    session.setDeadline(milliseconds(50));
    const auto breakpoint = answerOf<Breakpoint>(
        [&](auto handler) { session.insertBreakpoint(QStringLiteral("f"), {}, false, handler); });
    EXPECT_EQ(breakpoint.error().code, ErrorCode::TimedOut);
    gdb.say(FakeGdb::done(gdb.sent.last(), ",bkpt={number=\"7\"}"));
    EXPECT_TRUE(waitUntil([&] { return gdb.sent.last().endsWith("-break-delete 7"); }));
}

TEST(GdbFailure, WhatWaitsBehindATimedOutRequestFailsToo) {
    FakeGdb gdb;
    GdbSession session(&gdb);
    makeStopped(gdb, session);
    session.setDeadline(milliseconds(50));
    QStringList order;
    session.evaluate(QStringLiteral("a"), 1, 0, [&](const auto& r) {
        order.append(QStringLiteral("a%1").arg(static_cast<int>(r.error().code)));
    });
    session.stack(1, 5, [&](const auto& r) {
        order.append(QStringLiteral("s%1").arg(static_cast<int>(r.error().code)));
    });
    ASSERT_TRUE(waitUntil([&] { return order.size() == 2; }));
    const int timedOut = static_cast<int>(ErrorCode::TimedOut);
    EXPECT_EQ(order, (QStringList{QStringLiteral("a%1").arg(timedOut), QStringLiteral("s%1").arg(timedOut)}));
    EXPECT_EQ(gdb.sent.size(), 1);
}

TEST(GdbFailure, AnAttachedProcessThatDoesNotStopIsToldOfBeforeItIsGivenUp) {
    FakeGdb gdb;
    GdbSession session(&gdb);
    gdb.answer = [](const QByteArray& line) { return FakeGdb::done(line); };
    QTimer::singleShot(0, &gdb, [&gdb] { gdb.say("(gdb) \n"); });
    ASSERT_TRUE(answerOf<Unit>([&](auto handler) { session.initialise(handler); }).ok());
    QStringList told;
    QObject::connect(&session, &GdbSession::notResponding, &session, [&](const QString& why) { told.append(why); });
    session.setWatchdog(milliseconds(20));
    session.setDeadline(milliseconds(20)); // so it has 120
    EXPECT_EQ(answerOf<Unit>([&](auto handler) { session.attach(1, handler); }).error().code, ErrorCode::TimedOut);
    ASSERT_EQ(told.size(), 1);
    EXPECT_TRUE(told[0].startsWith(u"gdb waits for the attached process to stop since ")) << told[0].toStdString();
    // What is late is not too late.
    QObject::connect(&session, &GdbSession::notResponding, &session, [&] { gdb.say("*stopped\n"); });
    session.setDeadline(milliseconds(kLongestWaitMs));
    EXPECT_TRUE(answerOf<Unit>([&](auto handler) { session.attach(1, handler); }).ok());
    EXPECT_EQ(session.state(), GdbState::Stopped);
    EXPECT_EQ(told.size(), 2);
}

TEST(GdbFailure, AResumeDropsRefreshesThatWait) {
    FakeGdb gdb;
    GdbSession session(&gdb);
    makeStopped(gdb, session);
    QStringList answers;
    const auto note = [&](const char* what) {
        return [&answers, what](const auto& result) {
            answers.append(QString::fromUtf8(what) +
                           QString::number(result ? 0 : static_cast<int>(result.error().code)));
        };
    };
    session.evaluate(QStringLiteral("x"), 1, 0, note("evaluate"));
    session.stack(1, 5, note("stack"));
    session.variables(1, 0, note("variables"));
    session.insertBreakpoint(QStringLiteral("f"), {}, false, note("break"));
    session.resume(Resume::Continue, 1, 0, note("resume"));
    gdb.answer = [](const QByteArray& line) -> QByteArray {
        const QByteArray token = line.left(line.indexOf('-'));
        if (line.contains("-exec-continue")) {
            return token + "^running\n*running,thread-id=\"all\"\n(gdb) \n";
        }
        return FakeGdb::done(line, ",value=\"1\",bkpt={number=\"1\"}");
    };
    ASSERT_TRUE(waitUntil([&] { return answers.size() == 5; }));
    answers.sort();
    const QString cancelled = QString::number(static_cast<int>(ErrorCode::Cancelled));
    EXPECT_EQ(answers,
              (QStringList{QStringLiteral("break0"), QStringLiteral("evaluate0"), QStringLiteral("resume0"),
                           QStringLiteral("stack") + cancelled, QStringLiteral("variables") + cancelled}));
    EXPECT_EQ(gdb.sent.size(), 3);
    EXPECT_EQ(session.state(), GdbState::Running);
}

TEST(GdbFailure, AnInterruptOvertakes) {
    FakeGdb gdb;
    GdbSession session(&gdb);
    makeStopped(gdb, session);
    session.evaluate(QStringLiteral("slow()"), 1, 0, [](const auto&) {});
    session.stack(1, 5, [](const auto&) {});
    ASSERT_TRUE(waitUntil([&] { return gdb.sent.size() == 1; }));
    session.interrupt([](const auto&) {});
    ASSERT_TRUE(waitUntil([&] { return gdb.sent.size() == 2; }));
    EXPECT_TRUE(gdb.sent[0].contains("-data-evaluate-expression"));
    EXPECT_TRUE(gdb.sent[1].contains("-exec-interrupt"));
}

TEST(GdbFailure, AStopInsideACalledFunctionIsSwallowed) {
    FakeGdb gdb;
    GdbSession session(&gdb);
    makeStopped(gdb, session);
    int stops = 0;
    QObject::connect(&session, &GdbSession::stopped, &session, [&] { ++stops; });
    gdb.answer = [](const QByteArray& line) {
        return QByteArray("*stopped,reason=\"signal-received\",signal-name=\"SIGINT\",thread-id=\"1\"\n") +
               line.left(line.indexOf('-')) + "^error,msg=\"restored the context\"\n(gdb) \n";
    };
    const auto value = answerOf<QString>([&](auto h) { session.evaluate(QStringLiteral("f()"), 1, 0, h); });
    EXPECT_EQ(value.error().code, ErrorCode::GdbError);
    EXPECT_EQ(stops, 0);
    EXPECT_EQ(session.state(), GdbState::Stopped);
}

TEST(GdbFailure, AComplaintAboutAConditionIsOneLineOfTheLog) {
    FakeGdb gdb;
    GdbSession session(&gdb);
    makeStopped(gdb, session);
    QStringList said;
    QObject::connect(&session, &GdbSession::conditionFailed, &session,
                     [&](int number, const QString& why) { said.append(QString::number(number) + why); });
    const QByteArray stop = "*stopped,reason=\"breakpoint-hit\",bkptno=\"4\",thread-id=\"1\"\n";
    // In two pieces, and with what gdb says of another matter after it.
    gdb.say("*running,thread-id=\"all\"\n&\"Error in testing breakpoint condition:\\n\"\n"
            "&\"Cannot access memory \"\n&\"at address 0x0\\n\"\n"
            "&\"32\\t../a.c: No such file or directory.\\n\"\n" +
            stop);
    // All in one, as later gdbs have it.
    gdb.say("*running,thread-id=\"all\"\n"
            "&\"Error in testing condition for breakpoint 4:\\nNo symbol \\\"z\\\".\\n\"\n&\"more\\n\"\n" +
            stop);
    gdb.say("*running,thread-id=\"all\"\n&\"another matter\\n\"\n" + stop);
    EXPECT_EQ(said, (QStringList{QStringLiteral("4Cannot access memory at address 0x0"),
                                 QStringLiteral("4No symbol \"z\".")}));
}

TEST(GdbFailure, AResumeThatIsTakenBackLeavesTheProgramStopped) {
    FakeGdb gdb;
    GdbSession session(&gdb);
    makeStopped(gdb, session);
    QStringList failures;
    QObject::connect(&session, &GdbSession::resumeFailed, &session, [&](const QString& why) {
        EXPECT_EQ(session.state(), GdbState::Stopped);
        failures.append(why);
    });
    gdb.answer = [](const QByteArray& line) {
        const QByteArray token = line.left(line.indexOf('-'));
        return token +
               "^running\n*running,thread-id=\"all\"\n(gdb) \n&\"Warning:\\n\"\n"
               "&\"Cannot insert breakpoint 1.\\n\"\n&\"Cannot access memory at address "
               "0x0\\n\"\n&\"\\n\"\n" +
               token + "^error,msg=\"Command aborted.\"\n(gdb) \n";
    };
    const auto status = answerOf<Unit>([&](auto h) { session.resume(Resume::Continue, 1, 0, h); });
    EXPECT_TRUE(status.ok()); // it had said so
    ASSERT_TRUE(waitUntil([&] { return !failures.isEmpty(); }));
    EXPECT_EQ(failures,
              QStringList(QStringLiteral("Cannot insert breakpoint 1. Cannot access memory at address 0x0")));
    EXPECT_EQ(session.state(), GdbState::Stopped);
}

TEST(GdbFailure, TheSessionMayBeDeletedByAHandler) {
    FakeGdb gdb;
    auto session = std::make_unique<GdbSession>(&gdb);
    makeStopped(gdb, *session);
    bool called = false;
    gdb.answer = [](const QByteArray& line) {
        return FakeGdb::done(line, ",value=\"1\"") + "*running,thread-id=\"all\"\n*stopped\n~\"more\"\n";
    };
    session->evaluate(QStringLiteral("x"), 1, 0, [&](const auto&) {
        called = true;
        session.reset();
    });
    EXPECT_TRUE(waitUntil([&] { return called; }));
    EXPECT_EQ(session, nullptr);
}

class GdbKilled : public GdbTest {};

TEST_F(GdbKilled, KillOfGdbFailsWhatWaits) {
    Program& program = start(target(), {QStringLiteral("forever")});
    attachAndGo(program);
    QVector<int> codes;
    for (int i = 0; i < 3; ++i) {
        session->evaluate(QStringLiteral("total"), 1, 0,
                          [&](const auto& r) { codes.append(static_cast<int>(r.error().code)); });
    }
    ::kill(static_cast<pid_t>(gdb->pid()), SIGKILL);
    session->stack(1, 5, [&](const auto& r) { codes.append(static_cast<int>(r.error().code)); });
    ASSERT_TRUE(waitUntil([&] { return codes.size() == 4; }));
    EXPECT_EQ(codes.last(), static_cast<int>(ErrorCode::GdbDied));
    ASSERT_TRUE(waitUntil([&] { return !deaths.isEmpty(); }));
    EXPECT_EQ(deaths.size(), 1);
    EXPECT_TRUE(deaths[0].contains(QStringLiteral("killed"))) << deaths[0].toStdString();
}

TEST_F(GdbKilled, AStoppedGdbIsNamedAndComesBack) {
    Program& program = start(target(), {QStringLiteral("forever")});
    attachAndGo(program);
    QStringList silent;
    QObject::connect(session.get(), &GdbSession::notResponding, session.get(),
                     [&](const QString& why) { silent.append(why); });
    session->setWatchdog(milliseconds(50));
    session->setDeadline(milliseconds(400));
    const auto pid = static_cast<pid_t>(gdb->pid());
    ASSERT_EQ(::kill(pid, SIGSTOP), 0);
    const auto value = evaluate(QStringLiteral("total"));
    EXPECT_EQ(value.error().code, ErrorCode::TimedOut);
    ASSERT_EQ(silent.size(), 1);
    EXPECT_TRUE(silent[0].contains(QStringLiteral("-data-evaluate-expression"))) << silent[0].toStdString();
    ASSERT_EQ(::kill(pid, SIGCONT), 0);
    session->setWatchdog(milliseconds(0));
    session->setDeadline(milliseconds(kLongestWaitMs));
    EXPECT_EQ(evaluate(QStringLiteral("1 + 1")).value(), QStringLiteral("2"));
}

TEST_F(GdbKilled, AProgramKilledWhileRunningIsAnExit) {
    Program& program = start(target(), {QStringLiteral("forever")});
    attachAndGo(program);
    ASSERT_TRUE(answerOf<Unit>([&](auto h) { session->resume(Resume::Continue, 1, 0, h); }).ok());
    ASSERT_EQ(::kill(static_cast<pid_t>(program.pid()), SIGKILL), 0);
    const StopEvent end = nextStop(0, 0);
    EXPECT_EQ(end.cause, StopCause::ExitedSignalled);
    EXPECT_EQ(end.signalName, QStringLiteral("SIGKILL"));
    EXPECT_EQ(session->state(), GdbState::Ready);
}

// gdb says nothing when a stopped program dies; whoever watches the program tells. The next resume brings it
// out.
TEST_F(GdbKilled, AProgramKilledWhileStoppedShowsAtTheNextResume) {
    Program& program = start(target(), {QStringLiteral("forever")});
    attachAndGo(program);
    ASSERT_EQ(::kill(static_cast<pid_t>(program.pid()), SIGKILL), 0);
    session->resume(Resume::Continue, 1, 0, [](const auto&) {});
    const StopEvent end = nextStop(0, 0);
    EXPECT_EQ(end.cause, StopCause::ExitedSignalled);
}

TEST_F(GdbKilled, StopsBySignalsOfTheUserOrNot) {
    Program& quiet = start(target(), {QStringLiteral("signals")});
    attachAndGo(quiet);
    EXPECT_EQ(resume(Resume::Continue).cause, StopCause::ExitedNormally);
    EXPECT_TRUE(stops.isEmpty());
    Program& loud = start(target(), {QStringLiteral("signals")});
    const QVector<SignalPolicy> policies{{QStringLiteral("SIGUSR1"), true, true}};
    ASSERT_TRUE(answerOf<Unit>([&](auto handler) { session->setSignals(policies, handler); }).ok());
    attachAndGo(loud);
    EXPECT_EQ(resume(Resume::Continue).signalName, QStringLiteral("SIGUSR1"));
    const QVector<SignalPolicy> bad{{QStringLiteral("SIGNONSENSE"), true, true}, policies[0]};
    EXPECT_FALSE(answerOf<Unit>([&](auto handler) { session->setSignals(bad, handler); }).ok());
}

TEST_F(GdbKilled, ASignalThatKillsStopsFirst) {
    Program& program = start(target(), {QStringLiteral("crash")});
    attachAndGo(program);
    StopEvent stop = resume(Resume::Continue);
    EXPECT_EQ(stop.cause, StopCause::SignalReceived);
    EXPECT_EQ(stop.signalName, QStringLiteral("SIGSEGV"));
    EXPECT_EQ(stop.frame.function, QStringLiteral("crash"));
    stop = resume(Resume::Continue);
    EXPECT_EQ(stop.cause, StopCause::ExitedSignalled);
    EXPECT_EQ(stop.signalName, QStringLiteral("SIGSEGV"));
}

TEST_F(GdbKilled, ASigstopFromOutsideStopsWithoutReachingTheProgram) {
    Program& program = start(target(), {QStringLiteral("forever")});
    attachAndGo(program);
    ASSERT_TRUE(answerOf<Unit>([&](auto h) { session->resume(Resume::Continue, 1, 0, h); }).ok());
    ASSERT_EQ(::kill(static_cast<pid_t>(program.pid()), SIGSTOP), 0);
    const StopEvent stop = nextStop(0, 0);
    EXPECT_EQ(stop.signalName, QStringLiteral("SIGSTOP"));
    ASSERT_TRUE(breakAt(QStringLiteral("add")).ok());
    EXPECT_EQ(resume(Resume::Continue).cause, StopCause::BreakpointHit) << "the SIGSTOP was passed on";
}

TEST_F(GdbKilled, DetachesAndAttachesAgain) {
    Program& first = start(target());
    Program& second = start(target());
    attach(first);
    ASSERT_TRUE(answerOf<Unit>([&](auto handler) { session->detach(handler); }).ok());
    EXPECT_EQ(session->state(), GdbState::Ready);
    EXPECT_EQ(evaluate(QStringLiteral("total")).error().code, ErrorCode::NotStopped);
    attachAndGo(second);
    EXPECT_EQ(answerOf<Unit>([&](auto handler) { session->attach(first.pid(), handler); }).error().code,
              ErrorCode::Unavailable);
    ASSERT_TRUE(breakAt(QStringLiteral("add"), {}, true).ok());
    EXPECT_EQ(resume(Resume::Continue).frame.function, QStringLiteral("add"));
    const auto gone = answerOf<Unit>([&](auto handler) { session->attach(999999999, handler); });
    EXPECT_FALSE(gone.ok());
}

} // namespace
} // namespace stopline::mi
