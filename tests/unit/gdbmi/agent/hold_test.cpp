// The time that the debugger holds a rank, and the MI lines it is taken from.
#include "../../../../gdbmi/agent_hold.h"

#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>
#include <vector>

namespace stopline::agent {
namespace {

TEST(MiLines, Commands) {
    EXPECT_EQ(classifyCommand("12-exec-continue --all").kind, MiCommandKind::Resume);
    EXPECT_EQ(classifyCommand("12-exec-continue --all").token, "12");
    for (const char* line :
         {"-exec-next", "-exec-step --thread 1", "7-exec-finish --thread 1 --frame 3", "-exec-until x",
          "-exec-next-instruction", "1-exec-step-instruction", "-exec-jump *0x10", "3-exec-continue\r"}) {
        EXPECT_EQ(classifyCommand(line).kind, MiCommandKind::Resume) << line;
    }
    EXPECT_EQ(classifyCommand("3-target-attach 77").kind, MiCommandKind::Attach);
    EXPECT_EQ(classifyCommand("-target-detach").kind, MiCommandKind::Detach);
    EXPECT_EQ(classifyCommand("9-gdb-exit").kind, MiCommandKind::Exit);
    for (const char* line :
         {"-exec-interrupt --all", "-exec-continued", "", "12", "-exec-run", " -exec-next"}) {
        EXPECT_EQ(classifyCommand(line).kind, MiCommandKind::Other) << line;
    }
}

TEST(MiLines, Output) {
    EXPECT_EQ(classifyOutput("*stopped,reason=\"x\"").kind, MiOutputKind::Stopped);
    EXPECT_EQ(classifyOutput("12^error,msg=\"x\"").kind, MiOutputKind::Error);
    EXPECT_EQ(classifyOutput("12^error,msg=\"x\"").token, "12");
    for (const char* line : {"*running,thread-id=\"all\"", "12^done", "~\"*stopped\"", "(gdb) ", ""}) {
        EXPECT_EQ(classifyOutput(line).kind, MiOutputKind::Other) << line;
    }
}

TEST(MiLines, SplitterKeepsTheBeginOfLongLines) {
    LineSplitter lines;
    std::vector<std::string> seen;
    const auto collect = [&](std::string_view line) { seen.emplace_back(line); };
    const std::string text = "*stop" + std::string("ped\n\nlong") + std::string(5000, 'x') + "\nend";
    for (const char c : text) {
        lines.append(std::string_view(&c, 1), collect);
    }
    ASSERT_EQ(seen.size(), 3u);
    EXPECT_EQ(seen[0], "*stopped");
    EXPECT_EQ(seen[1], "");
    EXPECT_EQ(seen[2].substr(0, 8), "longxxxx");
    lines.append("\n", collect);
    EXPECT_EQ(seen.at(3), "end");
}

class Hold : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_FALSE(mapping.create("", 0).has_value()); }
    std::int64_t held() { return mapping.header().heldNs.load(); }
    std::uint32_t stops() { return mapping.header().stopCount.load(); }
    void at(std::uint64_t event) { mapping.header().eventCount.store(event); }

    Mapping mapping;
    HoldClock clock{mapping};
};

TEST_F(Hold, StopAndContinue) {
    at(5);
    clock.stopped(100);
    clock.stopped(110); // a second stop record without a resume between
    EXPECT_TRUE(clock.stoppedByGdb());
    EXPECT_EQ(held(), 0);
    clock.resumed(150, "1");
    EXPECT_FALSE(clock.stoppedByGdb());
    EXPECT_EQ(held(), 50);
    clock.resumed(170, "2"); // nothing was held
    clock.stopped(200);
    clock.resumed(210, "3");
    EXPECT_EQ(held(), 60);
    EXPECT_EQ(stops(), 2u);

    std::string pulled = mapping.copyForWindow({{"id", "9"}});
    TraceHeader header{};
    std::memcpy(&header, pulled.data(), sizeof header);
    EXPECT_EQ(header.id, 9u);
    ASSERT_EQ(header.stopsBytes, 2 * sizeof(trace::MappedStop));
    trace::MappedStop const* first = reinterpret_cast<const trace::MappedStop*>(
        pulled.data() + sizeof header + header.headerBytes + header.stagingBytes);
    EXPECT_EQ(first->event, 5u);
    EXPECT_EQ(first->beginNs, 100);
    EXPECT_EQ(first->endNs, 150);
    pulled = mapping.copyForWindow({{"stops", std::to_string(sizeof(trace::MappedStop))}});
    std::memcpy(&header, pulled.data(), sizeof header);
    EXPECT_EQ(header.stopsFrom, sizeof(trace::MappedStop));
    EXPECT_EQ(header.stopsBytes, sizeof(trace::MappedStop));
}

TEST_F(Hold, TheGateIsLeftToTheLibrary) {
    mapping.header().state.store(static_cast<std::uint32_t>(trace::RankState::AtGate));
    clock.stopped(120); // gdb attaches while the rank waits
    EXPECT_TRUE(clock.stoppedByGdb());
    clock.resumed(180, "4");
    EXPECT_EQ(held(), 0);
    EXPECT_EQ(stops(), 0u);
    mapping.header().state.store(static_cast<std::uint32_t>(trace::RankState::Running));
    clock.stopped(200);
    clock.resumed(230, "5");
    EXPECT_EQ(held(), 30);
    EXPECT_EQ(stops(), 1u);
}

TEST_F(Hold, TheLibrarysOwnHoldIsLeftToIt) {
    mapping.header().inHold.store(1);
    clock.stopped(100);
    mapping.header().inHold.store(0);
    clock.resumed(200, "5");
    EXPECT_EQ(held(), 0);
    EXPECT_EQ(stops(), 0u);
}

TEST_F(Hold, RefusedResumeGoesOn) {
    clock.stopped(100);
    clock.resumed(150, "6");
    clock.refused(151, "7"); // of another command
    EXPECT_FALSE(clock.stoppedByGdb());
    clock.refused(152, "6");
    EXPECT_TRUE(clock.stoppedByGdb());
    clock.refused(153, "6");
    clock.ended(160);
    EXPECT_FALSE(clock.stoppedByGdb());
    EXPECT_EQ(held(), 58);
}

TEST_F(Hold, EventsThatCountTheSpanStandBeforeIt) {
    at(5);
    clock.stopped(100);
    at(9); // gdb has died and the rank ran on: these four have the span in their times
    clock.ended(200);
    ASSERT_EQ(stops(), 1u);
    const std::string pulled = mapping.copyForWindow({});
    TraceHeader header{};
    std::memcpy(&header, pulled.data(), sizeof header);
    trace::MappedStop const* stop = reinterpret_cast<const trace::MappedStop*>(
        pulled.data() + sizeof header + header.headerBytes + header.stagingBytes);
    EXPECT_EQ(stop->event, 9u);
    EXPECT_EQ(stop->beginNs, 100);
    EXPECT_EQ(stop->endNs, 200);
}

TEST_F(Hold, FullStopRegion) {
    for (std::uint32_t i = 0; i < trace::kMaxStops; ++i) {
        EXPECT_TRUE(mapping.appendStop(i, i, i + 1));
    }
    EXPECT_FALSE(mapping.appendStop(1, 2, 3));
    const std::string pulled = mapping.copyForWindow({});
    TraceHeader header{};
    std::memcpy(&header, pulled.data(), sizeof header);
    EXPECT_EQ(header.stopsBytes, trace::kMaxStops * sizeof(trace::MappedStop));
}

TEST(MappingFile, EnvironmentPathHasAlwaysTheSameLength) {
    Mapping mapping;
    ASSERT_FALSE(mapping.create("", 3).has_value());
    EXPECT_EQ(::access(mapping.environmentPath().c_str(), R_OK | W_OK), 0) << mapping.environmentPath();
    EXPECT_EQ(mapping.environmentPath().find("/fd/"), 16u);
}

TEST(MappingFile, MissingDirectoryIsNamed) {
    Mapping mapping;
    const auto fault = mapping.create("/nonexistent/place", 3);
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->code, "mapping");
    EXPECT_NE(fault->text.find("/nonexistent/place"), std::string::npos);
    EXPECT_NE(fault->text.find("No such file"), std::string::npos);
    EXPECT_FALSE(fault->remedy.empty());
}

} // namespace
} // namespace stopline::agent
