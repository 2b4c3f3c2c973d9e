// Values with parts, and conditions that cannot be evaluated, against a real gdb.
#include "gdb_fixture.h"

#include <QMap>

#include <algorithm>
#include <optional>

namespace stopline::mi {

namespace {

class PartsTest : public GdbTest {
  protected:
    Result<ValueTree> open(const QString& expression, int frame = 0) {
        return answerOf<ValueTree>([&](auto handler) { session->openValue(expression, 1, frame, handler); });
    }
    QVector<ValueTree> parts(const QString& handle, int from = 0, int to = 200) {
        const auto answer = answerOf<QVector<ValueTree>>(
            [&](auto handler) { session->valueParts(handle, from, to, handler); });
        EXPECT_TRUE(answer.ok()) << (answer ? "" : answer.error().text.toStdString());
        return answer ? answer.value() : QVector<ValueTree>{};
    }
    QVector<ValueChange> changes() {
        const auto answer =
            answerOf<QVector<ValueChange>>([&](auto handler) { session->updateValues(handler); });
        EXPECT_TRUE(answer.ok()) << (answer ? "" : answer.error().text.toStdString());
        return answer ? answer.value() : QVector<ValueChange>{};
    }
    void runTo(const QString& program, const QString& source, const QString& mark) {
        attach(start(programPath(program)));
        const auto outer = static_cast<int>(stack().size()) - 1; // Fortran's `go` is a local one
        ASSERT_TRUE(evaluate(QStringLiteral("go = 1"), outer).ok());
        ASSERT_TRUE(breakAt(QStringLiteral("%1:%2").arg(source).arg(lineOf(source, mark))).ok());
        ASSERT_EQ(resume(Resume::Continue).cause, StopCause::BreakpointHit);
    }
};

QString told(const QVector<ValueTree>& parts) {
    QStringList all;
    for (const ValueTree& part : parts) {
        all << QStringLiteral("%1=%2").arg(part.name, part.value);
    }
    return all.join(u' ');
}

TEST_F(PartsTest, StructuresAndArraysOfC) {
    runTo(QStringLiteral("gdbmi_target"), QStringLiteral("target.c"), QStringLiteral("loop calls"));
    const auto point = open(QStringLiteral("point"));
    ASSERT_TRUE(point.ok()) << point.error().text.toStdString();
    EXPECT_EQ(point.value().parts, 3);
    EXPECT_EQ(point.value().type, QStringLiteral("struct Point"));
    const QVector<ValueTree> members = parts(point.value().handle);
    EXPECT_EQ(told(members), QStringLiteral("x=3 y=[3] name=[12]"));
    ASSERT_EQ(members.size(), 3);
    EXPECT_EQ(told(parts(members[1].handle)), QStringLiteral("0=1.5 1=2.5 2=3.5"));
    EXPECT_EQ(told(parts(members[1].handle, 1, 2)), QStringLiteral("1=2.5")); // a piece of it
    EXPECT_TRUE(changes().isEmpty());
    resume(Resume::Continue); // the first round leaves 3, the second makes it 4
    resume(Resume::Next);
    const QVector<ValueChange> after = changes();
    const auto x = std::find_if(after.begin(), after.end(),
                                [&](const ValueChange& c) { return c.handle == members[0].handle; });
    ASSERT_NE(x, after.end());
    EXPECT_TRUE(x->inScope);
    EXPECT_EQ(x->value, QStringLiteral("4"));
    session->closeValue(point.value().handle);
    const auto gone = answerOf<QVector<ValueTree>>(
        [&](auto handler) { session->valueParts(point.value().handle, 0, 1, handler); });
    EXPECT_FALSE(gone.ok());
}

TEST_F(PartsTest, VariablesSayWhetherTheyHaveParts) {
    runTo(QStringLiteral("gdbmi_target"), QStringLiteral("target.c"), QStringLiteral("loop calls"));
    const auto all = answerOf<QVector<Variable>>([&](auto handler) { session->variables(1, 0, handler); });
    ASSERT_TRUE(all.ok());
    for (const Variable& variable : all.value()) {
        EXPECT_EQ(variable.composite, variable.name == u"point") << variable.name.toStdString();
    }
}

TEST_F(PartsTest, MembersOfAClassWithoutTheWordPublic) {
    runTo(QStringLiteral("gdbmi_names"), QStringLiteral("names.cpp"), QStringLiteral("box"));
    const auto self = open(QStringLiteral("*this"));
    ASSERT_TRUE(self.ok()) << self.error().text.toStdString();
    const QVector<ValueTree> members = parts(self.value().handle);
    ASSERT_EQ(members.size(), 1);
    EXPECT_EQ(members[0].name, QStringLiteral("value"));
    const auto refused = open(QStringLiteral("no_such_thing"));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().text, QStringLiteral("No symbol \"no_such_thing\" in current context."));
}

class ContainersTest : public PartsTest {
  protected:
    void SetUp() override {
        PartsTest::SetUp();
        runTo(QStringLiteral("gdbmi_containers"), QStringLiteral("containers.cpp"), QStringLiteral("look"));
    }
    /// Opens a variable of main.
    ValueTree kept(const QString& name) {
        const auto value = open(name, 1);
        EXPECT_TRUE(value.ok()) << (value ? "" : value.error().text.toStdString());
        return value ? value.value() : ValueTree{};
    }
    static std::optional<ValueChange> changeOf(const QVector<ValueChange>& changes, const QString& handle) {
        const auto found = std::find_if(changes.begin(), changes.end(),
                                        [&](const ValueChange& c) { return c.handle == handle; });
        return found == changes.end() ? std::nullopt : std::optional(*found);
    }
};

TEST_F(ContainersTest, AreWhatTheyHold) {
    const auto all = answerOf<QVector<Variable>>([&](auto handler) { session->variables(1, 1, handler); });
    ASSERT_TRUE(all.ok());
    QMap<QString, QString> values;
    for (const Variable& variable : all.value()) {
        values[variable.name] = variable.value;
    }
    EXPECT_EQ(values[QStringLiteral("numbers")],
              QStringLiteral("std::vector of length 3, capacity 3 = {1, 2, 3}"));
    EXPECT_EQ(values[QStringLiteral("text")], QStringLiteral("\"hello\""));
    EXPECT_EQ(values[QStringLiteral("ages")],
              QStringLiteral("std::map with 2 elements = {[\"ann\"] = 41, [\"bob\"] = 7}"));
    EXPECT_EQ(evaluate(QStringLiteral("maybe"), 1).value(),
              QStringLiteral("std::optional<int> = {[contained value] = 4}"));
}

TEST_F(ContainersTest, HaveTheirElementsAsParts) {
    const ValueTree numbers = kept(QStringLiteral("numbers"));
    EXPECT_EQ(numbers.parts, 1);
    EXPECT_EQ(told(parts(numbers.handle)), QStringLiteral("[0]=1 [1]=2 [2]=3"));
    EXPECT_EQ(told(parts(kept(QStringLiteral("large")).handle, 998, 1002)),
              QStringLiteral("[998]=7 [999]=7"));
    EXPECT_EQ(kept(QStringLiteral("none")).parts, 0);
    EXPECT_EQ(kept(QStringLiteral("text")).parts, 0);
    const QVector<ValueTree> ages = parts(kept(QStringLiteral("ages")).handle);
    EXPECT_EQ(told(ages), QStringLiteral("[\"ann\"]=41 [\"bob\"]=7"));
    EXPECT_EQ(told(parts(kept(QStringLiteral("ages")).handle, 1, 2)), QStringLiteral("[\"bob\"]=7"));
    EXPECT_EQ(told(parts(kept(QStringLiteral("sparse")).handle)), QStringLiteral("[key 0]=0.5"));
    const QVector<ValueTree> cells = parts(kept(QStringLiteral("cells")).handle);
    EXPECT_EQ(told(cells), QStringLiteral("[0]={...} [1]={...}"));
    const QVector<ValueTree> cell = parts(cells[0].handle);
    EXPECT_EQ(told(cell), QStringLiteral("name=\"one\" values={...} plain=3"));
    EXPECT_EQ(cell[0].parts, 0);
    EXPECT_EQ(told(parts(cell[1].handle)), QStringLiteral("[0]=1.5 [1]=2.5"));
    const QVector<ValueTree> pointed = parts(kept(QStringLiteral("pointer")).handle);
    ASSERT_EQ(pointed.size(), 1);
    EXPECT_EQ(pointed[0].name, QStringLiteral("get()"));
    EXPECT_EQ(told(parts(pointed[0].handle)), QStringLiteral("name=\"three\" values={...} plain=5"));
}

TEST_F(ContainersTest, ChangesAreTold) {
    const ValueTree numbers = kept(QStringLiteral("numbers"));
    const ValueTree large = kept(QStringLiteral("large"));
    const ValueTree none = kept(QStringLiteral("none"));
    const ValueTree text = kept(QStringLiteral("text"));
    const ValueTree ages = kept(QStringLiteral("ages"));
    const ValueTree cells = kept(QStringLiteral("cells"));
    const QVector<ValueTree> elements = parts(numbers.handle);
    parts(large.handle, 0, 2);
    parts(none.handle);
    parts(ages.handle);
    const QVector<ValueTree> inside = parts(parts(cells.handle)[0].handle);
    parts(inside[1].handle);
    resume(Resume::Continue);
    const QVector<ValueChange> after = changes();
    ASSERT_TRUE(changeOf(after, elements[1].handle).has_value());
    EXPECT_EQ(changeOf(after, elements[1].handle)->value, QStringLiteral("20"));
    EXPECT_EQ(changeOf(after, text.handle)->value, QStringLiteral("\"hello again\""));
    ASSERT_TRUE(changeOf(after, none.handle).has_value());
    EXPECT_EQ(changeOf(after, none.handle)->parts, 1);
    ASSERT_TRUE(changeOf(after, ages.handle).has_value());
    EXPECT_EQ(changeOf(after, ages.handle)->parts, 1);
    ASSERT_TRUE(changeOf(after, inside[1].handle).has_value());
    EXPECT_EQ(changeOf(after, inside[1].handle)->parts, 1);
    // Of the large one only the first two are looked at, and those are as they were.
    EXPECT_FALSE(changeOf(after, large.handle).has_value());
    EXPECT_LT(after.size(), 12);
    EXPECT_EQ(told(parts(ages.handle)), QStringLiteral("[\"abe\"]=1 [\"ann\"]=41 [\"bob\"]=8"));
    EXPECT_EQ(told(parts(none.handle)), QStringLiteral("[0]=5"));
    EXPECT_EQ(told(parts(inside[1].handle)), QStringLiteral("[0]=1.5 [1]=2.5 [2]=3.5"));
    EXPECT_EQ(told(parts(large.handle, 999, 1002)), QStringLiteral("[999]=7 [1000]=8"));
}

#ifdef HAVE_FORTRAN
TEST_F(PartsTest, FortranArraysCountFromOne) {
    runTo(QStringLiteral("gdbmi_fields"), QStringLiteral("fields.f90"), QStringLiteral("relaxed"));
    const auto grid = open(QStringLiteral("grid"));
    ASSERT_TRUE(grid.ok()) << grid.error().text.toStdString();
    EXPECT_EQ(grid.value().parts, 2);
    const QVector<ValueTree> columns = parts(grid.value().handle);
    ASSERT_EQ(columns.size(), 2);
    EXPECT_EQ(told(parts(columns[0].handle)), QStringLiteral("1=3 2=3 3=1.5"));
    EXPECT_EQ(told(parts(columns[1].handle)), QStringLiteral("1=1.5 2=1.5 3=1.5"));
    const auto section = open(QStringLiteral("grid(1:2,1:2)"));
    ASSERT_TRUE(section.ok()) << section.error().text.toStdString();
    EXPECT_EQ(section.value().parts, 2);
    const QVector<ValueTree> only = parts(section.value().handle);
    ASSERT_EQ(only.size(), 2);
    EXPECT_EQ(told(parts(only[0].handle)), QStringLiteral("1=3 2=3"));
    const auto argument = open(QStringLiteral("a")); // assumed shape
    ASSERT_TRUE(argument.ok()) << argument.error().text.toStdString();
    EXPECT_EQ(argument.value().parts, 2);
}
#endif

TEST_F(PartsTest, AConditionThatCannotBeEvaluatedIsSaid) {
    attachAndGo(start(programPath(QStringLiteral("gdbmi_target"))));
    QVector<QPair<int, QString>> said;
    QObject::connect(session.get(), &GdbSession::conditionFailed, session.get(),
                     [&](int number, const QString& why) {
                         EXPECT_TRUE(stops.isEmpty()); // before the stop itself
                         said.append({number, why});
                     });
    const QString place =
        QStringLiteral("target.c:%1").arg(lineOf(QStringLiteral("target.c"), QStringLiteral("loop calls")));
    const auto breakpoint = breakAt(place, QStringLiteral("*(int*)0 == 1"));
    ASSERT_TRUE(breakpoint.ok()) << breakpoint.error().text.toStdString();
    EXPECT_EQ(resume(Resume::Continue).cause, StopCause::BreakpointHit);
    ASSERT_EQ(said.size(), 1);
    EXPECT_EQ(said[0].first, breakpoint.value().number);
    EXPECT_EQ(said[0].second, QStringLiteral("Cannot access memory at address 0x0"));
    // One that can be evaluated is no news.
    ASSERT_TRUE(answerOf<Unit>([&](auto handler) {
                    session->setBreakpointCondition(breakpoint.value().number, QStringLiteral("i == 5"),
                                                    handler);
                }).ok());
    EXPECT_EQ(resume(Resume::Continue).cause, StopCause::BreakpointHit);
    EXPECT_EQ(said.size(), 1);
}

} // namespace

} // namespace stopline::mi
