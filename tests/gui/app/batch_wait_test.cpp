// Waits of the script runner: none takes a stop for the next one, each is bounded.
#include "batch_fixture.h"

class BatchWaitTest : public BatchFixture {
    Q_OBJECT

  private slots:
    void endingOnTheWayIsNotArriving() {
        QTimer::singleShot(200, m_session.get(), [this] {
            setPhase(0, RankPhase::Running);
            setPhase(1, RankPhase::Running);
            setPhase(0, RankPhase::Stopped, StopWhy::Step);
            setPhase(1, RankPhase::Exited);
        });
        QCOMPARE(perform(QStringLiteral("runto solver.c:130")), kScriptFailed);
        QVERIFY(m_err.join(u' ').contains(QStringLiteral("rank 1 ended before coming to solver.c:130")));
    }

    void notHavingGoneIsNotArriving() {
        QTimer::singleShot(200, m_session.get(), [this] {
            emit m_session->message(Severity::Warning, QStringLiteral("there is no code"), {});
            emit m_session->stopped();
        });
        QCOMPARE(perform(QStringLiteral("runto solver.c:999")), kScriptFailed);
        QVERIFY(m_err.join(u' ').contains(QStringLiteral("runto solver.c:999: there is no code")));
    }

    void cancelWaitsForTheEnd() {
        Scripted& s = scriptOf(*m_session);
        QCOMPARE(perform(QStringLiteral("cancel")), kScriptFailed); // nothing is under way
        s.job = true;
        s.finishesOperations = false;
        setPhase(0, RankPhase::Starting);
        // What is asked for shows as under way a little later, and ends some time after it was cancelled.
        QTimer tick;
        int asked = 0;
        int cancelled = 0;
        connect(&tick, &QTimer::timeout, this, [this, &s, &asked, &cancelled] {
            asked += s.calls.contains(QStringLiteral("go")) ? 1 : 0;
            cancelled += s.calls.contains(QStringLiteral("cancel")) ? 1 : 0;
            if (asked == 15) {
                s.operation = QStringLiteral("Going back");
            }
            if (cancelled == 10) {
                s.operation.clear();
                emit m_session->operationFinished(false, QStringLiteral("cancelled"));
            }
            if (cancelled == 20) {
                setPhase(0, RankPhase::Stopped, StopWhy::Paused);
            }
        });
        tick.start(20);
        QCOMPARE(perform(QStringLiteral("-go within 0.1\ncancel")), kScriptOk);
        QVERIFY(s.calls.contains(QStringLiteral("cancel")));
        QVERIFY(m_out.at(0).startsWith(QStringLiteral("[0] paused")));
    }

    void expectWithinTriesAgain() {
        QTimer::singleShot(200, m_session.get(), [this] {
            scriptOf(*m_session).ranks[0].location.line = 119;
            emit m_session->rankChanged(RankId{0});
        });
        QCOMPARE(perform(QStringLiteral("expect where 0 solver.c:119 within 20")), kScriptOk);
    }

    /// Between `replay` and the launch the ranks on show are those of the job before, which stand.
    void waitAfterReplayIsForTheNewJob() {
        Scripted& s = scriptOf(*m_session);
        s.job = true;
        s.launchesLater = true;
        bool ran = false;
        QTimer::singleShot(150, m_session.get(), [this] {
            emit m_session->rankChanged(RankId{0}); // looked at once more
            emit m_session->stopped();
        });
        QTimer::singleShot(400, m_session.get(), [this, &s] {
            ++s.launches;
            setPhase(0, RankPhase::Starting);
            setPhase(1, RankPhase::Starting);
        });
        QTimer::singleShot(600, m_session.get(), [this, &ran] {
            ran = true;
            setPhase(0, RankPhase::Stopped, StopWhy::Breakpoint);
            setPhase(1, RankPhase::Stopped, StopWhy::Paused);
        });
        QCOMPARE(perform(QStringLiteral("replay\nwait stopped all\nexpect state 0 breakpoint")), kScriptOk);
        QVERIFY(ran);
    }

    /// One that is given up before it begins leaves nothing to wait for.
    void waitAfterReplayThatIsGivenUp() {
        Scripted& s = scriptOf(*m_session);
        s.job = true;
        s.launchesLater = true;
        QTimer::singleShot(150, m_session.get(), [this] { emit m_session->operationFinished(false, QStringLiteral("cancelled")); });
        QCOMPARE(perform(QStringLiteral("replay\nwait stopped all")), kScriptOk);
    }

    /// Right after `continue` the ranks still look stopped: the wait is for the next stop.
    void waitStoppedIsForTheNextStop() {
        bool ran = false;
        QTimer::singleShot(150, m_session.get(), [this] {
            setPhase(0, RankPhase::Running);
            setPhase(1, RankPhase::Running);
        });
        QTimer::singleShot(400, m_session.get(), [this, &ran] {
            ran = true;
            setPhase(0, RankPhase::Stopped, StopWhy::Breakpoint);
            setPhase(1, RankPhase::Stopped, StopWhy::Paused);
        });
        QCOMPARE(perform(QStringLiteral("continue\nwait stopped\nexpect state 0 breakpoint")), kScriptOk);
        QVERIFY(ran);
    }

    void waitRunsOut() {
        setPhase(1, RankPhase::Running);
        QCOMPARE(perform(QStringLiteral("wait stopped within 0.2")), kScriptTimedOut);
        const QString said = m_err.join(u'\n');
        QVERIFY(said.contains(QStringLiteral("[0] paused")));
        QVERIFY(said.contains(QStringLiteral("[1] running")));
    }

    void deadGdbRunsOut() {
        scriptOf(*m_session).answers = false;
        QCOMPARE(perform(QStringLiteral("print n rank 0"), std::chrono::milliseconds(200)), kScriptTimedOut);
    }

    void waitExitedIsNotForAJobThatNeverWas() {
        setPhase(0, RankPhase::Exited);
        setPhase(1, RankPhase::Exited);
        QCOMPARE(perform(QStringLiteral("wait exited")), kScriptOk);
        standAt(*m_session, QStringLiteral("/src/solver.c"), {});
        scriptOf(*m_session).job = false;
        QCOMPARE(perform(QStringLiteral("wait exited")), kScriptFailed);
    }

    /// A launch that comes to nothing is a failure, whatever the script does about it.
    void whatNeverStartedIsAFailure_data() {
        QTest::addColumn<QString>("script");
        QTest::addColumn<int>("code");
        QTest::newRow("wait") << "run\nwait\nquit" << kScriptFailed;
        QTest::newRow("wait stopped") << "run\nwait stopped\nquit" << kScriptFailed;
        QTest::newRow("wait exited") << "run\nwait exited\nquit" << kScriptFailed;
        QTest::newRow("a wait that may fail") << "run\n-wait\nquit" << kScriptFailed;
        QTest::newRow("no quit") << "run\n-wait" << kScriptFailed;
        QTest::newRow("restart") << "restart\n-wait" << kScriptFailed;
        QTest::newRow("allowed") << "-run\n-wait\nquit" << kScriptOk;
        QTest::newRow("its own code") << "run\n-wait\nquit 0" << kScriptOk;
        QTest::newRow("another code") << "run\n-wait\nquit 7" << 7;
    }

    void whatNeverStartedIsAFailure() {
        QFETCH(QString, script);
        QFETCH(int, code);
        for (const bool ranksSeen : {false, true}) {
            standAt(*m_session, QStringLiteral("/src/solver.c"), {});
            scriptOf(*m_session).job = false;
            QTimer::singleShot(100, m_session.get(), [this, ranksSeen] {
                if (ranksSeen) { // their agents come, find no program and go
                    scriptOf(*m_session).ranks.resize(2);
                    setPhase(0, RankPhase::Starting);
                    setPhase(0, RankPhase::Lost);
                    setPhase(1, RankPhase::Lost);
                }
                emit m_session->jobEnded(QStringLiteral("could not be started"));
            });
            QCOMPARE(perform(script), code);
            if (code == kScriptFailed) {
                QVERIFY2(m_err.last().contains(QStringLiteral("no rank has been started")) ||
                             m_err.last().contains(QStringLiteral("the job has ended")),
                         qPrintable(m_err.join(u'\n')));
            }
        }
    }

    void whatHasRunMayEnd() {
        for (const RankPhase phase : {RankPhase::Running, RankPhase::Exited}) {
            standAt(*m_session, QStringLiteral("/src/solver.c"), {});
            scriptOf(*m_session).job = false;
            QTimer::singleShot(100, m_session.get(), [this, phase] {
                scriptOf(*m_session).ranks.resize(1);
                setPhase(0, RankPhase::Starting);
                setPhase(0, phase);
                setPhase(0, RankPhase::Exited);
                emit m_session->jobEnded(QStringLiteral("the launcher exited with code 0"));
            });
            QCOMPARE(perform(QStringLiteral("run\nwait\nquit")), kScriptOk);
        }
    }

    /// No event is to come of a rank that has ended: the rest of the wait would be for nothing.
    void waitEventsEndsWithTheRank() {
        scriptOf(*m_session).ranks[1].place.event = EventIndex(16);
        setPhase(1, RankPhase::Exited);
        QCOMPARE(perform(QStringLiteral("wait events 1 16")), kScriptOk);
        QCOMPARE(perform(QStringLiteral("wait events 1 17")), kScriptFailed);
        QVERIFY(m_err.join(u' ').contains(QStringLiteral("rank 1 ended at event 16")));
    }
};

QTEST_GUILESS_MAIN(BatchWaitTest)
#include "batch_wait_test.moc"
