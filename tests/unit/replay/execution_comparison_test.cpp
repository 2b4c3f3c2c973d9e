// Two executions of a rank, whose code may be elsewhere in each.
#include "../../bench/timeline/halo.h"

#include "../../../replay/execution_comparison.h"
#include "../../../replay/recording.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace stopline::replay {
namespace {

/// A barrier at each of these places.
std::unique_ptr<Recording> barriers(const std::vector<std::uint64_t>& sites) {
    std::vector<trace::EventDetails> events;
    for (const std::uint64_t site : sites) {
        trace::EventDetails one;
        one.function = trace::FunctionId::Barrier;
        one.comm = kCommWorld;
        one.site = CodeAddress{site};
        events.push_back(one);
        one.kind = trace::EventKind::End;
        events.push_back(one);
    }
    auto recording = std::make_unique<Recording>(1);
    QString error;
    EXPECT_FALSE(recording->feed(RankId{0}, bench::recording(events, 0, 1, 1), error));
    EXPECT_EQ(error, QString());
    return recording;
}

/// "4": equal through event 4, and both end there; "4 A/B": what each does then.
std::string compared(const std::vector<std::uint64_t>& one, const std::vector<std::uint64_t>& other, SameSite known) {
    const auto a = barriers(one);
    const auto b = barriers(other);
    RankComparison comparison(a->timeline(), b->timeline(), RankId{0}, [known](CodeAddress, CodeAddress) { return known; },
                              [](CodeAddress) { return QString(); });
    const Session::ExecutionDifference found = comparison.find();
    std::string text = std::to_string(found.same.value());
    if (!found.first.isEmpty() || !found.second.isEmpty()) {
        text += ' ' + found.first.toStdString() + '/' + found.second.toStdString();
    }
    return text;
}

TEST(ExecutionComparison, SitesOfMovedCodeMayBeOne) {
    EXPECT_EQ(compared({100, 200, 100, 300}, {1100, 1200, 1100, 1300}, SameSite::Unknown), "8");
    EXPECT_EQ(compared({100, 200, 100, 300}, {1100, 1200, 1200, 1300}, SameSite::Unknown),
              "4 MPI_Barrier/MPI_Barrier from another place in the program"); // 1200 has been another one's
    EXPECT_EQ(compared({100, 200, 200}, {1100, 1200, 1100}, SameSite::Unknown),
              "4 MPI_Barrier/MPI_Barrier from another place in the program");
    EXPECT_EQ(compared({100, 100, 200}, {100, 100, 1200}, SameSite::Unknown), "6"); // begins together
}

TEST(ExecutionComparison, WhatIsKnownOfSitesDecides) {
    EXPECT_EQ(compared({100, 200}, {100, 300}, SameSite::No), "2 MPI_Barrier/MPI_Barrier from another place in the program");
    EXPECT_EQ(compared({100, 200, 200}, {100, 300, 400}, SameSite::Yes), "6"); // inlined twice
    EXPECT_EQ(compared({100, 200}, {100}, SameSite::No), "2 MPI_Barrier/");
}

TEST(ExecutionComparison, SitesAreComparedByWhatTheDebugInformationSays) {
    const SourceLocation line{QStringLiteral("/src/a.c"), 7, QStringLiteral("main"), {}};
    SourceLocation other = line;
    other.line = 8;
    const SourceLocation function{{}, 0, QStringLiteral("main"), {}};
    const SourceLocation another{{}, 0, QStringLiteral("work"), {}};
    const SourceLocation module{{}, 0, {}, QStringLiteral("app")};
    const SourceLocation nothing;
    EXPECT_EQ(sameSite(line, line), SameSite::Yes);
    EXPECT_EQ(sameSite(line, other), SameSite::No);
    EXPECT_EQ(sameSite(function, another), SameSite::No);
    EXPECT_EQ(sameSite(function, line), SameSite::Unknown);
    EXPECT_EQ(sameSite(nothing, module), SameSite::Unknown); // one is known from a recording
    EXPECT_EQ(sameSite(nothing, nothing), SameSite::Unknown);
    EXPECT_EQ(sameSite(module, module), SameSite::No); // of the same process
}

} // namespace
} // namespace stopline::replay
