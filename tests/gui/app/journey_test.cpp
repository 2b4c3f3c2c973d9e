// What the window says when ranks have been taken back or forth.
#include "../../../app/log_dock.h"
#include "../../../app/log_model.h"
#include "window_fixture.h"

#include <QStatusBar>

class JourneyTest : public WindowFixture {
    Q_OBJECT

    [[nodiscard]] QString said() const { return m_window->statusBar()->currentMessage(); }

    [[nodiscard]] RankView& rank(int number) {
        return scriptOf(*m_session).ranks[static_cast<std::size_t>(number)];
    }

    static Place after(std::uint64_t event) { return Place{EventIndex{event}, false}; }

    /// Four ranks that stand in the recording of recordMessages().
    void prepare() {
        open();
        stop({118, 118, 120, 120});
        recordMessages(*m_session, 4);
        for (int i = 0; i < 4; ++i) {
            rank(i).place = after(4);
        }
        scriptOf(*m_session).finishesOperations = false;
        emit m_session->ranksChanged();
        emit m_session->verbsChanged();
    }

    void finish(bool ok = true, const QString& text = {}) { emit m_session->operationFinished(ok, text); }

  private slots:
    void rollbackNamesWhoMovedAndWhoStayed() {
        prepare();
        m_window->actions()->rollback->trigger();
        QVERIFY(calls().contains(QStringLiteral("rollback")));
        rank(0).place = after(2);
        finish();
        QCOMPARE(said(), QStringLiteral("Rolled back: rank 0 is after 2 MPI_Init; ranks 1-3 stayed"));
        const auto* log = m_window->findChild<LogDock*>()->model();
        QCOMPARE(log->index(log->rowCount() - 1, LogModel::Text).data().toString(), said());
    }

    void undoNamesTheCommandAndGroupsTheRanks() {
        prepare();
        HistoryEntry entry;
        entry.verb = Verb::StepOver;
        scriptOf(*m_session).undo = entry;
        m_session->setShownRank(RankId{3});
        m_window->actions()->undo->trigger();
        rank(0).location.line = 117; // the same place, another line
        rank(1).location.line = 117;
        rank(3).location.line = 99;
        finish();
        QCOMPARE(said(), QStringLiteral(
                             "Undone (Step over): rank 3 is at solver.c:99; ranks 0,1 are at solver.c:117; "
                             "rank 2 stayed"));
    }

    void undoOfRun() {
        prepare();
        HistoryEntry entry;
        entry.verb = Verb::Run;
        scriptOf(*m_session).undo = entry;
        m_window->actions()->undo->trigger();
        for (int i = 0; i < 4; ++i) {
            rank(i) = RankView{};
        }
        finish(true, QStringLiteral("not started"));
        QCOMPARE(said(), QStringLiteral("Undone (Run): the job is not started"));
    }

    void undoOfAChoiceNamesTheExecutionThatIsBack() {
        prepare();
        Scripted& s = scriptOf(*m_session);
        const QString choice = QStringLiteral("rank 0's MPI_Recv at event 3 takes rank 2's message");
        s.executions = {{1, 0, {}, 14, false}, {2, 1, choice, 12, true}};
        HistoryEntry entry;
        entry.verb = Verb::Run;
        entry.note = choice;
        s.undo = entry;
        m_window->actions()->undo->trigger();
        s.executions = {{1, 0, {}, 14, true}, {2, 1, choice, 12, false}};
        finish();
        QCOMPARE(said(), QStringLiteral("Undone (rank 0's MPI_Recv at event 3 takes rank 2's message): execution 1 is on show"));
    }

    void redoAfterNothingWasStarted() {
        prepare();
        for (int i = 0; i < 4; ++i) {
            rank(i).phase = RankPhase::NotStarted;
        }
        HistoryEntry entry;
        entry.verb = Verb::Continue;
        scriptOf(*m_session).redo = entry;
        m_window->actions()->redo->trigger();
        for (int i = 0; i < 4; ++i) {
            rank(i).phase = RankPhase::Stopped;
            rank(i).place = Place{};
        }
        finish();
        QCOMPARE(said(), QStringLiteral("Done again (Continue): ranks 0-3 are before MPI_Init"));
    }

    /// Where ranks that ran were is known when the operation begins, not when it is asked for.
    void whereRunningRanksWereIsAskedFirst() {
        prepare();
        rank(1).phase = RankPhase::Running;
        m_window->actions()->forward->trigger();
        rank(1).phase = RankPhase::Stopped;
        rank(1).place = after(6);
        scriptOf(*m_session).operation = QStringLiteral("Forward: 0 of 4 ranks there");
        emit m_session->operationChanged();
        scriptOf(*m_session).operation.clear();
        emit m_session->operationChanged();
        rank(0).place = after(6);
        finish();
        QCOMPARE(said(), QStringLiteral("Gone forward: rank 0 is after 6 MPI_Send; ranks 1-3 stayed"));
    }

    void whatFailedIsNotSaidToBeDone() {
        prepare();
        m_window->actions()->rollback->trigger();
        finish(false, QStringLiteral("cancelled; the ranks stay where they are"));
        QVERIFY(!said().contains(QStringLiteral("Rolled back")));
        QVERIFY(m_window->messageBar()->text().contains(QStringLiteral("cancelled")));
        finish(true, QStringLiteral("there")); // of an operation that nobody told of
        QCOMPARE(said(), QStringLiteral("there"));
    }
};

QTEST_MAIN(JourneyTest)
#include "journey_test.moc"
