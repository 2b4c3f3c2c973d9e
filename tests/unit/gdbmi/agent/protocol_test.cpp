#include "../../../../gdbmi/agent_frames.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace stopline::agent {
namespace {

TEST(AgentFields, RoundTripOfEveryByte) {
    std::string all;
    for (int c = 0; c < 256; ++c) {
        all += static_cast<char>(c);
    }
    const Fields fields{{"empty", ""},         {"bytes", all},          {"lines", "a\nb\n\nc\\n\\"},
                        {"spaces", "  x  y "}, {"path", "/a b/c\\d\n"}, {"number", "-12"}};
    EXPECT_EQ(decodeFields(encodeFields(fields)), fields);
    EXPECT_EQ(encodeFields({}), "");
    EXPECT_TRUE(decodeFields("").empty());
}

TEST(AgentFields, IncompleteAndWrongLinesAreLeftOut) {
    EXPECT_EQ(decodeFields("a 1\nnospace\n value\nb 2"), (Fields{{"a", "1"}, {"b", "2"}}));
    EXPECT_EQ(decodeFields("a 1\na 2\n"), (Fields{{"a", "2"}}));
    EXPECT_EQ(decodeFields("a x\\"), (Fields{{"a", "x\\"}}));
}

TEST(AgentFields, Numbers) {
    const Fields fields{{"a", "12"}, {"b", "-1"}, {"c", "12x"}, {"d", ""}, {"e", "18446744073709551615"}};
    EXPECT_EQ(numberField(fields, "a", 5), 12);
    EXPECT_EQ(numberField(fields, "b", 5), -1);
    EXPECT_EQ(numberField(fields, "c", 5), 5);
    EXPECT_EQ(numberField(fields, "d", 5), 5);
    EXPECT_EQ(numberField(fields, "missing", 5), 5);
    EXPECT_EQ(unsignedField(fields, "e", 0), UINT64_MAX);
    EXPECT_EQ(unsignedField(fields, "b", 3), 3u);
    EXPECT_EQ(numberField(fields, "e", 7), 7);
}

TEST(AgentFrames, AnyCutOfTheStreamGivesTheSameFrames) {
    std::mt19937 random(7);
    std::string stream;
    std::vector<std::string> bodies;
    for (int i = 0; i < 200; ++i) {
        std::string body(random() % 3000, '\0');
        for (char& c : body) {
            c = static_cast<char>(random());
        }
        stream += encodeFrame(static_cast<Channel>(1 + i % 9), {1, static_cast<std::uint32_t>(i), 3}, body);
        bodies.push_back(body);
    }
    FrameReader reader;
    std::size_t count = 0;
    Frame frame;
    for (std::size_t at = 0; at < stream.size();) {
        const std::size_t piece = std::min<std::size_t>(1 + random() % 5000, stream.size() - at);
        reader.append(std::string_view(stream).substr(at, piece));
        at += piece;
        while (reader.next(frame)) {
            ASSERT_LT(count, bodies.size());
            EXPECT_EQ(frame.header.rank, count);
            EXPECT_EQ(frame.header.job, 1u);
            EXPECT_EQ(frame.header.incarnation, 3u);
            EXPECT_EQ(frame.channel(), static_cast<Channel>(1 + count % 9));
            EXPECT_EQ(frame.body, bodies[count]);
            ++count;
        }
    }
    EXPECT_EQ(count, bodies.size());
    EXPECT_EQ(reader.error(), "");
}

std::string readOne(std::string bytes, std::uint32_t limit = kMaxFrameBytes) {
    FrameReader reader(limit);
    reader.append(bytes);
    Frame frame;
    EXPECT_FALSE(reader.next(frame));
    const std::string error = reader.error();
    // Nothing more comes, whatever follows.
    reader.append(encodeFrame(Channel::Mi, {}, "x"));
    EXPECT_FALSE(error.empty() ? false : reader.next(frame));
    return error;
}

TEST(AgentFrames, BrokenStreams) {
    std::string good = encodeFrame(Channel::Mi, {}, "hello");
    EXPECT_EQ(readOne(good.substr(0, 10)), "");
    EXPECT_NE(readOne("GET / HTTP/1.1\r\nHost: x\r\n\r\n").find("no frame"), std::string::npos);
    std::string version = good;
    version[2] = 9;
    EXPECT_NE(readOne(version).find("version 9"), std::string::npos);
    std::string channel = good;
    channel[3] = 0;
    EXPECT_NE(readOne(channel).find("channel 0"), std::string::npos);
    channel[3] = 13;
    EXPECT_NE(readOne(channel).find("channel 13"), std::string::npos);
    std::string length = good;
    const std::uint32_t huge = kMaxFrameBytes + 1;
    std::memcpy(length.data() + 16, &huge, 4);
    EXPECT_NE(readOne(length).find("larger"), std::string::npos);
    EXPECT_NE(readOne(good, 4).find("larger"), std::string::npos);
}

TEST(AgentToken, Comparison) {
    EXPECT_TRUE(equalConstantTime("", ""));
    EXPECT_TRUE(equalConstantTime("abc", "abc"));
    EXPECT_FALSE(equalConstantTime("abc", "abd"));
    EXPECT_FALSE(equalConstantTime("abc", ""));
    EXPECT_FALSE(equalConstantTime("", "abc"));
    EXPECT_FALSE(equalConstantTime("ab", "abab"));
    EXPECT_FALSE(equalConstantTime("abab", "ab"));
}

} // namespace
} // namespace stopline::agent
