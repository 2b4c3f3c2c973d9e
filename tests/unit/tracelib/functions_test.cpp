// Forms of functions: large counts and persistent ones belong to a plain one.
#include "../../../tracelib/function_forms.h"

#include <gtest/gtest.h>

using namespace stopline::trace;

TEST(Functions, FormsHaveTheirPlainFunction) {
    static_assert(plainFunction(FunctionId::Bcast) == FunctionId::Bcast);
    static_assert(plainFunction(FunctionId::Bcast_c) == FunctionId::Bcast);
    static_assert(plainFunction(FunctionId::Bcast_init) == FunctionId::Bcast);
    static_assert(plainFunction(FunctionId::Bcast_init_c) == FunctionId::Bcast);
    static_assert(plainFunction(FunctionId::Ssend_init_c) == FunctionId::Ssend_init);
    static_assert(plainFunction(FunctionId::Isendrecv_replace_c) == FunctionId::Isendrecv_replace);
    EXPECT_EQ(functionName(FunctionId::Bcast_init_c), "MPI_Bcast_init_c");
    EXPECT_EQ(functionClass(FunctionId::Bcast_init_c), CallClass::CollectiveInit);
    EXPECT_EQ(functionClass(FunctionId::Neighbor_alltoallw_init), CallClass::NeighborInit);
}

TEST(Functions, AFormForLargeCountsIsOfTheClassOfItsFunction) {
    int forms = 0;
    for (int i = 0; i < static_cast<int>(FunctionId::Count); ++i) {
        const auto function = static_cast<FunctionId>(i);
        const std::string_view name = functionName(function);
        if (name.ends_with("_c")) {
            ++forms;
            const FunctionId plain = plainFunction(function);
            EXPECT_NE(plain, function) << name;
            if (!name.ends_with("_init_c") || functionClass(plain) == CallClass::SendInit ||
                functionClass(plain) == CallClass::RecvInit) {
                EXPECT_EQ(functionClass(plain), functionClass(function)) << name;
            }
        }
    }
    EXPECT_EQ(forms, 123);
}
