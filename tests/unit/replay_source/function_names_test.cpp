#include "../../../replay/function_names.h"

#include <gtest/gtest.h>

namespace stopline::replay {
namespace {

TEST(FunctionNames, LeavesPlainNamesAlone) {
    EXPECT_EQ(readableFunctionName("main"), "main");
    EXPECT_EQ(readableFunctionName("MPI_Send"), "MPI_Send");
    EXPECT_EQ(readableFunctionName(""), "");
    EXPECT_EQ(readableFunctionName("_Znonsense("), "_Znonsense(");
}

TEST(FunctionNames, DemanglesWithoutParameters) {
    EXPECT_EQ(readableFunctionName("_ZN8workshop9Exchanger4passERSt6vectorIdSaIdEEi"),
              "workshop::Exchanger::pass");
    EXPECT_EQ(readableFunctionName("_ZL5crashPii"), "crash");
    EXPECT_EQ(readableFunctionName("_ZN12_GLOBAL__N_15valueEv"), "(anonymous namespace)::value");
}

TEST(FunctionNames, NamesGfortranModuleProcedures) {
    EXPECT_EQ(readableFunctionName("__heat_MOD_step"), "heat::step");
    EXPECT_EQ(readableFunctionName("__two_words_MOD_a_MOD"), "two_words::a_MOD");
    EXPECT_EQ(readableFunctionName("___MOD_"), "___MOD_");
    EXPECT_EQ(readableFunctionName("__x_MOD_"), "__x_MOD_");
    EXPECT_EQ(readableFunctionName("__MOD_x"), "__MOD_x");
}

TEST(FunctionNames, WithoutParameters) {
    EXPECT_EQ(withoutParameters("f(int)"), "f");
    EXPECT_EQ(withoutParameters("a::f(std::map<int, void (*)(int)>) const"), "a::f");
    EXPECT_EQ(withoutParameters("double a::twice<double>(double const&)"), "a::twice<double>");
    EXPECT_EQ(withoutParameters("std::vector<int, A<(B)2> > f<int>(int)"), "f<int>");
    EXPECT_EQ(withoutParameters("main::{lambda(int)#1}::operator()(int) const"),
              "main::{lambda(int)#1}::operator()");
    EXPECT_EQ(withoutParameters("A::operator<(A const&) const"), "A::operator<");
    EXPECT_EQ(withoutParameters("A::operator bool() const"), "A::operator bool");
    EXPECT_EQ(withoutParameters("A::operator->() &"), "A::operator->");
    EXPECT_EQ(withoutParameters("bool operator< <int>(T<int> const&, T<int> const&)"), "operator< <int>");
    EXPECT_EQ(withoutParameters("co_operator(int)"), "co_operator");
    EXPECT_EQ(withoutParameters("f(int) [clone .constprop.0]"), "f");
    EXPECT_EQ(withoutParameters("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
    EXPECT_EQ(withoutParameters("(anonymous namespace)::value"), "(anonymous namespace)::value");
    EXPECT_EQ(withoutParameters("no brackets"), "no brackets");
    EXPECT_EQ(withoutParameters(")"), ")");
    EXPECT_EQ(withoutParameters("()"), "()");
    EXPECT_EQ(withoutParameters("int (*g<int>(int))(int)"), "int (*g<int>(int))(int)");
}

} // namespace
} // namespace stopline::replay
