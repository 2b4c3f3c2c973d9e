// Variables as trees: the model by itself, and the dock with a session behind it.
#include "../../../app/look.h"
#include "../../../app/variables_dock.h"
#include "../../../app/variables_model.h"
#include "own_settings.h"
#include "scripted_session.h"

#include <QAbstractItemModelTester>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <QTreeView>

using namespace stopline;
using namespace stopline::app;
using namespace stopline::replay;

namespace {

QString cell(const QAbstractItemModel& model, int row, int column, const QModelIndex& parent = {}) {
    return model.index(row, column, parent).data().toString();
}

bool marked(const QAbstractItemModel& model, int row, const QModelIndex& parent = {}) {
    return model.index(row, VariablesModel::Value, parent).data(Qt::ForegroundRole).isValid();
}

mi::Variable variable(const char* name, const char* type, const QString& value, bool composite = false,
                      bool argument = false) {
    return {QString::fromUtf8(name), QString::fromUtf8(type), value, argument, composite};
}

mi::ValueTree tree(const QString& handle, const QString& name, const QString& type, const QString& value,
                   int parts) {
    return {handle, name, type, value, parts};
}

QVector<mi::ValueTree> elements(const QString& handle, int count) {
    QVector<mi::ValueTree> all;
    for (int i = 0; i < count; ++i) {
        all << tree(QStringLiteral("%1.%2").arg(handle).arg(i), QString::number(i), QStringLiteral("double"),
                    QString::number(i), 0);
    }
    return all;
}

} // namespace

class VariablesTest : public QObject {
    Q_OBJECT

    OwnSettings m_settings{QStringLiteral("variables")};

    static void check(QAbstractItemModel* model) {
        new QAbstractItemModelTester(model, QAbstractItemModelTester::FailureReportingMode::QtTest, model);
    }

    /// Two ranks at a line, whose frame has an integer and a structure of two members and an array in it.
    static void fill(Session& session) {
        standAt(session, QStringLiteral("/src/solver.c"), {10, 10});
        Scripted& s = scriptOf(session);
        s.variables = {variable("i", "int", QStringLiteral("1")),
                       variable("grid", "struct grid", QStringLiteral("{n = 3, a = {…}}"), true)};
        s.trees[QStringLiteral("grid")] = tree(QStringLiteral("7/var1"), QStringLiteral("grid"),
                                               QStringLiteral("struct grid"), QStringLiteral("{...}"), 2);
        s.parts[QStringLiteral("7/var1")] = {tree(QStringLiteral("7/var1.n"), QStringLiteral("n"),
                                                  QStringLiteral("int"), QStringLiteral("3"), 0),
                                             tree(QStringLiteral("7/var1.a"), QStringLiteral("a"),
                                                  QStringLiteral("double [450]"), QStringLiteral("[450]"),
                                                  450)};
        s.parts[QStringLiteral("7/var1.a")] = elements(QStringLiteral("7/var1.a"), 450);
    }

    static void tellStop(Session& session) {
        emit session.ranksChanged();
        emit session.stopped();
    }

  private slots:
    void init() { QSettings().clear(); }

    void changesAreMarked() {
        VariablesModel model;
        check(&model);
        const auto variables = [](const QString& value) {
            return QVector<mi::Variable>{variable("i", "int", value),
                                         variable("n", "int", QStringLiteral("16"), false, true)};
        };
        model.setVariables(QStringLiteral("0 work"), variables(QStringLiteral("1")));
        QCOMPARE(cell(model, 0, VariablesModel::Name), QStringLiteral("n")); // arguments first
        QCOMPARE(cell(model, 1, VariablesModel::Value), QStringLiteral("1"));
        QVERIFY(!marked(model, 1));
        model.setVariables(QStringLiteral("0 work"), variables(QStringLiteral("2")));
        QVERIFY(marked(model, 1));
        QVERIFY(!marked(model, 0));
        model.setVariables(QStringLiteral("1 work"), variables(QStringLiteral("3")));
        QVERIFY(!marked(model, 1)); // another rank: no change to tell
    }

    void rowsComeAndGo() {
        VariablesModel model;
        check(&model);
        const QString scope = QStringLiteral("0 work");
        const auto names = [&model] {
            QStringList all;
            for (int row = 0; row < model.rowCount() - 1; ++row) {
                all << cell(model, row, VariablesModel::Name);
            }
            return all.join(u' ');
        };
        model.setVariables(
            scope, {variable("a", "int", QStringLiteral("1")), variable("c", "int", QStringLiteral("3"))});
        const QPersistentModelIndex c = model.index(1, 0);
        model.setVariables(scope, {variable("a", "int", QStringLiteral("1")),
                                   variable("b", "int", QStringLiteral("2")),
                                   variable("c", "int", QStringLiteral("4"))});
        QCOMPARE(names(), QStringLiteral("a b c"));
        QVERIFY(c.isValid()); // the row has moved and is still the same
        QCOMPARE(c.row(), 2);
        QVERIFY(marked(model, 2));
        QVERIFY(!marked(model, 1));
        model.setVariables(scope, {variable("c", "long", QStringLiteral("4"))});
        QCOMPARE(names(), QStringLiteral("c"));
        QVERIFY(!c.isValid()); // of another type: another variable
    }

    void watchesAreEdited() {
        VariablesModel model;
        check(&model);
        QSignalSpy edited(&model, &VariablesModel::watchesEdited);
        QCOMPARE(model.rowCount(), 1);
        QVERIFY(model.setData(model.index(0, VariablesModel::Name), QStringLiteral(" a[i] "), Qt::EditRole));
        QCOMPARE(model.watches(), QStringList{QStringLiteral("a[i]")});
        model.setWatchValue(QStringLiteral("a[i]"), QStringLiteral("3.5"), false);
        QCOMPARE(cell(model, 0, VariablesModel::Value), QStringLiteral("3.5"));
        QVERIFY(!model.hasChildren(model.index(0, 0)));
        model.setWatchValue(QStringLiteral("a[i]"), QStringLiteral("{x = 1}"), false);
        QVERIFY(model.hasChildren(model.index(0, 0)));
        QVERIFY(model.setData(model.index(0, VariablesModel::Name), QString(), Qt::EditRole));
        QVERIFY(model.watches().isEmpty());
        QCOMPARE(edited.count(), 2);
        QVERIFY(!model.setData(model.index(0, VariablesModel::Value), QStringLiteral("x"), Qt::EditRole));
    }

    void namesOfParts_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<QString>("name"); ///< of the whole, a part itself where it begins with a bracket
        QTest::addColumn<QString>("part");
        QTest::addColumn<QString>("shown");
        QTest::newRow("C") << "double [4]"
                           << "a"
                           << "3"
                           << "[3]";
        QTest::newRow("member") << "struct s"
                                << "s"
                                << "x"
                                << "x";
        QTest::newRow("Fortran vector") << "real(kind=8), allocatable (5)"
                                        << "v"
                                        << "5"
                                        << "(5)";
        QTest::newRow("Fortran, below one") << "integer(kind=4) (-1:2)"
                                            << "b"
                                            << "-1"
                                            << "(-1)";
        QTest::newRow("Fortran matrix") << "real(kind=8) (3,2)"
                                        << "m"
                                        << "2"
                                        << "(:,2)";
        QTest::newRow("its column") << "real(kind=8) (3)"
                                    << "(:,2)"
                                    << "1"
                                    << "(1,2)";
        QTest::newRow("cube") << "real(kind=8) (3,2,4)"
                              << "c"
                              << "4"
                              << "(:,:,4)";
        QTest::newRow("its plane") << "real(kind=8) (3,2)"
                                   << "(:,:,4)"
                                   << "2"
                                   << "(:,2,4)";
    }

    void namesOfParts() {
        QFETCH(QString, type);
        QFETCH(QString, name);
        QFETCH(QString, part);
        QFETCH(QString, shown);
        VariableNode whole;
        whole.kind = name.startsWith(u'(') ? VariableNode::Kind::Part : VariableNode::Kind::Variable;
        whole.type = type;
        whole.name = name;
        QCOMPARE(partName(whole, part), shown);
    }

    void typesAsPeopleWriteThem_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<QString>("shown");
        QTest::newRow("C") << "struct Point *"
                           << "struct Point *";
        QTest::newRow("vector") << "std::vector<int, std::allocator<int> >"
                                << "std::vector<int>";
        QTest::newRow("string")
            << "const std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > &"
            << "const std::string &";
        QTest::newRow("vector of strings")
            << "std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, "
               "std::allocator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> "
               "> > >"
            << "std::vector<std::string>";
        QTest::newRow("map")
            << "std::map<int, std::vector<double, std::allocator<double> >, std::less<int>, "
               "std::allocator<std::pair<int const, std::vector<double, std::allocator<double> > > > >"
            << "std::map<int, std::vector<double>>";
        QTest::newRow("Fortran") << "real(kind=8), allocatable (5)"
                                 << "real(8), allocatable (5)";
        QTest::newRow("own allocator") << "std::vector<int, pool::Allocator<int> >"
                                       << "std::vector<int, pool::Allocator<int>>";
        QTest::newRow("own order")
            << "std::map<int, int, std::greater<int>, std::allocator<std::pair<int const, int> > >"
            << "std::map<int, int, std::greater<int>>";
        QTest::newRow("pointer") << "std::unique_ptr<Cell, std::default_delete<Cell> >"
                                 << "std::unique_ptr<Cell>";
        QTest::newRow("cut off") << "std::vector<int, std::allocator<int"
                                 << "std::vector<int";
    }

    void typesAsPeopleWriteThem() {
        QFETCH(QString, type);
        QTEST(shortType(type), "shown");
    }

    void whatGdbsPrintersShowMayBeOpened() {
        QVERIFY(mayHaveParts(QStringLiteral("std::vector of length 2, capacity 2 = {1, 2}")));
        QVERIFY(!mayHaveParts(QStringLiteral("std::vector of length 0, capacity 0")));
        QVERIFY(mayHaveParts(
            variable("v", "std::vector<int>", QStringLiteral("std::vector of length 1… = {1}"), true)));
        QVERIFY(!mayHaveParts(variable("s", "std::string", QStringLiteral("\"text\""), true)));
        QVERIFY(mayHaveParts(variable("a", "char [5]", QStringLiteral("\"text\""), true)));
    }

    void pointersThatPoint() {
        QVERIFY(pointsAtSomething(QStringLiteral("struct s *"), QStringLiteral("0x7ff0")));
        QVERIFY(!pointsAtSomething(QStringLiteral("struct s *"), QStringLiteral("0x0")));
        QVERIFY(!pointsAtSomething(QStringLiteral("void *"), QStringLiteral("0x7ff0")));
        QVERIFY(!pointsAtSomething(QStringLiteral("int"), QStringLiteral("7")));
    }

    void nothingIsAskedBeforeARowIsOpened() {
        VariablesModel model;
        QSignalSpy open(&model, &VariablesModel::openWanted);
        QSignalSpy parts(&model, &VariablesModel::partsWanted);
        QSignalSpy dropped(&model, &VariablesModel::valueDropped);
        model.setVariables(QStringLiteral("0 work"),
                           {variable("a", "double [450]", QStringLiteral("{0, …}"), true)});
        QCOMPARE(open.count(), 0);
        const QModelIndex a = model.index(0, 0);
        QVERIFY(model.hasChildren(a));
        QVERIFY(model.canFetchMore(a));
        model.fetchMore(a);
        QCOMPARE(open.count(), 1);
        QVERIFY(!model.canFetchMore(a)); // once is enough
        check(&model);                   // not before: the tester opens what can be opened
        const quint64 row = open.first().at(0).toULongLong();
        model.valueOpened(row, tree(QStringLiteral("1/var1"), QStringLiteral("a"),
                                    QStringLiteral("double [450]"), QStringLiteral("[450]"), 450));
        QCOMPARE(parts.count(), 1);
        QCOMPARE(parts.last().at(3).toInt(), 200);
        const QVector<mi::ValueTree> all = elements(QStringLiteral("1/var1"), 450);
        model.partsListed(row, 0, all.mid(0, 200));
        QCOMPARE(model.rowCount(a), 201);
        QCOMPARE(cell(model, 199, VariablesModel::Name, a), QStringLiteral("[199]"));
        QVERIFY(model.isMore(model.index(200, 0, a)));
        model.fetchRest(model.index(200, 0, a));
        QCOMPARE(parts.last().at(2).toInt(), 200);
        model.partsListed(row, 200, all.mid(200, 200));
        QCOMPARE(model.rowCount(a), 401);
        model.fetchRest(model.index(400, 0, a));
        model.partsListed(row, 400, all.mid(400));
        QCOMPARE(model.rowCount(a), 450); // nothing more
        QCOMPARE(cell(model, 449, VariablesModel::Value, a), QStringLiteral("449"));
        model.clearVariables();
        QCOMPARE(dropped.count(), 1);
        QCOMPARE(dropped.first().first().toString(), QStringLiteral("1/var1"));
    }

    void partsChange() {
        VariablesModel model;
        QSignalSpy open(&model, &VariablesModel::openWanted);
        const QVector<mi::Variable> variables{variable("p", "struct s", QStringLiteral("{x = 0}"), true)};
        const QString scope = QStringLiteral("0 work");
        model.setVariables(scope, variables, 5);
        const QModelIndex p = model.index(0, 0);
        model.fetchMore(p);
        const quint64 row = open.last().at(0).toULongLong();
        const mi::ValueTree whole = tree(QStringLiteral("1/var1"), QStringLiteral("p"),
                                         QStringLiteral("struct s"), QStringLiteral("{...}"), 2);
        const auto members = elements(QStringLiteral("1/var1"), 2);
        model.valueOpened(row, whole);
        model.partsListed(row, 0, members);
        model.setVariables(scope, variables, 5);
        mi::ValueChange change;
        change.handle = QStringLiteral("1/var1.1");
        change.value = QStringLiteral("42");
        model.applyChanges({change});
        QCOMPARE(cell(model, 1, VariablesModel::Value, p), QStringLiteral("42"));
        QVERIFY(marked(model, 1, p));
        QVERIFY(!marked(model, 0, p));
        model.setVariables(scope, variables, 5); // the next stop: no news any more
        QVERIFY(!marked(model, 1, p));
        QCOMPARE(model.rowCount(p), 2);
        // Its frame is another one: what was open is asked for anew.
        change = {};
        change.handle = QStringLiteral("1/var1");
        change.inScope = false;
        model.applyChanges({change});
        QCOMPARE(open.count(), 2);
        // As with another process, where gdb's handles mean nothing.
        model.valueOpened(open.last().at(0).toULongLong(), whole);
        model.partsListed(row, 0, members);
        QCOMPARE(model.rowCount(p), 2);
        model.setVariables(scope, variables, 6);
        QCOMPARE(open.count(), 3);
    }

    void whatCannotBeOpenedSaysWhy() {
        VariablesModel model;
        QSignalSpy open(&model, &VariablesModel::openWanted);
        const QVector<mi::Variable> variables{variable("q", "struct s *", QStringLiteral("0x10"))};
        model.setVariables(QStringLiteral("0 work"), variables);
        const QModelIndex q = model.index(0, 0);
        model.fetchMore(q);
        const quint64 row = open.last().at(0).toULongLong();
        model.partsFailed(row, QStringLiteral("Cannot access memory at address 0x10"));
        QCOMPARE(cell(model, 0, VariablesModel::Name, q),
                 QStringLiteral("Cannot access memory at address 0x10"));
        model.setVariables(QStringLiteral("0 work"), variables); // tried again at the next stop
        QCOMPARE(open.count(), 2);
        model.partsFailed(row, {}); // the rank has gone on: nothing to say, and asked again then
        QCOMPARE(model.rowCount(q), 0);
        QVERIFY(model.canFetchMore(q));
    }

    void expansionSurvivesAStepAndComesBackOnAnotherRank() {
        Session session;
        fill(session);
        Look look(&session);
        VariablesDock dock(&look);
        dock.resize(400, 300);
        dock.show();
        tellStop(session);
        QTRY_COMPARE(dock.model()->rowCount(), 3);
        const auto grid = [&dock] { return dock.model()->index(1, 0); };
        dock.view()->expand(grid());
        QTRY_COMPARE(dock.model()->rowCount(grid()), 2);
        QCOMPARE(cell(*dock.model(), 1, VariablesModel::Value, grid()), QStringLiteral("[450]"));
        QVERIFY(!scriptOf(session).calls.contains(QStringLiteral("valueParts 7/var1.a 0 200")));
        dock.view()->expand(dock.model()->index(1, 0, grid()));
        QTRY_COMPARE(dock.model()->rowCount(dock.model()->index(1, 0, grid())), 201);
        QVERIFY(scriptOf(session).calls.contains(QStringLiteral("valueParts 7/var1.a 0 200")));

        // A step: the same frame, a line further, another value in it.
        mi::ValueChange change;
        change.handle = QStringLiteral("7/var1.n");
        change.value = QStringLiteral("4");
        scriptOf(session).changes = {change};
        scriptOf(session).ranks[0].location.line = 11;
        scriptOf(session).calls.clear();
        tellStop(session);
        QTRY_COMPARE(cell(*dock.model(), 0, VariablesModel::Value, grid()), QStringLiteral("4"));
        QVERIFY(marked(*dock.model(), 0, grid()));
        QVERIFY(dock.view()->isExpanded(grid()));
        QVERIFY(dock.view()->isExpanded(dock.model()->index(1, 0, grid())));
        QVERIFY(
            !scriptOf(session).calls.contains(QStringLiteral("openValue grid"))); // nothing was built anew

        // The other rank in the same function: opened again, from its own gdb.
        look.showRank(RankId{1});
        QTRY_VERIFY(scriptOf(session).calls.contains(QStringLiteral("closeValue 7/var1")));
        QTRY_VERIFY(scriptOf(session).calls.contains(QStringLiteral("openValue grid")));
        QTRY_COMPARE(dock.model()->rowCount(dock.model()->index(1, 0, grid())), 201);
        QVERIFY(dock.view()->isExpanded(grid()));
        QVERIFY(dock.view()->isExpanded(dock.model()->index(1, 0, grid())));
        // The rest of a long list comes by a click.
        const QModelIndex array = dock.model()->index(1, 0, grid());
        dock.view()->scrollTo(dock.model()->index(200, 0, array));
        QTest::mouseClick(dock.view()->viewport(), Qt::LeftButton, {},
                          dock.view()->visualRect(dock.model()->index(200, 0, array)).center());
        QTRY_COMPARE(dock.model()->rowCount(array), 401);
    }
};

QTEST_MAIN(VariablesTest)
#include "variables_test.moc"
