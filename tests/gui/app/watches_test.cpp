// Watched expressions: typed in, opened at once, kept with their program.
#include "../../../app/look.h"
#include "../../../app/variables_dock.h"
#include "../../../app/variables_model.h"
#include "../../../app/watch_memory.h"
#include "own_settings.h"
#include "scripted_session.h"

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QTest>
#include <QTreeView>

using namespace stopline;
using namespace stopline::app;
using namespace stopline::replay;

class WatchesTest : public QObject {
    Q_OBJECT

    OwnSettings m_settings{QStringLiteral("watches")};
    std::unique_ptr<Session> m_session;
    std::unique_ptr<Look> m_look;
    std::unique_ptr<VariablesDock> m_dock;

    [[nodiscard]] QTreeView* view() const { return m_dock->view(); }
    [[nodiscard]] QModelIndex row(int number) const { return m_dock->model()->index(number, 0); }
    [[nodiscard]] QModelIndex addRow() const { return row(m_dock->model()->rowCount() - 1); }
    /// The field that a row is edited in; null while none is.
    [[nodiscard]] QLineEdit* editor() const { return view()->viewport()->findChild<QLineEdit*>(); }

    void click(const QModelIndex& index) {
        QTest::mouseClick(view()->viewport(), Qt::LeftButton, {}, view()->visualRect(index).center());
    }

    /// Types an expression into the empty row.
    void watch(const QString& expression) {
        QTRY_VERIFY(editor() == nullptr);
        click(addRow());
        QTRY_VERIFY(editor() != nullptr);
        QTest::keyClicks(editor(), expression);
        QTest::keyClick(editor(), Qt::Key_Return);
        QTRY_VERIFY(m_dock->model()->watches().contains(expression)); // the field is left from the event loop
    }

  private slots:
    /// A rank in a frame with one integer; there is an array that can be watched.
    void init() {
        QSettings().clear();
        m_session = std::make_unique<Session>();
        standAt(*m_session, QStringLiteral("/src/solver.c"), {10});
        Scripted& s = scriptOf(*m_session);
        s.variables = {{QStringLiteral("i"), QStringLiteral("int"), QStringLiteral("1"), false, false}};
        s.values[QStringLiteral("a")] = QStringLiteral("{1, 2}");
        s.values[QStringLiteral("n")] = QStringLiteral("16");
        s.trees[QStringLiteral("a")] = {QStringLiteral("7/var1"), QStringLiteral("a"),
                                        QStringLiteral("int [2]"), QStringLiteral("[2]"), 2};
        s.parts[QStringLiteral("7/var1")] = {
            {QStringLiteral("7/var1.0"), QStringLiteral("0"), QStringLiteral("int"), QStringLiteral("1"), 0},
            {QStringLiteral("7/var1.1"), QStringLiteral("1"), QStringLiteral("int"), QStringLiteral("2"), 0}};
        m_look = std::make_unique<Look>(m_session.get());
        m_dock = std::make_unique<VariablesDock>(m_look.get());
        new QAbstractItemModelTester(m_dock->model(), QAbstractItemModelTester::FailureReportingMode::QtTest,
                                     m_dock->model());
        m_dock->setProgram(QStringLiteral("/bin/one"));
        m_dock->resize(400, 300);
        m_dock->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_dock.get()));
        m_dock->activateWindow();
        emit m_session->ranksChanged();
        emit m_session->stopped();
        QTRY_COMPARE(m_dock->model()->rowCount(), 2);
    }

    void cleanup() {
        m_dock.reset();
        m_look.reset();
        m_session.reset();
    }

    void oneClickBeginsAnExpression() {
        watch(QStringLiteral("n"));
        QCOMPARE(m_dock->model()->watches(), QStringList{QStringLiteral("n")});
        QTRY_COMPARE(row(0).siblingAtColumn(VariablesModel::Value).data().toString(), QStringLiteral("16"));
        // The other rows are only chosen by a click.
        click(row(1));
        QTest::qWait(2 * QApplication::doubleClickInterval());
        QVERIFY(editor() == nullptr);
    }

    void typingInTheEmptyRowBeginsOne() {
        view()->setFocus();
        view()->setCurrentIndex(addRow());
        QTest::keyClick(view(), Qt::Key_N);
        QTRY_VERIFY(editor() != nullptr);
        QCOMPARE(editor()->text(), QStringLiteral("n"));
        QTest::keyClick(editor(), Qt::Key_Return);
        QTRY_COMPARE(m_dock->model()->watches(), QStringList{QStringLiteral("n")});
        QTRY_VERIFY(editor() == nullptr);
        view()->setCurrentIndex(row(0)); // a letter there does not replace what is watched
        QTest::keyClick(view(), Qt::Key_I);
        QTest::qWait(50);
        QVERIFY(editor() == nullptr);
        QCOMPARE(m_dock->model()->watches(), QStringList{QStringLiteral("n")});
    }

    /// The arrow is there as soon as the value is: nobody has to wait for the next stop.
    void anArrayCanBeOpenedAtOnce() {
        watch(QStringLiteral("a"));
        QTRY_COMPARE(row(0).siblingAtColumn(VariablesModel::Value).data().toString(),
                     QStringLiteral("{1, 2}"));
        QCoreApplication::processEvents();
        const QRect cell = view()->visualRect(row(0));
        QTest::mouseClick(view()->viewport(), Qt::LeftButton, {},
                          QPoint(cell.left() - view()->indentation() / 2, cell.center().y()));
        QVERIFY(view()->isExpanded(row(0)));
        QTRY_COMPARE(m_dock->model()->rowCount(row(0)), 2);
        QCOMPARE(m_dock->model()->index(1, VariablesModel::Value, row(0)).data().toString(),
                 QStringLiteral("2"));
    }

    /// And is gone as soon as there is nothing inside any more.
    void whatCannotBeOpenedHasNoArrow() {
        scriptOf(*m_session).values.erase(QStringLiteral("a"));
        watch(QStringLiteral("a"));
        QTRY_VERIFY(row(0)
                        .siblingAtColumn(VariablesModel::Value)
                        .data()
                        .toString()
                        .startsWith(QStringLiteral("No symbol")));
        QCoreApplication::processEvents();
        const QRect cell = view()->visualRect(row(0));
        QTest::mouseClick(view()->viewport(), Qt::LeftButton, {},
                          QPoint(cell.left() - view()->indentation() / 2, cell.center().y()));
        QVERIFY(!view()->isExpanded(row(0)));
    }

    void eachProgramHasItsOwn() {
        watch(QStringLiteral("n"));
        m_dock->setProgram(QStringLiteral("/bin/other"));
        QVERIFY(m_dock->model()->watches().isEmpty());
        watch(QStringLiteral("a"));
        watch(QStringLiteral("a[1]"));
        QCOMPARE(watchesOf(QStringLiteral("/bin/one")), QStringList{QStringLiteral("n")});
        m_dock->setProgram(QStringLiteral("/bin/one"));
        QCOMPARE(m_dock->model()->watches(), QStringList{QStringLiteral("n")});
        QTRY_COMPARE(row(0).siblingAtColumn(VariablesModel::Value).data().toString(), QStringLiteral("16"));
        VariablesDock next(m_look.get());           // of the next window
        QVERIFY(next.model()->watches().isEmpty()); // no program yet
        next.setProgram(QStringLiteral("/bin/other"));
        QCOMPARE(next.model()->watches(), (QStringList{QStringLiteral("a"), QStringLiteral("a[1]")}));
        m_dock->model()->removeWatch(row(0));
        QVERIFY(watchesOf(QStringLiteral("/bin/one")).isEmpty());
        QCOMPARE(watchesOf(QStringLiteral("/bin/other")).size(), 2);
    }

    void theOldestProgramIsForgotten() {
        for (int i = 0; i <= kMostWatchedPrograms; ++i) {
            rememberWatches(QStringLiteral("/bin/%1").arg(i), {QStringLiteral("x")});
        }
        QVERIFY(watchesOf(QStringLiteral("/bin/0")).isEmpty());
        QCOMPARE(watchesOf(QStringLiteral("/bin/1")).size(), 1);
        rememberWatches({}, {QStringLiteral("x")}); // of no program
        QVERIFY(watchesOf({}).isEmpty());
    }
};

QTEST_MAIN(WatchesTest)
#include "watches_test.moc"
