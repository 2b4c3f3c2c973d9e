// The session against a real gdb: attach, stack, breakpoints, stepping, values.
#include "gdb_fixture.h"

#include <QFile>
#include <QMap>

#include <algorithm>

namespace stopline::mi {

QString sourcePath(const QString& source) {
    return QStringLiteral(PROGRAM_SOURCES "/") + source;
}

QString programPath(const QString& program) {
    return QStringLiteral(PROGRAM_DIRECTORY "/") + program;
}

int lineOf(const QString& source, const QString& mark) {
    QFile file(sourcePath(source));
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    int line = 0;
    while (!file.atEnd()) {
        ++line;
        if (file.readLine().contains("line: " + mark.toUtf8())) {
            return line;
        }
    }
    ADD_FAILURE() << "no line " << mark.toStdString();
    return 0;
}

namespace {

QString at(const QString& mark) {
    return QStringLiteral("target.c:%1").arg(lineOf(QStringLiteral("target.c"), mark));
}

QString target() {
    return programPath(QStringLiteral("gdbmi_target"));
}

TEST_F(GdbTest, AttachesAndFindsMainBelowLibc) {
    const Program& program = start(target());
    attach(program);
    const QVector<Frame> frames = stack();
    ASSERT_GE(frames.size(), 1);
    EXPECT_EQ(frames.last().function, QStringLiteral("main"));
    EXPECT_TRUE(frames.last().fullName.endsWith(QStringLiteral("target.c")));
    for (qsizetype i = 0; i < frames.size(); ++i) {
        EXPECT_EQ(frames[i].level, i);
        EXPECT_NE(frames[i].address, 0u);
    }
}

TEST_F(GdbTest, StopsAtALineAndListsVariables) {
    const Program& program = start(target());
    attachAndGo(program);
    const auto breakpoint = breakAt(at(QStringLiteral("loop calls")));
    ASSERT_TRUE(breakpoint.ok());
    EXPECT_FALSE(breakpoint.value().pending);
    EXPECT_EQ(breakpoint.value().function, QStringLiteral("loop"));
    const StopEvent stop = resume(Resume::Continue);
    EXPECT_EQ(stop.cause, StopCause::BreakpointHit);
    EXPECT_EQ(stop.breakpoints, QVector<int>{breakpoint.value().number});
    EXPECT_EQ(stop.frame.line, lineOf(QStringLiteral("target.c"), QStringLiteral("loop calls")));
    EXPECT_EQ(stop.threadId, 1);

    const auto variables =
        answerOf<QVector<Variable>>([&](auto handler) { session->variables(1, 0, handler); });
    ASSERT_TRUE(variables.ok());
    QMap<QString, Variable> byName;
    for (const Variable& variable : variables.value()) {
        byName.insert(variable.name, variable);
    }
    EXPECT_TRUE(variables.value().first().argument);
    EXPECT_EQ(byName[QStringLiteral("rounds")].value, QStringLiteral("20"));
    EXPECT_EQ(byName[QStringLiteral("i")].type, QStringLiteral("int"));
    EXPECT_EQ(byName[QStringLiteral("point")].type, QStringLiteral("struct Point"));
    EXPECT_TRUE(byName[QStringLiteral("point")].value.contains(QStringLiteral("{1.5, 2.5, 3.5}")))
        << byName[QStringLiteral("point")].value.toStdString();
    EXPECT_TRUE(byName[QStringLiteral("text")].value.contains(QStringLiteral("a\\\\b\\tc")))
        << byName[QStringLiteral("text")].value.toStdString();
}

TEST_F(GdbTest, ShowsTextInUtf8) {
    const Program& program = start(target());
    attachAndGo(program);
    ASSERT_TRUE(breakAt(at(QStringLiteral("loop calls"))).ok());
    resume(Resume::Continue);
    const auto name = evaluate(QStringLiteral("point.name"));
    ASSERT_TRUE(name.ok());
    EXPECT_TRUE(name.value().contains(QString::fromUtf8("caf\303\251 \\\"q\\\"")))
        << name.value().toStdString();
}

TEST_F(GdbTest, StepsOverIntoAndOut) {
    const Program& program = start(target());
    attachAndGo(program);
    ASSERT_TRUE(breakAt(at(QStringLiteral("loop calls")), {}, true).ok());
    resume(Resume::Continue);
    StopEvent stop = resume(Resume::Step);
    EXPECT_EQ(stop.cause, StopCause::EndSteppingRange);
    EXPECT_EQ(stop.frame.function, QStringLiteral("add"));
    stop = resume(Resume::Next);
    EXPECT_EQ(stop.frame.function, QStringLiteral("add"));
    stop = resume(Resume::Finish, 0);
    EXPECT_EQ(stop.cause, StopCause::FunctionFinished);
    EXPECT_EQ(stop.frame.function, QStringLiteral("loop"));
    EXPECT_EQ(stop.returnValue, QStringLiteral("3"));
    stop = resume(Resume::Next);
    EXPECT_EQ(stop.frame.line, lineOf(QStringLiteral("target.c"), QStringLiteral("loop calls")) + 1);
}

TEST_F(GdbTest, FinishesFromAnOuterFrame) {
    const Program& program = start(target());
    attachAndGo(program);
    ASSERT_TRUE(breakAt(QStringLiteral("add"), {}, true).ok());
    resume(Resume::Continue);
    ASSERT_EQ(stack().value(1).function, QStringLiteral("loop"));
    const StopEvent stop = resume(Resume::Finish, 1);
    EXPECT_EQ(stop.cause, StopCause::FunctionFinished);
    EXPECT_EQ(stop.frame.function, QStringLiteral("main"));
}

TEST_F(GdbTest, ConditionsIgnoreCountsAndHits) {
    const Program& program = start(target());
    attachAndGo(program);
    const auto breakpoint = breakAt(QStringLiteral("add"), QStringLiteral("a == 4 && b > 0"));
    ASSERT_TRUE(breakpoint.ok());
    const int number = breakpoint.value().number;
    resume(Resume::Continue);
    EXPECT_EQ(evaluate(QStringLiteral("a")).value(), QStringLiteral("4"));
    const auto changed = answerOf<Unit>(
        [&](auto handler) { session->setBreakpointCondition(number, QStringLiteral("a >= 6 "), handler); });
    EXPECT_TRUE(changed.ok());
    resume(Resume::Continue);
    EXPECT_EQ(evaluate(QStringLiteral("a")).value(), QStringLiteral("6"));
    EXPECT_TRUE(
        answerOf<Unit>([&](auto handler) { session->setBreakpointCondition(number, {}, handler); }).ok());
    EXPECT_TRUE(answerOf<Unit>([&](auto handler) { session->setBreakpointIgnore(number, 2, handler); }).ok());
    resume(Resume::Continue);
    EXPECT_EQ(evaluate(QStringLiteral("a")).value(), QStringLiteral("9"));
    const auto all = answerOf<QVector<Breakpoint>>([&](auto handler) { session->breakpoints(handler); });
    ASSERT_TRUE(all.ok());
    ASSERT_EQ(all.value().size(), 1);
    EXPECT_EQ(all.value().first().hits, 5);
    EXPECT_TRUE(
        answerOf<Unit>([&](auto handler) { session->setBreakpointEnabled(number, false, handler); }).ok());
    EXPECT_EQ(resume(Resume::Continue).cause, StopCause::ExitedNormally);
}

TEST_F(GdbTest, SaysWhyABreakpointIsRefused) {
    const Program& program = start(target());
    attach(program);
    const auto bad = breakAt(QStringLiteral("add"), QStringLiteral("nosuch == 1"));
    ASSERT_FALSE(bad.ok());
    EXPECT_EQ(bad.error().code, ErrorCode::GdbError);
    EXPECT_TRUE(bad.error().text.contains(QStringLiteral("nosuch"))) << bad.error().text.toStdString();
    const auto pending = breakAt(QStringLiteral("nowhere.c:7"));
    ASSERT_TRUE(pending.ok());
    EXPECT_TRUE(pending.value().pending);
    EXPECT_EQ(pending.value().what, QStringLiteral("nowhere.c:7"));
    const auto nothing =
        answerOf<Breakpoint>([&](auto handler) { session->insertBreakpoint(QString(), {}, false, handler); });
    EXPECT_FALSE(nothing.ok());
}

TEST_F(GdbTest, EvaluatesAndRefuses) {
    const Program& program = start(target());
    attachAndGo(program);
    EXPECT_EQ(evaluate(QStringLiteral("add(40, 2)")).value(), QStringLiteral("42"));
    EXPECT_TRUE(stops.isEmpty());
    EXPECT_EQ(session->state(), GdbState::Stopped);
    EXPECT_EQ(evaluate(QStringLiteral("sizeof(\"a\\\"b\")")).value(), QStringLiteral("4"));
    const auto unknown = evaluate(QStringLiteral("no_such_thing"));
    ASSERT_FALSE(unknown.ok());
    EXPECT_EQ(unknown.error().code, ErrorCode::GdbError);
    EXPECT_TRUE(unknown.error().text.contains(QStringLiteral("no_such_thing")));
    EXPECT_FALSE(evaluate(QStringLiteral("*(int*)0")).ok());
    const auto pc =
        answerOf<quint64>([&](auto handler) { session->readNumber(QStringLiteral("$pc"), 1, 0, handler); });
    ASSERT_TRUE(pc.ok());
    EXPECT_EQ(pc.value(), stack().first().address);
    const auto address = answerOf<quint64>(
        [&](auto handler) { session->readNumber(QStringLiteral("&total"), 1, 0, handler); });
    ASSERT_TRUE(address.ok());
    const auto written = answerOf<Unit>([&](auto handler) {
        session->writeMemory(address.value(), QByteArray::fromHex("2a000000"), handler);
    });
    ASSERT_TRUE(written.ok());
    EXPECT_EQ(evaluate(QStringLiteral("total")).value(), QStringLiteral("42"));
    const auto printed = answerOf<QString>(
        [&](auto handler) { session->console(QStringLiteral("print total + 1"), handler); });
    EXPECT_TRUE(printed.value().contains(QStringLiteral("= 43"))) << printed.value().toStdString();
}

TEST_F(GdbTest, RunsToALocationAndStopsOnTheWay) {
    const Program& program = start(target());
    attachAndGo(program);
    const auto advance = [&](const QString& location) {
        const qsizetype before = stops.size();
        EXPECT_TRUE(answerOf<Unit>([&](auto handler) { session->advance(location, 1, handler); }).ok());
        return nextStop(before, exits.size());
    };
    EXPECT_EQ(advance(at(QStringLiteral("loop head"))).cause, StopCause::LocationReached);
    ASSERT_TRUE(breakAt(QStringLiteral("add")).ok());
    EXPECT_EQ(advance(QStringLiteral("crash")).cause, StopCause::BreakpointHit);
    const auto left = answerOf<QVector<Breakpoint>>([&](auto handler) { session->breakpoints(handler); });
    ASSERT_TRUE(left.ok());
    EXPECT_EQ(left.value().size(), 1);
    const auto nowhere =
        answerOf<Unit>([&](auto handler) { session->advance(QStringLiteral("nowhere.c:1"), 1, handler); });
    EXPECT_FALSE(nowhere.ok());
    EXPECT_EQ(session->state(), GdbState::Stopped);
}

TEST_F(GdbTest, InterruptsAndChangesBreakpointsWhileRunning) {
    const Program& program = start(target(), {QStringLiteral("forever")});
    attachAndGo(program);
    ASSERT_TRUE(answerOf<Unit>([&](auto handler) { session->resume(Resume::Continue, 1, 0, handler); }).ok());
    EXPECT_EQ(session->state(), GdbState::Running);
    const auto refused = answerOf<QVector<Frame>>([&](auto handler) { session->stack(1, 10, handler); });
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::NotStopped);
    EXPECT_EQ(evaluate(QStringLiteral("total")).error().code, ErrorCode::NotStopped);
    const auto again =
        answerOf<Unit>([&](auto handler) { session->resume(Resume::Continue, 1, 0, handler); });
    EXPECT_EQ(again.error().code, ErrorCode::NotStopped);

    ASSERT_TRUE(answerOf<Unit>([&](auto handler) { session->interrupt(handler); }).ok());
    StopEvent stop = nextStop(0, 0);
    EXPECT_EQ(stop.cause, StopCause::SignalReceived);
    EXPECT_EQ(stop.signalName, QStringLiteral("SIGINT"));
    EXPECT_EQ(stack().last().function, QStringLiteral("main"));

    const qsizetype before = stops.size();
    ASSERT_TRUE(answerOf<Unit>([&](auto handler) { session->resume(Resume::Continue, 1, 0, handler); }).ok());
    const auto breakpoint = breakAt(QStringLiteral("add"));
    ASSERT_TRUE(breakpoint.ok());
    stop = nextStop(before, 0);
    EXPECT_EQ(stop.cause, StopCause::BreakpointHit);
    EXPECT_EQ(exits.size(), 0);
}

TEST_F(GdbTest, ListsThreads) {
    const Program& program = start(target(), {QStringLiteral("threads")});
    attach(program);
    const auto threads = answerOf<QVector<Thread>>([&](auto handler) { session->threads(handler); });
    ASSERT_TRUE(threads.ok());
    ASSERT_EQ(threads.value().size(), 2);
    for (const Thread& thread : threads.value()) {
        EXPECT_FALSE(thread.running);
        const QVector<Frame> frames = stack(thread.id);
        if (thread.lwp == program.pid()) {
            EXPECT_EQ(frames.last().function, QStringLiteral("main"));
        } else {
            EXPECT_TRUE(std::any_of(frames.begin(), frames.end(),
                                    [](const Frame& f) { return f.function == QStringLiteral("spin"); }));
        }
    }
}

TEST_F(GdbTest, BindsInTheUsersLibraryAndReportsTheExitCode) {
    const Program& program = start(target(), {QStringLiteral("exit")});
    attachAndGo(program);
    const QString place = QStringLiteral("user_library.c:%1")
                              .arg(lineOf(QStringLiteral("user_library.c"), QStringLiteral("user library")));
    ASSERT_TRUE(breakAt(place).value().pending);
    ASSERT_TRUE(answerOf<Unit>([&](auto handler) { session->loadUserLibraries(handler); }).ok());
    const QVector<Library> libraries = session->libraries();
    for (const Library& library : libraries) {
        EXPECT_EQ(library.symbolsLoaded, library.path.contains(QStringLiteral("gdbmi_user")))
            << library.path.toStdString();
    }
    EXPECT_EQ(resume(Resume::Continue).frame.function, QStringLiteral("user_function"));
    const StopEvent end = resume(Resume::Continue);
    EXPECT_EQ(end.cause, StopCause::Exited);
    EXPECT_EQ(end.exitCode, 23);
    EXPECT_EQ(session->state(), GdbState::Ready);
}

TEST_F(GdbTest, BindsInALibraryLoadedWhileRunning) {
    const QString plugin = programPath(QStringLiteral("libgdbmi_plugin.so"));
    const Program& program = start(target(), {QStringLiteral("plugin"), plugin});
    attachAndGo(program);
    ASSERT_TRUE(answerOf<Unit>([&](auto handler) { session->loadUserLibraries(handler); }).ok());
    const QString place =
        QStringLiteral("plugin.c:%1").arg(lineOf(QStringLiteral("plugin.c"), QStringLiteral("plugin")));
    ASSERT_TRUE(breakAt(place).value().pending);
    const StopEvent stop = resume(Resume::Continue);
    EXPECT_EQ(stop.cause, StopCause::BreakpointHit);
    EXPECT_EQ(stop.frame.function, QStringLiteral("plugin_function"));
    EXPECT_EQ(stops.size(), 1) << "the stop at the load was announced";
    EXPECT_EQ(resume(Resume::Continue).cause, StopCause::ExitedNormally);
}

TEST_F(GdbTest, SteppingIsNotEndedByALibraryThatAppears) {
    const QString plugin = programPath(QStringLiteral("libgdbmi_plugin.so"));
    const Program& program = start(target(), {QStringLiteral("plugin"), plugin});
    attachAndGo(program);
    ASSERT_TRUE(answerOf<Unit>([&](auto handler) { session->loadUserLibraries(handler); }).ok());
    ASSERT_TRUE(breakAt(QStringLiteral("plugin"), {}, true).ok());
    const StopEvent start = resume(Resume::Continue);
    const StopEvent stop = resume(Resume::Next);
    EXPECT_EQ(stop.cause, StopCause::EndSteppingRange);
    EXPECT_EQ(stop.frame.function, QStringLiteral("plugin"));
    EXPECT_EQ(stop.frame.line, start.frame.line + 1);
    const QVector<Library> libraries = session->libraries();
    EXPECT_TRUE(std::any_of(libraries.begin(), libraries.end(),
                            [&](const Library& l) { return l.path == plugin && l.symbolsLoaded; }));
}

TEST_F(GdbTest, NamesOfCpp) {
    const Program& program = start(programPath(QStringLiteral("gdbmi_names")));
    attachAndGo(program);
    ASSERT_TRUE(
        breakAt(
            QStringLiteral("names.cpp:%1").arg(lineOf(QStringLiteral("names.cpp"), QStringLiteral("box"))))
            .ok());
    const StopEvent stop = resume(Resume::Continue);
    EXPECT_TRUE(stop.frame.function.startsWith(QStringLiteral("shapes::Box<std::")))
        << stop.frame.function.toStdString();
    EXPECT_EQ(evaluate(QStringLiteral("times")).value(), QStringLiteral("2"));
}

#ifdef HAVE_FORTRAN
TEST_F(GdbTest, NamesOfFortran) {
    const Program& program = start(programPath(QStringLiteral("gdbmi_fields")));
    attach(program);
    EXPECT_EQ(stack().last().function, QStringLiteral("MAIN__"));
    const auto outer = static_cast<int>(stack().size()) - 1;
    ASSERT_TRUE(evaluate(QStringLiteral("go = 1"), outer).ok());
    ASSERT_TRUE(breakAt(QStringLiteral("fields.f90:%1")
                            .arg(lineOf(QStringLiteral("fields.f90"), QStringLiteral("relaxed"))))
                    .ok());
    const StopEvent stop = resume(Resume::Continue);
    EXPECT_EQ(stop.cause, StopCause::BreakpointHit);
    EXPECT_EQ(stop.frame.function, QStringLiteral("fields::relax"));
    EXPECT_EQ(evaluate(QStringLiteral("a(2,1)")).value(), QStringLiteral("3"));
    EXPECT_EQ(evaluate(QStringLiteral("done")).value(), QStringLiteral(".FALSE."));
    const auto number =
        answerOf<quint64>([&](auto handler) { session->readNumber(QStringLiteral("n"), 1, 0, handler); });
    EXPECT_EQ(number.value(), 2u);
    const auto variables =
        answerOf<QVector<Variable>>([&](auto handler) { session->variables(1, 0, handler); });
    ASSERT_TRUE(variables.ok());
    ASSERT_EQ(variables.value().size(), 4);
    EXPECT_EQ(variables.value()[0].name, QStringLiteral("a"));
    EXPECT_TRUE(variables.value()[0].value.contains(QStringLiteral("(3, 3, 1.5)")))
        << variables.value()[0].value.toStdString();
}
#endif

TEST_F(GdbTest, ABreakpointThatCannotBeInsertedLeavesTheProgramWhereItIs) {
    attachAndGo(start(programPath(QStringLiteral("gdbmi_target"))));
    QStringList failures;
    QObject::connect(session.get(), &GdbSession::resumeFailed, session.get(),
                     [&](const QString& why) { failures.append(why); });
    const auto nowhere = breakAt(QStringLiteral("*0x0"));
    ASSERT_TRUE(nowhere.ok());
    ASSERT_TRUE(answerOf<Unit>([&](auto h) { session->resume(Resume::Continue, 1, 0, h); }).ok());
    ASSERT_TRUE(waitUntil([&] { return !failures.isEmpty(); }));
    EXPECT_TRUE(failures[0].contains(QStringLiteral("Cannot access memory at address 0x0")))
        << failures[0].toStdString();
    EXPECT_EQ(session->state(), GdbState::Stopped);
    ASSERT_TRUE(answerOf<Unit>([&](auto h) { session->deleteBreakpoint(nowhere.value().number, h); }).ok());
    ASSERT_TRUE(breakAt(QStringLiteral("target.c:%1")
                            .arg(lineOf(QStringLiteral("target.c"), QStringLiteral("loop calls"))))
                    .ok());
    EXPECT_EQ(resume(Resume::Continue).cause, StopCause::BreakpointHit);
}

} // namespace
} // namespace stopline::mi
