// Values with parts, and conditions that cannot be evaluated, against a real gdb.
#include "gdb_fixture.h"

#include <algorithm>

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
