// Every model behaves as item models must, and says what it is asked.
#include "../../../app/breakpoints_model.h"
#include "../../../app/call_details.h"
#include "../../../app/history_model.h"
#include "../../../app/launch_memory.h"
#include "../../../app/log_model.h"
#include "../../../app/open_messages_model.h"
#include "../../../app/output_log.h"
#include "../../../app/source_finder.h"
#include "../../../app/stack_model.h"
#include "../../../app/text.h"
#include "own_settings.h"
#include "scripted_session.h"

#include <QAbstractItemModelTester>
#include <QDir>
#include <QFile>
#include <QIcon>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace stopline;
using namespace stopline::app;
using namespace stopline::replay;

namespace {

QString cell(const QAbstractItemModel& model, int row, int column) {
    return model.index(row, column).data().toString();
}

QVector<mi::Frame> someFrames() {
    mi::Frame poll;
    poll.function = QStringLiteral("opal_progress");
    poll.from = QStringLiteral("/usr/lib/libmpi.so.40");
    mi::Frame recv = poll;
    recv.level = 1;
    recv.function = QStringLiteral("PMPI_Recv");
    mi::Frame user;
    user.level = 2;
    user.function = QStringLiteral("exchange");
    user.file = QStringLiteral("src/solver.c");
    user.line = 118;
    return {poll, recv, user};
}

} // namespace

class ModelsTest : public QObject {
    Q_OBJECT

    OwnSettings m_settings{QStringLiteral("models")};

    static void check(QAbstractItemModel* model) {
        new QAbstractItemModelTester(model, QAbstractItemModelTester::FailureReportingMode::QtTest, model);
    }

  private slots:
    void stackHidesInternalFrames() {
        StackModel model;
        check(&model);
        model.setFrames(someFrames(), 2, false);
        QCOMPARE(model.rowCount(), 2);
        QVERIFY(cell(model, 0, StackModel::Function).startsWith(QStringLiteral("MPI_Recv")));
        QVERIFY(cell(model, 0, StackModel::Function).contains(u'1'));
        QCOMPARE(model.levelAt(0), -1);
        QCOMPARE(cell(model, 1, StackModel::Location), QStringLiteral("solver.c:118"));
        QCOMPARE(model.rowOf(2), 1);
        model.setShowInternal(true);
        QCOMPARE(model.rowCount(), 3);
        QCOMPARE(model.levelAt(0), 0);
        model.setFrames({}, -1, false);
        QCOMPARE(model.rowCount(), 0);
    }

    void breakpoints() {
        Session session;
        BreakpointsModel model(&session);
        check(&model);
        const int id =
            session.addBreakpoint(QStringLiteral("/src/solver.c:118"), QStringLiteral("n > 3"), RankId{2});
        QCOMPARE(model.rowCount(), 1);
        QCOMPARE(cell(model, 0, BreakpointsModel::Location), QStringLiteral("solver.c:118"));
        QCOMPARE(cell(model, 0, BreakpointsModel::Condition), QStringLiteral("n > 3"));
        QCOMPARE(cell(model, 0, BreakpointsModel::Ranks), QStringLiteral("2"));
        QCOMPARE(cell(model, 0, BreakpointsModel::Hits), QStringLiteral("pending"));
        QVERIFY(model.setData(model.index(0, 0), Qt::Unchecked, Qt::CheckStateRole));
        QVERIFY(!session.breakpoints().first().enabled);
        session.removeBreakpoint(id);
        QCOMPARE(model.rowCount(), 0);
    }

    void refusedBreakpointsSayWhy() {
        Session session;
        BreakpointsModel model(&session);
        check(&model);
        scriptOf(session).refuses = QStringLiteral("No symbol \"nosuch\" in current context.");
        session.addBreakpoint(QStringLiteral("solver.c:118"), QStringLiteral("nosuch > 3"));
        scriptOf(session).refuses.clear();
        session.addBreakpoint(QStringLiteral("solver.c:119"));
        const auto at = [&model](int row, int role) {
            return model.index(row, BreakpointsModel::Location).data(role);
        };
        QCOMPARE(cell(model, 0, BreakpointsModel::Hits), QStringLiteral("refused"));
        QVERIFY(!at(0, Qt::DecorationRole).value<QIcon>().isNull());
        QVERIFY(at(0, Qt::ToolTipRole).toString().contains(QStringLiteral("No symbol \"nosuch\"")));
        QVERIFY(at(0, Qt::ForegroundRole) != at(1, Qt::ForegroundRole));
        QCOMPARE(cell(model, 1, BreakpointsModel::Hits), QStringLiteral("pending"));
        QVERIFY(!at(1, Qt::DecorationRole).isValid());
        // One rank only will not have it: the others count their hits.
        UserBreakpoint& first = scriptOf(session).breakpoints[0];
        first.pending = false;
        first.hits = 3;
        first.line = 118;
        emit session.breakpointsChanged();
        QCOMPARE(cell(model, 0, BreakpointsModel::Hits), QStringLiteral("3"));
        QVERIFY(at(0, Qt::DecorationRole).isValid());
    }

    void logKeepsTheNewest() {
        LogModel small; // the tester looks at every row at every insertion: not for thousands
        check(&small);
        small.add(Severity::Error, QStringLiteral("gdb of rank 3 has died"), QStringLiteral("Restart"));
        QCOMPARE(cell(small, 0, LogModel::Remedy), QStringLiteral("Restart"));
        LogModel model;
        for (int i = 0; i < LogModel::kMostRows + 10; ++i) {
            model.add(i % 2 == 0 ? Severity::Warning : Severity::Info, QString::number(i), {});
        }
        QVERIFY(model.rowCount() <= LogModel::kMostRows);
        QCOMPARE(cell(model, model.rowCount() - 1, LogModel::Text), QString::number(LogModel::kMostRows + 9));
        QVERIFY(model.problems() > 0);
    }

    void history() {
        Session session;
        HistoryModel model(&session);
        check(&model);
        HistoryEntry entry;
        entry.verb = Verb::Continue;
        entry.before = {Place{EventIndex{4}, false}, Place{EventIndex{2}, false}};
        entry.after = {Place{EventIndex{9}, false}, Place{EventIndex{2}, false}};
        scriptOf(session).history = {entry};
        scriptOf(session).redo = entry;
        emit session.historyChanged();
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(cell(model, 0, HistoryModel::Command), QStringLiteral("Continue all"));
        QCOMPARE(cell(model, 0, HistoryModel::Places), QStringLiteral("0: 4 → 9")); // rank 1 did not move
        QCOMPARE(model.before(0)->at(0).event, EventIndex{4});
        QVERIFY(!model.before(1));
    }

    void openMessages() {
        Session session;
        OpenMessagesModel model(&session);
        check(&model);
        QCOMPARE(model.rowCount(), 0);
        recordMessages(session, 3);
        QCOMPARE(model.rowCount(), 1);
        QCOMPARE(cell(model, 0, OpenMessagesModel::From), QStringLiteral("0"));
        QCOMPARE(cell(model, 0, OpenMessagesModel::To), QStringLiteral("2"));
        QVERIFY(model.callAt(0));
        QCOMPARE(cell(model, 0, OpenMessagesModel::State), QStringLiteral("receive posted, not complete"));
        Scripted& script = scriptOf(session);
        script.gone[2] = QStringLiteral("rank 2 exited with code 4");
        script.ranks.resize(3);
        emit session.rankChanged(RankId{2}); // goes on
        script.ranks[2].phase = RankPhase::Exited;
        emit session.rankChanged(RankId{2});
        QTRY_COMPARE(cell(model, 0, OpenMessagesModel::State), QStringLiteral("receive posted, not complete; rank 2 exited with code 4"));
    }

    void callDetails() {
        Session session;
        recordMessages(session, 3);
        const CallRef send{RankId{0}, CallIndex{1}};
        const QString html = callDetailsHtml(session, send, QPalette());
        for (const char* part : {"MPI_Send", "ring.c:31", "rank 1", "64 B", "received", "call:1:1"}) {
            QVERIFY2(html.contains(QString::fromUtf8(part)), part);
        }
        QCOMPARE(*callOfLink(QStringLiteral("call:1:1")), (CallRef{RankId{1}, CallIndex{1}}));
        QVERIFY(!callOfLink(QStringLiteral("source")));
        QVERIFY(!callOfLink(QStringLiteral("call:x:1")));
        QVERIFY(callDetailsHtml(session, {RankId{7}, CallIndex{0}}, QPalette()).isEmpty());
        const QString open = callDetailsHtml(session, {RankId{2}, CallIndex{1}}, QPalette());
        QVERIFY(open.contains(QStringLiteral("not finished")));
    }

    /// A receive that a choice holds is told of in the same words as in the list of open messages.
    void callDetailsOfAHeldReceive() {
        Session session;
        scriptOf(session).timeline = std::make_unique<Timeline>(2);
        Timeline& timeline = *scriptOf(session).timeline;
        trace::CommInfo world;
        world.kind = trace::CommKind::World;
        world.id = 1;
        world.members = {0, 1};
        timeline.addComm(RankId{0}, world);
        trace::EventDetails begin;
        begin.kind = trace::EventKind::Begin;
        begin.function = trace::FunctionId::Recv;
        begin.comm = CommIndex{0};
        begin.recvPeer = kAnySource;
        begin.recvTag = 1;
        timeline.addEvent(RankId{0}, timeline.addDetails(RankId{0}, begin), 100);
        const CallRef receive{RankId{0}, CallIndex{0}};
        QCOMPARE(timeline.messagesOf(receive).size(), std::size_t(1));
        const Message& message = timeline.messages()[timeline.messagesOf(receive).front().value()];
        QCOMPARE(messageStateText(session, message), QStringLiteral("receive waits, not sent"));
        QVERIFY(callDetailsHtml(session, receive, QPalette()).contains(QStringLiteral("receive waits, not sent")));
        const QString held = QStringLiteral("held for the message from rank 2, event 7");
        scriptOf(session).held[receive] = held;
        QCOMPARE(messageStateText(session, message), held);
        const QString html = callDetailsHtml(session, receive, QPalette());
        QVERIFY(html.contains(held));
        QVERIFY(!html.contains(QStringLiteral("not sent")));
    }

    void callDetailsOfErrors() {
        Session session;
        recordMessages(session, 3);
        Timeline& timeline = *scriptOf(session).timeline;
        const RankId rank{1};
        trace::EventDetails wait;
        wait.function = trace::FunctionId::Waitall;
        timeline.addEvent(rank, timeline.addDetails(rank, wait), 900);
        trace::EventDetails end;
        end.kind = trace::EventKind::End;
        end.function = wait.function;
        end.error = trace::ErrorClass::InStatus;
        end.errorCode = 18;
        end.completions = {{{0}, 2, {}, trace::ErrorClass::Truncate, 15}};
        timeline.addEvent(rank, timeline.addDetails(rank, end), 910);
        const CallRef call{rank, CallIndex{timeline.callCount(rank) - 1}};
        const QString html = callDetailsHtml(session, call, QPalette());
        for (const char* part : {"MPI_ERR_IN_STATUS (code 18)", "request 2", "MPI_ERR_TRUNCATE (code 15)"}) {
            QVERIFY2(html.contains(QString::fromUtf8(part)), qPrintable(html));
        }
    }

    void callDetailsOfAWindow() {
        Session session;
        recordMessages(session, 3);
        Timeline& timeline = *scriptOf(session).timeline;
        const RankId rank{1};
        trace::CommInfo self;
        self.kind = trace::CommKind::Self;
        self.id = 2;
        self.members = {1};
        QCOMPARE(timeline.addComm(rank, self), kCommSelf);
        for (const auto& [kind, text] : {std::pair(trace::CommKind::Window, "window %1 of ranks 0-2"),
                                         std::pair(trace::CommKind::File, "file %1 of ranks 0-2"),
                                         std::pair(trace::CommKind::Dup, "communicator %1 of ranks 0-2")}) {
            trace::CommInfo info;
            info.kind = kind;
            info.id = 70 + std::uint64_t(kind);
            info.members = {0, 1, 2};
            trace::EventDetails begin;
            begin.comm = timeline.addComm(rank, info);
            begin.function = trace::FunctionId::Win_fence;
            timeline.addEvent(rank, timeline.addDetails(rank, begin), 900);
            const QString html = callDetailsHtml(session, {rank, CallIndex{timeline.callCount(rank) - 1}}, QPalette());
            QVERIFY2(html.contains(QString::fromUtf8(text).arg(begin.comm.value())), qPrintable(html));
            trace::EventDetails end;
            end.kind = trace::EventKind::End;
            end.function = begin.function;
            timeline.addEvent(rank, timeline.addDetails(rank, end), 910);
        }
    }

    void outputLines() {
        OutputLog log;
        log.add(RankId{0}, 1, "hel");
        log.add(RankId{1}, 1, "other\n");
        log.add(RankId{0}, 2, "error\r\n");
        log.add(RankId{0}, 1, "lo\nnext");
        QCOMPARE(log.lines().size(), 3);
        QCOMPARE(log.lines()[0].text, QStringLiteral("other"));
        QCOMPARE(log.lines()[1].text, QStringLiteral("error"));
        QCOMPARE(log.lines()[2].text, QStringLiteral("hello"));
        QCOMPARE(log.unfinished().size(), 1);
        QCOMPARE(log.unfinished().first().text, QStringLiteral("next"));
        log.clear();
        QVERIFY(log.lines().isEmpty());
        QVERIFY(log.unfinished().isEmpty());
    }

    void outputIsBounded() {
        OutputLog log;
        for (int i = 0; i < 5; ++i) {
            log.add(RankId{0}, 1, QByteArray("x\n").repeated(OutputLog::kMostLines / 4));
        }
        QVERIFY(log.lines().size() <= OutputLog::kMostLines);
        QVERIFY(log.dropped() > 0);
    }

    void launches() {
        LaunchSpec spec;
        spec.program = QStringLiteral("./my app");
        spec.arguments = {QStringLiteral("a b"), QString(), QStringLiteral("say \"x\""),
                          QStringLiteral("it's"), QStringLiteral("back\\slash")};
        spec.ranks = 8;
        spec.environment = {{QStringLiteral("A"), QStringLiteral("1=2")}};
        spec.launcherArguments = {QStringLiteral("--bind-to"), QStringLiteral("none")};
        const LaunchSpec back = launchFromJson(launchToJson(spec));
        QCOMPARE(launchToJson(back), launchToJson(spec));
        QCOMPARE(splitShellWords(joinWords(spec.arguments)), spec.arguments);
        rememberLaunch(spec);
        LaunchSpec other;
        other.command = {QStringLiteral("mpirun"), QStringLiteral("-n"), QStringLiteral("2"),
                         QStringLiteral("./a")};
        rememberLaunch(other);
        rememberLaunch(spec);
        QCOMPARE(recentLaunches().size(), 2);
        QCOMPARE(recentLaunches().first().ranks, 8);
        QCOMPARE(launchText(other), QStringLiteral("mpirun -n 2 ./a"));
    }

    void shellWords() {
        QCOMPARE(splitShellWords(QStringLiteral(" a 'b c' \"d \\\" e\" f\\ g ''")),
                 QStringList({QStringLiteral("a"), QStringLiteral("b c"), QStringLiteral("d \" e"),
                              QStringLiteral("f g"), QString()}));
    }

    void movedSourcesAreFound() {
        QTemporaryDir here;
        QVERIFY(QDir(here.path()).mkpath(QStringLiteral("proj/src")));
        for (const char* name : {"/proj/src/a.c", "/proj/src/b.c"}) {
            QFile file(here.path() + QString::fromUtf8(name));
            QVERIFY(file.open(QIODevice::WriteOnly));
        }
        SourceFinder finder;
        QVERIFY(finder.find(QStringLiteral("/build/machine/proj/src/a.c")).isEmpty());
        finder.learn(QStringLiteral("/build/machine/proj/src/a.c"),
                     here.path() + QStringLiteral("/proj/src/a.c"));
        QCOMPARE(finder.find(QStringLiteral("/build/machine/proj/src/b.c")),
                 here.path() + QStringLiteral("/proj/src/b.c"));
        QCOMPARE(SourceFinder().find(QStringLiteral("/build/machine/proj/src/b.c")), // remembered
                 here.path() + QStringLiteral("/proj/src/b.c"));
        finder.setSearchDirectories({here.path() + QStringLiteral("/proj/src")});
        QCOMPARE(finder.find(QStringLiteral("b.c")), here.path() + QStringLiteral("/proj/src/b.c"));
    }
};

QTEST_MAIN(ModelsTest)
#include "models_test.moc"
