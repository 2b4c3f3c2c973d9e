// The list of races, what can be done with them, and the executions that come of it.
#include "../../../app/call_details.h"
#include "../../../app/executions_dock.h"
#include "../../../app/message_bar.h"
#include "../../../app/note_view.h"
#include "../../../app/races_dock.h"
#include "../../../app/races_model.h"
#include "../../../viewer/diagram_widget.h"
#include "../../../viewer/geometry.h"
#include "window_fixture.h"

#include <QAbstractItemModelTester>
#include <QTreeWidget>

class RacesTest : public WindowFixture {
    Q_OBJECT

    static QString cell(const QAbstractItemModel& model, const QModelIndex& parent, int row, int column) {
        return model.index(row, column, parent).data().toString();
    }

    static CallRef call(int rank, std::uint32_t number) { return {RankId{rank}, CallIndex{number}}; }

  private slots:
    void listedByLineWithWhatCouldHaveCome() {
        Session& session = *m_session;
        RacesModel model(&session);
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(model.rowCount(), 0);
        recordRace(session);
        QCOMPARE(model.count(), std::size_t(1));
        QCOMPARE(model.rowCount(), 1);
        const QModelIndex line = model.index(0, 0);
        QCOMPARE(cell(model, {}, 0, RacesModel::Where), QStringLiteral("ring.c:31 in main"));
        QCOMPARE(cell(model, {}, 0, RacesModel::Got), QStringLiteral("1 race"));
        QCOMPARE(cell(model, {}, 0, RacesModel::Others), QStringLiteral("1"));
        QCOMPARE(model.rowCount(line), 1);
        const QModelIndex race = model.index(0, 0, line);
        QCOMPARE(cell(model, line, 0, RacesModel::Where), QStringLiteral("rank 0 event 3 MPI_Recv"));
        QCOMPARE(cell(model, line, 0, RacesModel::Got), QStringLiteral("got rank 1's message of event 3"));
        QCOMPARE(model.rowCount(race), 1);
        QCOMPARE(cell(model, race, 0, RacesModel::Where), QStringLiteral("rank 2 event 3 MPI_Send ring.c:31"));
        QCOMPARE(cell(model, race, 0, RacesModel::Got), QStringLiteral("tag 5, was received by event 5"));
        QVERIFY(model.index(0, 0, race).data(Qt::ToolTipRole).toString().contains(QStringLiteral("need not come after the receive")));
        QCOMPARE(*model.callAt(race), call(0, 1));
        QVERIFY(!model.chosenAt(race));
        const auto chosen = model.chosenAt(model.index(0, 0, race));
        QVERIFY(chosen);
        QCOMPARE(chosen->race, call(0, 1));
        QCOMPARE(chosen->send, call(2, 1));
        QCOMPARE(model.find(call(0, 1)), race);
        QVERIFY(!model.find(call(0, 2)).isValid());
        emit session.timelineReplaced();
        QCOMPARE(model.rowCount(), 0);
    }

    void anotherMessageIsTakenFromTheList() {
        open();
        auto* dock = m_window->findChild<RacesDock*>();
        QAction* take = m_window->actions()->takeInstead;
        QVERIFY(!take->isEnabled());
        recordRace(*m_session);
        QCOMPARE(dock->windowTitle(), QStringLiteral("Races (1)"));
        const RacesModel& model = *dock->model();
        const QModelIndex race = model.index(0, 0, model.index(0, 0));
        QVERIFY(dock->view()->isExpanded(model.index(0, 0))); // the only line
        dock->view()->setCurrentIndex(race);
        QVERIFY(!take->isEnabled());
        QVERIFY(take->toolTip().contains(QStringLiteral("Choose a message")));
        dock->view()->expand(race);
        dock->view()->setCurrentIndex(model.index(0, 0, race));
        QVERIFY(take->isEnabled());
        take->trigger();
        QCOMPARE(calls().last(), QStringLiteral("take 0.1 2.1"));
    }

    void theNextRaceIsShownInListAndDiagram() {
        open();
        recordRace(*m_session);
        m_window->actions()->nextRace->trigger();
        QCOMPARE(calls().last(), QStringLiteral("next race"));
        auto* diagram = m_window->findChild<viewer::DiagramWidget*>();
        QCOMPARE(*diagram->selection(), call(0, 1));
        auto* dock = m_window->findChild<RacesDock*>();
        QCOMPARE(*dock->model()->callAt(dock->view()->currentIndex()), call(0, 1));
        scriptOf(*m_session).noNextRace = QStringLiteral("nothing raced");
        emit m_session->verbsChanged();
        QVERIFY(!m_window->actions()->nextRace->isEnabled());
        QVERIFY(m_window->actions()->nextRace->toolTip().contains(QStringLiteral("nothing raced")));
    }

    void withoutRacesItSaysWhatIsChanceAllTheSame() {
        open();
        auto* dock = m_window->findChild<RacesDock*>();
        auto timeline = std::make_unique<Timeline>(1);
        const auto add = [&timeline](trace::EventDetails begin) {
            trace::EventDetails end;
            end.kind = trace::EventKind::End;
            end.function = begin.function;
            timeline->addEvent(RankId{0}, timeline->addDetails(RankId{0}, begin), 10);
            timeline->addEvent(RankId{0}, timeline->addDetails(RankId{0}, end), 20);
        };
        trace::EventDetails init;
        add(init);
        scriptOf(*m_session).analysis = RaceAnalysis();
        scriptOf(*m_session).timeline = std::move(timeline);
        emit m_session->racesChanged();
        QCOMPARE(dock->view()->note(), QStringLiteral("Nothing raced."));
        trace::EventDetails test;
        test.function = trace::FunctionId::Test;
        test.requests = {{trace::RequestRef::kUnknown}};
        timeline = std::move(scriptOf(*m_session).timeline);
        add(test);
        scriptOf(*m_session).timeline = std::move(timeline);
        emit m_session->racesChanged();
        QCOMPARE(dock->view()->note(),
                 QStringLiteral("Nothing raced.\n\nAlso without a race, 1 call of MPI_Test may come out otherwise in another run, "
                                "by what is complete or has come by then; a replay repeats what they came to."));
    }

    void theCallSaysWhatCouldHaveCome() {
        recordRace(*m_session);
        const QString html = callDetailsHtml(*m_session, call(0, 1), QApplication::palette());
        QVERIFY(html.contains(QStringLiteral("another message could have come instead")));
        QVERIFY(html.contains(QStringLiteral("<a href='call:2:1'>rank 2 event 3 MPI_Send at ring.c:31</a>")));
        QVERIFY(!callDetailsHtml(*m_session, call(0, 2), QApplication::palette()).contains(QStringLiteral("could have come")));
    }

    void whatWasOpenStaysOpenWhenMoreIsFound() {
        open();
        recordRace(*m_session);
        auto* dock = m_window->findChild<RacesDock*>();
        const RacesModel& model = *dock->model();
        QModelIndex race = model.index(0, 0, model.index(0, 0));
        dock->view()->expand(race);
        dock->view()->setCurrentIndex(race);
        recordRace(*m_session); // the model is made anew
        race = model.index(0, 0, model.index(0, 0));
        QVERIFY(dock->view()->isExpanded(race));
        QCOMPARE(dock->view()->currentIndex(), race);
    }

    void executionsAreListedComparedAndShown() {
        open();
        auto* dock = m_window->findChild<ExecutionsDock*>();
        QCOMPARE(dock->windowTitle(), QStringLiteral("Executions"));
        QCOMPARE(dock->numbers(), QVector<int>{1});
        QVERIFY(!dock->showAction()->isEnabled());
        Scripted& s = scriptOf(*m_session);
        recordRace(*m_session);
        s.executions = {{1, 0, {}, 14, false}, {2, 1, QStringLiteral("rank 0's MPI_Recv at event 3 takes rank 2's message"), 12, true,
                         QStringLiteral("rank 0 exited with code 1")}};
        s.differences[1] = {{RankId{0}, EventIndex{3}, QStringLiteral("MPI_Recv got source 1"), QStringLiteral("MPI_Recv got source 2")},
                            {RankId{1}, EventIndex{4}, {}, {}}};
        emit m_session->executionsChanged();
        QCOMPARE(dock->windowTitle(), QStringLiteral("Executions (2)"));
        QCOMPARE(dock->numbers(), (QVector<int>{1, 2}));
        auto* list = dock->findChild<QTreeWidget*>(QStringLiteral("list"));
        QCOMPARE(list->topLevelItem(0)->text(3), QString());
        QCOMPARE(list->topLevelItem(1)->text(3), QStringLiteral("rank 0 exited with code 1"));
        QTRY_VERIFY(dock->isVisible() && !dock->visibleRegion().isEmpty()); // brought to the front
        QTRY_COMPARE(dock->differences().size(), 2); // the one before is compared by itself
        QVERIFY(dock->showAction()->isEnabled());
        auto* ranks = dock->findChild<QTreeWidget*>(QStringLiteral("differences"));
        QCOMPARE(ranks->topLevelItemCount(), 2);
        QCOMPARE(ranks->topLevelItem(0)->text(1), QStringLiteral("event 3"));
        QCOMPARE(ranks->topLevelItem(0)->text(2), QStringLiteral("MPI_Recv got source 1"));
        QCOMPARE(ranks->topLevelItem(1)->text(3), QStringLiteral("ends"));
        QVERIFY(ranks->topLevelItem(1)->toolTip(1).contains(QStringLiteral("the same through event 4, where both end")));
        dock->choose(2);
        QTRY_VERIFY(!dock->showAction()->isEnabled());
        dock->choose(1);
        QTRY_VERIFY(dock->showAction()->isEnabled());
        dock->showAction()->trigger();
        QCOMPARE(calls().last(), QStringLiteral("execution 1"));
    }

    /// What came of an execution can be read without a tooltip, however narrow its column is.
    void longOutcomesTakeMoreLines() {
        open();
        auto* dock = m_window->findChild<ExecutionsDock*>();
        const QString outcome = QStringLiteral("ranks 0-2 wait in MPI; rank 0 event 3 is held for the message from rank 2, event 7; then ended");
        scriptOf(*m_session).executions = {
            {1, 0, {}, 14, false, QStringLiteral("ended well")},
            {2, 1, QStringLiteral("rank 0's MPI_Recv at event 3 takes rank 2's message"), 12, true, outcome}};
        emit m_session->executionsChanged();
        auto* list = dock->findChild<QTreeWidget*>(QStringLiteral("list"));
        QTRY_VERIFY(dock->isVisible() && !dock->visibleRegion().isEmpty());
        const auto fits = [list](int row, int column) {
            const QRect cell = list->visualItemRect(list->topLevelItem(row));
            const QFontMetrics metrics(list->topLevelItem(row)->font(column));
            const int width = list->columnWidth(column) - 2 * (list->style()->pixelMetric(QStyle::PM_FocusFrameHMargin) + 1);
            const QRect text = metrics.boundingRect(QRect(0, 0, width, 10000), int(Qt::TextWordWrap), list->topLevelItem(row)->text(column));
            return text.height() <= cell.height() && text.width() <= width;
        };
        for (const int width : {1400, 900, 1600}) {
            m_window->resize(width, 900);
            QTRY_VERIFY(fits(1, 3));
            QTRY_VERIFY(fits(1, 1));
            QTRY_VERIFY(fits(0, 3));
        }
        const QFontMetrics metrics(list->font());
        QTRY_VERIFY(list->visualItemRect(list->topLevelItem(0)).height() < 2 * metrics.height()); // one line is enough there
        QVERIFY(list->visualItemRect(list->topLevelItem(1)).height() >= 2 * metrics.height());
    }

    /// What is said of an execution goes with it.
    void aWarningOfAnotherExecutionGoes() {
        open();
        auto* bar = m_window->findChild<MessageBar*>();
        emit m_session->message(Severity::Warning, QStringLiteral("Rank 2 sent that message only after."), QStringLiteral("MPI does not promise."));
        QVERIFY(bar->text().contains(QStringLiteral("Rank 2 sent that message only after.")));
        emit m_session->messageGone(QStringLiteral("Something else."));
        QVERIFY(bar->text().contains(QStringLiteral("Rank 2 sent that message only after.")));
        emit m_session->messageGone(QStringLiteral("Rank 2 sent that message only after."));
        QVERIFY(!bar->isVisible());
    }
};

QTEST_MAIN(RacesTest)
#include "races_test.moc"
