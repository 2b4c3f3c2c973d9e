// How the columns of the Variables panel share its width.
#include "../../../app/column_share.h"
#include "../../../app/look.h"
#include "../../../app/variables_dock.h"
#include "../../../app/variables_model.h"
#include "own_settings.h"
#include "scripted_session.h"

#include <QHeaderView>
#include <QScrollBar>
#include <QSettings>
#include <QTest>
#include <QTreeView>

using namespace stopline;
using namespace stopline::app;
using namespace stopline::replay;

class ColumnsTest : public QObject {
    Q_OBJECT

    OwnSettings m_settings{QStringLiteral("columns")};

  private slots:
    void columnsShareTheWidth() {
        constexpr int kNumber = 200;
        constexpr int kType = 40;
        // Room for all: what is left over is the value's.
        QCOMPARE(shareWidth(600, {80, 100, 50}, kNumber, kType), (ColumnWidths{80, 470, 50}));
        // A long name and a long type get a third each.
        QCOMPARE(shareWidth(600, {500, 100, 500}, kNumber, kType), (ColumnWidths{200, 200, 200}));
        // A number is shown in full before there is a type, and before a name gets its third.
        QCOMPARE(shareWidth(340, {90, 190, 120}, kNumber, kType), (ColumnWidths{90, 190, 60}));
        QCOMPARE(shareWidth(300, {90, 190, 120}, kNumber, kType), (ColumnWidths{90, 210, 0}));
        QCOMPARE(shareWidth(250, {83, 190, 120}, kNumber, kType), (ColumnWidths{60, 190, 0}));
        // A structure's text is longer than any panel: it leaves the others their room.
        QCOMPARE(shareWidth(350, {90, 5000, 60}, kNumber, kType), (ColumnWidths{90, 200, 60}));
    }

    void noNumberIsCut() {
        Session session;
        standAt(session, QStringLiteral("/src/solver.c"), {10, 10});
        scriptOf(session).variables = {
            {QStringLiteral("residual"), QStringLiteral("double"), QStringLiteral("-6.9533558073733491e-123"),
             false, false},
            {QStringLiteral("an_array_of_pointers_to_cells"), QStringLiteral("struct cell *[3]"),
             QStringLiteral("{0x55555557a2c0, 0x55555557a2e0, 0x55555557a300}"), false, true}};
        Look look(&session);
        VariablesDock dock(&look);
        dock.show();
        emit session.ranksChanged();
        QTreeView* view = dock.view();
        QTRY_COMPARE(dock.model()->rowCount(), 3); // with the empty one for an expression
        const auto column = [view](int which) { return view->header()->sectionSize(which); };
        for (const int width : {320, 360, 480, 700}) {
            dock.resize(width, 300);
            QTRY_COMPARE(column(0) + column(1) + (view->isColumnHidden(2) ? 0 : column(2)),
                         view->viewport()->width());
            const QModelIndex index = dock.model()->index(0, VariablesModel::Value);
            const int needed = view->fontMetrics().horizontalAdvance(QStringLiteral(" ")) +
                               QFontMetrics(index.data(Qt::FontRole).value<QFont>())
                                   .horizontalAdvance(index.data().toString());
            QVERIFY2(column(VariablesModel::Value) >= needed, qPrintable(QString::number(width)));
            QVERIFY(!view->horizontalScrollBar()->isVisible());
        }
        // A border that the user has drawn stays where it is.
        view->header()->resizeSection(VariablesModel::Name, 250);
        dock.resize(720, 300);
        QCoreApplication::processEvents();
        QCOMPARE(column(VariablesModel::Name), 250);
    }
};

QTEST_MAIN(ColumnsTest)
#include "columns_test.moc"
