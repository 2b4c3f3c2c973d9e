// The script runner on a scripted session: verbs, what they print, exit codes.
#include "batch_fixture.h"

class BatchTest : public BatchFixture {
    Q_OBJECT

  private slots:
    void whereAndPrint() {
        QCOMPARE(perform(QStringLiteral("where all\nprint n rank 1\nprint p rank 0\nfocus 1\nprint n")),
                 kScriptOk);
        QCOMPARE(m_out,
                 QStringList({QStringLiteral("[0] solver.c:118 work"),
                              QStringLiteral("[1] solver.c:120 work"), QStringLiteral("[1] n = 16"),
                              QStringLiteral("[0] p = (double *) 0x…"), QStringLiteral("[1] n = 16")}));
    }

    /// A rank that runs is asked where it is: what was seen of it last may be long ago.
    void ranksThatRunAreAsked() {
        recordMessages(*m_session, 3);
        Scripted& s = scriptOf(*m_session);
        s.ranks.resize(3);
        s.ranks[0].phase = RankPhase::Running; // no event seen yet
        s.seen[0] = s.ranks[0];
        s.seen[0].place = {EventIndex{4}, false};
        s.ranks[2].phase = RankPhase::Running; // its agent does not answer
        QCOMPARE(perform(QStringLiteral("ranks")), kScriptOk);
        QVERIFY2(m_out.at(0).startsWith(QStringLiteral("[0] running  after 4 MPI_Send")),
                 qPrintable(m_out.at(0)));
        QCOMPARE(m_out.at(2), QStringLiteral("[2] running  inside 3 MPI_Recv"));
        QVERIFY(!s.calls.contains(QStringLiteral("lookAt 1"))); // stands, and has been looked at
        QCOMPARE(perform(QStringLiteral("where 0\nexpect place 0 after 4")), kScriptOk);
        QVERIFY(m_out.at(0).startsWith(QStringLiteral("[0] running  after 4 MPI_Send")));
    }

    void partsOfAValue() {
        Scripted& s = scriptOf(*m_session);
        s.trees[QStringLiteral("a")] = {QStringLiteral("1/var1"), QStringLiteral("a"),
                                        QStringLiteral("int [2]"), QStringLiteral("[2]"), 2};
        s.parts[QStringLiteral("1/var1")] = {
            {QStringLiteral("1/var1.0"), QStringLiteral("0"), QStringLiteral("int"), QStringLiteral("7"), 0},
            {QStringLiteral("1/var1.1"), QStringLiteral("1"), QStringLiteral("int"), QStringLiteral("8"), 0}};
        QCOMPARE(perform(QStringLiteral("parts a rank 1")), kScriptOk);
        QCOMPARE(m_out,
                 QStringList({QStringLiteral("[1] [0] = 7  int"), QStringLiteral("[1] [1] = 8  int")}));
        QVERIFY(s.calls.contains(QStringLiteral("closeValue 1/var1"))); // nothing stays in gdb
        QCOMPARE(perform(QStringLiteral("parts nothing rank 1")), kScriptFailed);
    }

    void theFocusCanBeAFew() {
        standAt(*m_session, QStringLiteral("/src/solver.c"), {118, 120, 130, 140});
        QCOMPARE(perform(QStringLiteral("focus 0,2-3\nwhere")), kScriptOk);
        QCOMPARE(m_session->focus(), Focus::of({RankId{0}, RankId{2}, RankId{3}}));
        QCOMPARE(m_out.size(), 3);
        QVERIFY(m_out.at(1).startsWith(QStringLiteral("[2] ")));
        QCOMPARE(perform(QStringLiteral("focus 2-3")), kScriptOk);
        QCOMPARE(m_session->shownRank(), RankId{2}); // one of them
        QCOMPARE(perform(QStringLiteral("focus 0-3")), kScriptOk);
        QVERIFY(m_session->focus().all());
        QCOMPARE(perform(QStringLiteral("focus 7")), kScriptFailed);
    }

    void aBreakpointIsSetBeforeTheScriptGoesOn() {
        Scripted& s = scriptOf(*m_session);
        s.settled = false;
        QTimer::singleShot(300, this, [&s] { s.settled = true; });
        QCOMPARE(perform(QStringLiteral("break solver.c:12")), kScriptOk);
        QVERIFY(s.settled);
        QCOMPARE(m_out, QStringList{QStringLiteral("breakpoint 1")});
        s.settled = false;
        QCOMPARE(perform(QStringLiteral("break solver.c:13 within 0.2")), kScriptTimedOut);
    }

    void aRefusedBreakpointFailsAndIsNotKept() {
        Scripted& s = scriptOf(*m_session);
        s.refuses = QStringLiteral("A syntax error in expression, near `'.");
        QCOMPARE(perform(QStringLiteral("break solver.c:12 if 1==")), kScriptFailed);
        QVERIFY(m_err.join(u' ').contains(s.refuses));
        QVERIFY(s.breakpoints.isEmpty());
    }

    /// The job is then held at its start, which is not the stop that the script is about.
    void runFailsWhenABreakpointIsRefused() {
        Scripted& s = scriptOf(*m_session);
        QTimer::singleShot(300, this, [this, &s] {
            s.breakpoints[0].refused = QStringLiteral("No symbol \"nosuch\" in current context.");
            setPhase(0, RankPhase::Stopped, StopWhy::Start);
        });
        QCOMPARE(perform(QStringLiteral("break solver.c:12 if nosuch\n-run\nwait stopped")), kScriptOk);
        QVERIFY(m_err.join(u' ').contains(
            QStringLiteral("held at its start, as breakpoint 1 could not be set: No symbol")));
    }

    void unknownVariableFails() {
        QCOMPARE(perform(QStringLiteral("print nothing rank 0\necho never")), kScriptFailed);
        QVERIFY(m_out.isEmpty());
        QVERIFY(m_err.join(u' ').contains(QStringLiteral("No symbol")));
    }

    void minusGoesOn() {
        QCOMPARE(perform(QStringLiteral("-print nothing rank 0\necho on")), kScriptOk);
        QCOMPARE(m_out, QStringList{QStringLiteral("on")});
    }

    void expectations() {
        QCOMPARE(perform(QStringLiteral("expect where 0 solver.c:118\nexpect not where 0 solver.c:120\n"
                                        "expect print n rank all = 16\nexpect not print n rank 0 = 17\n"
                                        "expect state all paused\nexpect where contains solver.c:120\n"
                                        "expect place 0 not started")),
                 kScriptOk);
        QCOMPARE(perform(QStringLiteral("expect where 0 solver.c:119")), kScriptFailed);
        QVERIFY(m_err.join(u' ').contains(QStringLiteral("is solver.c:118")));
        QCOMPARE(perform(QStringLiteral("expect print n rank 0 = 17")), kScriptFailed);
        QCOMPARE(perform(QStringLiteral("expect not where 9 solver.c:119")),
                 kScriptFailed); // a mistake, not a difference
    }

    /// A rank with a process that has recorded nothing is before MPI_Init; scripts may still call it not
    /// started.
    void notStartedIsWithoutAProcess() {
        Scripted& s = scriptOf(*m_session);
        QCOMPARE(perform(QStringLiteral("ranks\nexpect place 0 before MPI_Init\nexpect place 0 not started")),
                 kScriptOk);
        QVERIFY2(m_out.at(0).startsWith(QStringLiteral("[0] paused  before MPI_Init")),
                 qPrintable(m_out.at(0)));
        QCOMPARE(perform(QStringLiteral("expect place 0 after 4")), kScriptFailed);
        QVERIFY(m_err.join(u' ').contains(QStringLiteral("is before MPI_Init on rank 0")));
        s.ranks[0].phase = RankPhase::NotStarted;
        m_out.clear();
        QCOMPARE(perform(QStringLiteral("ranks\nexpect place 0 not started\n"
                                        "expect not place 0 before MPI_Init")),
                 kScriptOk);
        QCOMPARE(m_out.at(0), QStringLiteral("[0] not started"));
    }

    void historySaysWhetherThereWasAJob() {
        const Cut zero{Place{}, Place{}};
        const Cut later{Place{EventIndex{4}, false}, Place{EventIndex{4}, false}};
        const auto entry = [](Verb verb, const Cut& before, const Cut& after) {
            HistoryEntry made;
            made.verb = verb;
            made.before = before;
            made.after = after;
            return made;
        };
        const auto befores = [this] {
            m_out.clear();
            perform(QStringLiteral("history"));
            return m_out.filter(QStringLiteral("before  ["));
        };
        const QString none = QStringLiteral("  before  [0] not started  [1] not started");
        const QString standing = QStringLiteral("  before  [0] before MPI_Init  [1] before MPI_Init");
        Scripted& s = scriptOf(*m_session);
        s.history = {entry(Verb::Run, zero, zero), entry(Verb::Continue, zero, later)};
        QCOMPARE(befores(), (QStringList{none, standing}));
        s.history = {entry(Verb::Run, zero, zero),
                     entry(Verb::Go, zero, later)}; // from where Run had stopped
        QCOMPARE(befores(), (QStringList{none, standing}));
        s.history = {entry(Verb::Run, zero, later), entry(Verb::Go, zero, later)}; // the job had ended
        QCOMPARE(befores(), (QStringList{none, none}));
    }

    void unusableVerbSaysWhy() {
        scriptOf(*m_session).whyNot[Verb::Go] = QStringLiteral("There is no stopline.");
        QCOMPARE(perform(QStringLiteral("go")), kScriptFailed);
        QVERIFY(m_err.join(u' ').contains(QStringLiteral("There is no stopline.")));
        QVERIFY(!scriptOf(*m_session).calls.contains(QStringLiteral("go")));
    }

    void operations() {
        scriptOf(*m_session).operationText = QStringLiteral("all 2 ranks at the stopline");
        QCOMPARE(perform(QStringLiteral("go")), kScriptOk);
        QCOMPARE(m_out, QStringList{QStringLiteral("all 2 ranks at the stopline")});
        scriptOf(*m_session).operationOk = false;
        scriptOf(*m_session).job = true;
        QCOMPARE(perform(QStringLiteral("undo")), kScriptFailed);
        scriptOf(*m_session).finishesOperations = false;
        scriptOf(*m_session).job = true;
        scriptOf(*m_session).operation = QStringLiteral("Going back");
        QCOMPARE(perform(QStringLiteral("go within 0.2")), kScriptTimedOut);
        QVERIFY(m_err.join(u' ').contains(QStringLiteral("Going back")));
    }

    void departureNamesWhatIsKnown() {
        Departure departure{RankId{1},
                            EventIndex(56),
                            QStringLiteral("MPI_Waitany [0]"),
                            QStringLiteral("MPI_Waitany [1]"),
                            {},
                            {}};
        m_err.clear();
        BatchOptions options;
        options.err = [this](const QString& line) { m_err << line; };
        const BatchRunner runner(m_session.get(), options);
        emit m_session->departed(departure);
        departure.where = {QStringLiteral("/src/solver.c"), 118, QStringLiteral("work"), {}};
        emit m_session->departed(departure);
        departure.memory = QStringLiteral("the heap is not where it was");
        emit m_session->departed(departure);
        QCOMPARE(m_err,
                 QStringList(
                     {QStringLiteral(
                          "departure: rank 1 event 56: recorded MPI_Waitany [0], executed MPI_Waitany [1]"),
                      QStringLiteral(
                          "departure: rank 1 event 56: recorded MPI_Waitany [0], executed MPI_Waitany [1] at "
                          "solver.c:118"),
                      QStringLiteral(
                          "departure: rank 1 event 56: recorded MPI_Waitany [0], executed MPI_Waitany [1] at "
                          "solver.c:118; the heap is not where it was")}));
    }

    void quitGivesTheCode() {
        QCOMPARE(perform(QStringLiteral("quit 7\necho never")), 7);
        QVERIFY(m_out.isEmpty());
    }

    void alwaysKillsTheJob() {
        QCOMPARE(perform(QStringLiteral("print nothing rank 0")), kScriptFailed);
        QCOMPARE(scriptOf(*m_session).calls, QStringList{QStringLiteral("kill")});
        QVERIFY(!m_session->jobExists());
    }

    void wrongScriptIsNotBegun() {
        QCOMPARE(perform(QStringLiteral("continue\nfly")), kScriptWrong);
        QVERIFY(scriptOf(*m_session).calls.isEmpty());
        QVERIFY(m_err.join(u' ').startsWith(QStringLiteral("line 2")));
    }

    void breakpoints() {
        QCOMPARE(
            perform(QStringLiteral("break solver.c:118 rank 1 if n > 3\nbreak work\ndisable 2\nbreakpoints\n"
                                   "delete 1\nbreakpoints\n-delete 1")),
            kScriptOk);
        QCOMPARE(m_out, QStringList({QStringLiteral("breakpoint 1"), QStringLiteral("breakpoint 2"),
                                     QStringLiteral("1 solver.c:118 if n > 3 rank 1 pending"),
                                     QStringLiteral("2 work disabled pending"),
                                     QStringLiteral("2 work disabled pending")}));
        QVERIFY(m_err.join(u' ').contains(QStringLiteral("there is no breakpoint 1")));
    }

    void pointAndFrontiers() {
        recordMessages(*m_session, 3);
        QCOMPARE(
            perform(QStringLiteral("-point 0 99 before\n-point 2 3 after\npoint 0 3 after\nfrontier past\n"
                                   "stopline future\nevents 0 3 4")),
            kScriptOk);
        const QString said = m_err.join(u'\n');
        QVERIFY(said.contains(QStringLiteral("rank 0 has no event 99")));
        QVERIFY(said.contains(QStringLiteral("not ended")));
        QVERIFY(m_out.contains(QStringLiteral("past frontier")));
        QVERIFY(m_out.contains(QStringLiteral("stopline")));
        QVERIFY(m_out.last().startsWith(QStringLiteral("[0] 4 end   MPI_Send")));
        QVERIFY(scriptOf(*m_session).calls.contains(QStringLiteral("stopline future")));
    }

    void messages() {
        recordMessages(*m_session, 3);
        QCOMPARE(perform(QStringLiteral("messages")), kScriptOk);
        QVERIFY(!m_out.isEmpty());
        QVERIFY2(m_out.first().startsWith(QStringLiteral("0 -> 2  tag 5")), qPrintable(m_out.first()));
    }

    void outputIsTagged() {
        scriptOf(*m_session).output[0] = "a\nb\n";
        scriptOf(*m_session).output[-1] = "mpirun says\n";
        QCOMPARE(perform(QStringLiteral("output all\noutput launcher\ninput 42")), kScriptOk);
        QCOMPARE(m_out, QStringList({QStringLiteral("[0] a"), QStringLiteral("[0] b"),
                                     QStringLiteral("[launcher] mpirun says")}));
        QCOMPARE(scriptOf(*m_session).input, QByteArray("42\n"));
    }
};

QTEST_GUILESS_MAIN(BatchTest)
#include "batch_test.moc"
