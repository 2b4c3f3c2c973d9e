// The strip of ranks: what it shows, whom the focus is on, which rank is shown.
#include "../../../app/focus_selector.h"
#include "../../../app/live_ranks.h"
#include "../../../app/status_line.h"
#include "../../../app/text.h"
#include "window_fixture.h"

#include <QHelpEvent>
#include <QLocale>
#include <QMap>
#include <QToolButton>
#include <QToolTip>

#include <algorithm>

class RanksTest : public WindowFixture {
    Q_OBJECT

    [[nodiscard]] QString toolTipOf(int rank) const {
        RankStrip* strip = m_window->rankStrip();
        const QPoint at = strip->tileRect(rank).center();
        QHelpEvent help(QEvent::ToolTip, at, strip->mapToGlobal(at));
        QCoreApplication::sendEvent(strip, &help);
        return QToolTip::text().section(u'\n', 0, 0);
    }

  private slots:
    /// "Not started" is only who has no process.
    void aRankBeforeInitHasStarted() {
        open();
        stop({1, 2, 3, 4});
        scriptOf(*m_session).ranks[1].place.event = EventIndex{4};
        scriptOf(*m_session).ranks[2].phase = RankPhase::Running;
        scriptOf(*m_session).ranks[3].phase = RankPhase::NotStarted;
        emit m_session->ranksChanged();
        QCoreApplication::processEvents();
        QCOMPARE(m_window->rankStrip()->content().place, QStringLiteral("before MPI_Init"));
        QCOMPARE(toolTipOf(0), QStringLiteral("Rank 0: paused, before MPI_Init"));
        QCOMPARE(toolTipOf(1), QStringLiteral("Rank 1: paused, event 4"));
        QCOMPARE(toolTipOf(2), QStringLiteral("Rank 2: running, before MPI_Init"));
        QCOMPARE(toolTipOf(3), QStringLiteral("Rank 3: not started"));
        m_session->setShownRank(RankId{3});
        QTRY_COMPARE(m_window->rankStrip()->content().place, QStringLiteral("not started"));
    }

    void sixtyFourRanks() {
        open();
        stop(std::vector<int>(64, 50));
        RankStrip* strip = m_window->rankStrip();
        QCOMPARE(strip->content().ranks.size(), 64);
        QRegion covered;
        for (int rank = 0; rank < 64; ++rank) {
            const QRect tile = strip->tileRect(rank);
            QVERIFY(strip->rect().contains(tile));
            QVERIFY(!covered.intersects(tile));
            covered += tile;
        }
        QVERIFY(strip->summary().startsWith(QStringLiteral("64 ")));
        QSignalSpy chosen(strip, &RankStrip::rankChosen);
        QTest::mouseClick(strip, Qt::LeftButton, {}, strip->tileRect(63).center());
        QCOMPARE(chosen.count(), 1);
        QCOMPARE(m_session->shownRank(), RankId{63});
        QVERIFY(!m_session->focus().rank); // looking does not change whom Continue acts on
    }

    void doubleClickGivesTheFocus() {
        open();
        stop({1, 2, 3, 4});
        RankStrip* strip = m_window->rankStrip();
        QTest::mouseDClick(strip, Qt::LeftButton, {}, strip->tileRect(2).center());
        QCOMPARE(*m_session->focus().rank, RankId{2});
        QVERIFY(m_window->actions()->runOrContinue->text().contains(QStringLiteral("rank 2")));
        QVERIFY(m_window->actions()->scopeRank->isChecked());
    }

    void tilesFitForAnyCount_data() {
        QTest::addColumn<int>("count");
        QTest::addColumn<int>("width");
        for (const int count : {1, 4, 16, 17, 32, 33, 64, 256, 1024}) {
            for (const int width : {800, 1366, 2560}) {
                QTest::addRow("%d in %d", count, width) << count << width;
            }
        }
    }

    void tilesFitForAnyCount() {
        QFETCH(int, count);
        QFETCH(int, width);
        RankStrip strip;
        strip.resize(width, strip.sizeHint().height());
        RankStrip::Content content;
        content.ranks.resize(count);
        strip.setContent(content);
        strip.grab();
        QVERIFY(strip.rect().contains(strip.tileRect(0)));
        QVERIFY(strip.rect().contains(strip.tileRect(count - 1)));
        QVERIFY(strip.tileRect(count).isNull());
        if (count > 1) {
            QVERIFY(!strip.tileRect(0).intersects(strip.tileRect(1)));
        }
        QMap<int, int> rows; // tiles by their top
        for (int rank = 0; rank < count; ++rank) {
            ++rows[strip.tileRect(rank).top()];
        }
        // No row with a few that were left over: the last one lacks less than one tile for each row.
        QVERIFY(rows.first() - rows.last() < rows.size());
    }

    void rankKeys() {
        open();
        stop({1, 2, 3});
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        QTest::keyClick(m_window.get(), Qt::Key_PageDown, Qt::ControlModifier);
        QCOMPARE(m_session->shownRank(), RankId{1});
        QTest::keyClick(m_window.get(), Qt::Key_PageUp, Qt::ControlModifier);
        QTest::keyClick(m_window.get(), Qt::Key_PageUp, Qt::ControlModifier);
        QCOMPARE(m_session->shownRank(), RankId{2});
        QTest::keyClick(m_window.get(), Qt::Key_3, Qt::ControlModifier);
        QCOMPARE(*m_session->focus().rank, RankId{2});
        QTest::keyClick(m_window.get(), Qt::Key_PageDown, Qt::ControlModifier); // the focus follows
        QCOMPARE(*m_session->focus().rank, RankId{0});
        QTest::keyClick(m_window.get(), Qt::Key_1, Qt::ControlModifier);
        QVERIFY(!m_session->focus().rank);
    }

    void windowFollowsTheRankThatWentWrong() {
        open();
        stop({10, 20, 30, 40});
        QCOMPARE(m_session->shownRank(), RankId{0});
        RankView& bad = scriptOf(*m_session).ranks[2];
        bad.why = StopWhy::Signal;
        bad.detail = QStringLiteral("SIGSEGV");
        emit m_session->rankChanged(RankId{2});
        emit m_session->stopped();
        QCOMPARE(m_session->shownRank(), RankId{2});
        // The user looks elsewhere: news of the same stop do not take the view back.
        m_window->look()->showRank(RankId{1});
        emit m_session->rankChanged(RankId{2});
        emit m_session->rankChanged(RankId{3});
        emit m_session->stopped();
        QCOMPARE(m_session->shownRank(), RankId{1});
    }

    void shownRankStaysWhenItStopsTheSameWay() {
        open();
        stop({10, 20});
        for (const int rank : {1, 0}) { // the other one is a little faster
            RankView& view = scriptOf(*m_session).ranks[static_cast<std::size_t>(rank)];
            view.why = StopWhy::Breakpoint;
            emit m_session->rankChanged(RankId{rank});
        }
        emit m_session->stopped();
        QCOMPARE(m_session->shownRank(), RankId{0});
    }

    void withOneRankInFocusTheOtherIsOffered() {
        open();
        stop({10, 20});
        m_session->setFocus({RankId{0}});
        scriptOf(*m_session).ranks[1].why = StopWhy::Breakpoint;
        emit m_session->rankChanged(RankId{1});
        QTRY_VERIFY(m_window->messageBar()->isVisible());
        QCOMPARE(m_session->shownRank(), RankId{0});
        QVERIFY(m_window->messageBar()->text().contains(QStringLiteral("Rank 1")));
    }

    void chosenRanksAreTheFocus() {
        open();
        stop({1, 2, 3, 4, 5});
        RankStrip* strip = m_window->rankStrip();
        const auto click = [strip](int rank, Qt::KeyboardModifier with) {
            QTest::mouseClick(strip, Qt::LeftButton, with, strip->tileRect(rank).center());
            QCoreApplication::processEvents();
        };
        click(3, Qt::ControlModifier);
        QCOMPARE(m_session->focus(), Focus::of({RankId{0}, RankId{3}})); // the shown one and that one
        QCOMPARE(m_session->shownRank(), RankId{0});
        QVERIFY(m_window->actions()->runOrContinue->text().contains(QStringLiteral("ranks 0,3")));
        QVERIFY(m_window->actions()->scopeGroup->isChecked());
        const auto buttons = m_window->findChild<FocusSelector*>()->findChildren<QToolButton*>();
        const auto named = [&buttons](const QString& text) {
            return std::any_of(buttons.begin(), buttons.end(), [&text](const QToolButton* b) {
                return b->isVisible() && b->isChecked() && b->text() == text;
            });
        };
        QVERIFY(named(QStringLiteral("2 ranks: 0,3")));
        scriptOf(*m_session).calls.clear();
        m_window->actions()->stepOver->trigger();
        QCOMPARE(calls(), QStringList{QStringLiteral("stepOver 0+3")});
        click(4, Qt::ControlModifier);
        QCOMPARE(m_session->focus(), Focus::of({RankId{0}, RankId{3}, RankId{4}}));
        click(3, Qt::ControlModifier); // again: out of it
        QCOMPARE(m_session->focus(), Focus::of({RankId{0}, RankId{4}}));
        click(2, Qt::ShiftModifier); // from the shown rank to here
        QCOMPARE(m_session->focus(), Focus::of({RankId{0}, RankId{1}, RankId{2}}));
        click(4, Qt::ShiftModifier); // all of them is all
        QVERIFY(m_session->focus().all());
        // Looking at a rank leaves a chosen few alone; Ctrl+1 and Ctrl+2 change between all and them.
        m_session->setFocus(Focus::of({RankId{1}, RankId{2}}));
        click(4, Qt::NoModifier);
        QCOMPARE(m_session->shownRank(), RankId{4});
        QCOMPARE(m_session->focus(), Focus::of({RankId{1}, RankId{2}}));
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        QTest::keyClick(m_window.get(), Qt::Key_1, Qt::ControlModifier);
        QVERIFY(m_session->focus().all());
        QTest::keyClick(m_window.get(), Qt::Key_2, Qt::ControlModifier);
        QCOMPARE(m_session->focus(), Focus::of({RankId{1}, RankId{2}}));
    }

    void withoutChosenRanksCtrl2SaysHow() {
        open();
        stop({1, 2});
        QVERIFY(!m_window->actions()->scopeGroup->isEnabled());
        QVERIFY(m_window->actions()->scopeGroup->toolTip().contains(QStringLiteral("Choose ranks first")));
    }

    void runningRanksAreShownLive() {
        open();
        stop({1, 2});
        Scripted& s = scriptOf(*m_session);
        for (RankView& view : s.ranks) {
            view.phase = RankPhase::Running;
            view.location = {};
            s.live[view.rank.value()] = view;
        }
        LiveRanks* live = m_window->findChild<LiveRanks*>();
        const auto shows = [this](int rank) {
            return m_window->rankStrip()->content().ranks.at(rank).place.event;
        };
        s.live[0].place = {EventIndex{12345}, false};
        live->tick(); // no signal of the session: nobody but the tick has told
        QCOMPARE(shows(0), EventIndex{12345});
        QCOMPARE(shows(1), EventIndex{0});
        QVERIFY(
            m_window->statusLine()->text().contains(QLocale().toString(12345) + QStringLiteral(" events")));
        QVERIFY(
            m_window->statusLine()->text().contains(QStringLiteral("@ event ") + QLocale().toString(12345)));
        s.live[0].place = {EventIndex{12346}, true};
        s.live[0].insideMpi = true;
        live->tick();
        QCOMPARE(shows(0), EventIndex{12346});
        QVERIFY(!calls().contains(QStringLiteral("lookAt 0"))); // it may be out of there in a moment
        live->tick();
        QCOMPARE(calls().count(QStringLiteral("lookAt 0")), 1); // it sits there
        live->tick();
        QCOMPARE(calls().count(QStringLiteral("lookAt 0")), 1);
        s.live[0].callName = QStringLiteral("MPI_Recv");
        live->tick();
        QCOMPARE(liveStateText(m_window->rankStrip()->content().ranks.at(0)), QStringLiteral("in MPI_Recv"));
        QVERIFY(m_window->rankStrip()->summary().contains(QStringLiteral("1 in MPI_Recv")));
        QVERIFY(m_window->rankStrip()->summary().contains(QStringLiteral("1 running, before MPI_Init")));
        // Far ahead of what has been read: its name is not worth the reading.
        s.live[1].place = {EventIndex{LiveRanks::kMostToRead + 2}, true};
        for (int i = 0; i < 3; ++i) {
            live->tick();
        }
        QVERIFY(!calls().contains(QStringLiteral("lookAt 1")));
    }

    void theShownRankStaysWhenRanksAreBroughtBack() {
        open();
        stop({10, 20, 30});
        Scripted& s = scriptOf(*m_session);
        s.ranks[1].why = StopWhy::Breakpoint; // where rank 1 stands at a breakpoint already
        emit m_session->rankChanged(RankId{1});
        emit m_session->stopped();
        m_window->look()->showRank(RankId{0});
        // Roll back: all go away and come back, rank 1 to where it stood.
        s.operation = QStringLiteral("Roll back: 0 of 3 ranks there");
        emit m_session->operationChanged();
        for (RankView& view : s.ranks) {
            view.phase = RankPhase::Running;
            view.why = StopWhy::None;
            emit m_session->rankChanged(view.rank);
        }
        for (RankView& view : s.ranks) {
            view.phase = RankPhase::Stopped;
            view.why = view.rank == RankId{1} ? StopWhy::Breakpoint : StopWhy::Stopline;
            emit m_session->rankChanged(view.rank);
        }
        QTest::qWait(300); // longer than the window takes to decide
        QCOMPARE(m_session->shownRank(), RankId{0});
        s.operation.clear();
        emit m_session->operationChanged();
        emit m_session->operationFinished(true, QStringLiteral("there"));
        emit m_session->stopped();
        QTest::qWait(300);
        QCOMPARE(m_session->shownRank(), RankId{0});
        // A breakpoint that is run into afterwards is news again.
        s.ranks[2].phase = RankPhase::Running;
        emit m_session->rankChanged(RankId{2});
        s.ranks[2].phase = RankPhase::Stopped;
        s.ranks[2].why = StopWhy::Breakpoint;
        emit m_session->rankChanged(RankId{2});
        QTRY_COMPARE(m_session->shownRank(), RankId{2});
    }

    void aSilentDebuggerIsNamedUntilItAnswers() {
        open();
        stop({10, 20, 30, 40});
        const QString well = m_window->statusLine()->text();
        QVERIFY2(well.contains(QStringLiteral("gdb 4/4 ok")), qPrintable(well));
        const QImage before = m_window->rankStrip()->grab().toImage();
        Scripted& s = scriptOf(*m_session);
        s.ranks[1].silent = true;
        emit m_session->rankChanged(RankId{1});
        emit m_session->message(Severity::Error, QStringLiteral("The gdb of rank 1 does not answer: …."), {});
        QTRY_VERIFY(m_window->rankStrip()->grab().toImage() != before);
        QVERIFY(m_window->statusLine()->text().contains(QStringLiteral("gdb 3/4, rank 1 silent")));
        QVERIFY(m_window->rankStrip()->summary().contains(QStringLiteral("1 paused, debugger silent")));
        QVERIFY(m_window->messageBar()->isVisible());
        s.ranks[3].silent = true;
        emit m_session->rankChanged(RankId{3});
        QVERIFY(m_window->statusLine()->text().contains(QStringLiteral("gdb 2/4, ranks 1,3 silent")));

        s.ranks[1].silent = false;
        s.ranks[3].silent = false;
        emit m_session->rankChanged(RankId{1});
        QTRY_VERIFY(!m_window->messageBar()->isVisible());
        QCOMPARE(m_window->statusLine()->text(), well);
        QCOMPARE(m_window->rankStrip()->grab().toImage(), before);
    }
};

QTEST_MAIN(RanksTest)
#include "ranks_test.moc"
