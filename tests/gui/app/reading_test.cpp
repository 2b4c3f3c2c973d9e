// Values that are on their way: what the Variables panel shows until they are there.
#include "../../../app/look.h"
#include "../../../app/variables_dock.h"
#include "../../../app/variables_model.h"
#include "../../../app/watch_memory.h"
#include "own_settings.h"
#include "scripted_session.h"

#include <QAbstractItemModelTester>
#include <QSettings>
#include <QTest>

using namespace stopline;
using namespace stopline::app;
using namespace stopline::replay;

class ReadingTest : public QObject {
    Q_OBJECT

    OwnSettings m_settings{QStringLiteral("reading")};
    std::unique_ptr<Session> m_session;
    std::unique_ptr<Look> m_look;
    std::unique_ptr<VariablesDock> m_dock;

    [[nodiscard]] Scripted& script() const { return scriptOf(*m_session); }

    /// "x=0.25 cnt=7 *=": all rows by name and value, the empty one at the end left out.
    [[nodiscard]] QString rows() const {
        QStringList all;
        const VariablesModel* model = m_dock->model();
        for (int row = 0; row < model->rowCount() - 1; ++row) {
            all << QStringLiteral("%1=%2").arg(model->index(row, VariablesModel::Name).data().toString(),
                                               model->index(row, VariablesModel::Value).data().toString());
        }
        return all.join(u' ');
    }

    void tellStop() {
        emit m_session->ranksChanged();
        emit m_session->stopped();
    }

  private slots:
    /// Two ranks that stand in a function with one caller; the panel watches an expression and shows rank 0.
    void init() {
        QSettings().clear();
        rememberWatches(QStringLiteral("/bin/solver"), {QStringLiteral("n")});
        m_session = std::make_unique<Session>();
        standAt(*m_session, QStringLiteral("/src/solver.c"), {10, 20});
        mi::Frame inner;
        inner.function = QStringLiteral("solve");
        inner.file = QStringLiteral("/src/solver.c");
        inner.line = 10;
        mi::Frame outer = inner;
        outer.level = 1;
        outer.function = QStringLiteral("main");
        script().frames = {inner, outer};
        script().variables = {
            {QStringLiteral("i"), QStringLiteral("int"), QStringLiteral("1"), false, false}};
        script().values[QStringLiteral("n")] = QStringLiteral("16");
        m_look = std::make_unique<Look>(m_session.get());
        m_dock = std::make_unique<VariablesDock>(m_look.get());
        m_dock->setProgram(QStringLiteral("/bin/solver"));
        new QAbstractItemModelTester(m_dock->model(), QAbstractItemModelTester::FailureReportingMode::QtTest,
                                     m_dock->model());
        m_dock->resize(400, 300);
        m_dock->show();
        tellStop();
        QTRY_COMPARE(rows(), QStringLiteral("n=16 i=1"));
    }

    void cleanup() {
        m_dock.reset();
        m_look.reset();
        m_session.reset();
    }

    void anotherFrameHasNoValuesUntilItsOwnCome() {
        script().answers = false;
        m_look->selectFrame(1);
        QCOMPARE(rows(), QStringLiteral("n=")); // at once: the title names the other frame already
        QVERIFY(m_dock->windowTitle().contains(QStringLiteral("main")));
        QTRY_COMPARE(rows(), QStringLiteral("n= reading…="));
        script().answers = true;
        m_look->selectFrame(0);
        QTRY_COMPARE(rows(), QStringLiteral("n=16 i=1"));
    }

    void anotherRankHasNoValuesUntilItsOwnCome() {
        script().answers = false;
        m_look->showRank(RankId{1});
        QCOMPARE(rows(), QStringLiteral("n="));
        QVERIFY(m_look->reading());
        QVERIFY(m_look->frames().isEmpty()); // nor is the other rank's stack taken for this one's
        QTRY_COMPARE(rows(), QStringLiteral("n= reading…="));
        script().answers = true;
        tellStop();
        QTRY_COMPARE(rows(), QStringLiteral("n=16 i=1"));
        QVERIFY(!m_look->reading());
    }

    /// The rows of the frame stay, grey, from stop to stop; only the words come.
    void theSameFrameKeepsItsRows() {
        script().answers = false;
        script().ranks[0].location.line = 11;
        tellStop();
        QCOMPARE(rows(), QStringLiteral("n=16 i=1"));
        QTRY_COMPARE(rows(), QStringLiteral("n=16 i=1 reading…="));
        script().answers = true;
        script().variables[0].value = QStringLiteral("2");
        tellStop();
        QTRY_COMPARE(rows(), QStringLiteral("n=16 i=2"));
    }

    void nothingIsReadOfARankThatHasGoneOn() {
        script().answers = false;
        script().ranks[0].location.line = 11;
        tellStop();
        QTRY_COMPARE(rows(), QStringLiteral("n=16 i=1 reading…="));
        script().ranks[0].phase = RankPhase::Running;
        emit m_session->rankChanged(RankId{0});
        QCOMPARE(rows(), QStringLiteral("n=16 i=1"));
        QVERIFY(!m_look->reading());
    }
};

QTEST_MAIN(ReadingTest)
#include "reading_test.moc"
