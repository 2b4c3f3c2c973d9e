// The MI parser, from the grammar.
#include "../../../gdbmi/mi_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stopline::mi {
namespace {

std::vector<Record> feedAll(LineReader& reader, std::string_view bytes) {
    std::vector<Record> records;
    reader.feed(bytes, [&](Record&& record) { records.push_back(std::move(record)); });
    return records;
}

std::string stream(std::string_view inside) {
    const Record record = parseLine("~\"" + std::string(inside) + "\"");
    EXPECT_EQ(record.type, RecordType::ConsoleStream) << record.error;
    return record.text;
}

TEST(MiParser, ResultClasses) {
    const std::vector<std::pair<const char*, ResultClass>> cases{
        {"^done", ResultClass::Done},           {"^running", ResultClass::Running},
        {"^connected", ResultClass::Connected}, {"^error", ResultClass::Error},
        {"^exit", ResultClass::Exit},
    };
    for (const auto& [line, expected] : cases) {
        const Record record = parseLine(line);
        EXPECT_EQ(record.type, RecordType::Result) << line;
        EXPECT_EQ(record.resultClass, expected) << line;
        EXPECT_FALSE(record.token.has_value());
    }
    const Record record = parseLine("18446744073709551615^done");
    ASSERT_TRUE(record.token.has_value());
    EXPECT_EQ(*record.token, 18446744073709551615u);
}

TEST(MiParser, AsyncRecords) {
    Record record = parseLine("*stopped,reason=\"breakpoint-hit\",frame={func=\"main\",args=[],line=\"7\"}");
    EXPECT_EQ(record.type, RecordType::ExecAsync);
    EXPECT_EQ(record.name, "stopped");
    EXPECT_EQ(record["frame"]["func"].text(), "main");
    EXPECT_EQ(record["frame"]["line"].toInt(), 7);
    EXPECT_EQ(record["frame"]["args"].kind(), Value::Kind::List);
    EXPECT_EQ(record["frame"]["args"].size(), 0u);
    record = parseLine("=thread-created,id=\"1\",group-id=\"i1\"");
    EXPECT_EQ(record.type, RecordType::NotifyAsync);
    EXPECT_EQ(record["group-id"].text(), "i1");
    EXPECT_EQ(parseLine("12+download,{section=\".text\"}").type, RecordType::StatusAsync);
}

TEST(MiParser, Streams) {
    EXPECT_EQ(parseLine("~\"a\"").type, RecordType::ConsoleStream);
    EXPECT_EQ(parseLine("@\"a\"").type, RecordType::TargetStream);
    EXPECT_EQ(parseLine("&\"a\"").type, RecordType::LogStream);
    EXPECT_EQ(parseLine("&\"a\"").text, "a");
    EXPECT_EQ(parseLine("~\"\"").text, "");
}

TEST(MiParser, Prompts) {
    EXPECT_EQ(parseLine("(gdb)").type, RecordType::Prompt);
    EXPECT_EQ(parseLine("(gdb) ").type, RecordType::Prompt);
    EXPECT_EQ(parseLine("(gdb) x").type, RecordType::Malformed);
}

TEST(MiParser, Escapes) {
    EXPECT_EQ(stream(R"(a\nb\tc\rd\\e\"f\'g\?)"), "a\nb\tc\rd\\e\"f'g?");
    EXPECT_EQ(stream(R"(\a\b\e\f\v)"), "\a\b\033\f\v");
    EXPECT_EQ(stream(R"(caf\303\251)"), "caf\xc3\xa9");
    EXPECT_EQ(stream(R"(\0)"), std::string(1, '\0'));
    EXPECT_EQ(stream(R"(\0001)"), std::string("\0001", 2));
    EXPECT_EQ(stream(R"(\18)"), "\001"
                                "8");
    EXPECT_EQ(stream(R"(\3777)"), "\xff"
                                  "7");
    EXPECT_EQ(stream(R"(\400)"), "\040"
                                 "0")
        << "a byte has no more";
    EXPECT_EQ(stream(R"(\x41\xfg\xC3\xA9z)"), "A\x0fg\xc3\xa9z");
    EXPECT_EQ(stream(R"(\q)"), "q");
    EXPECT_EQ(stream("raw \xc3\xa9"), "raw \xc3\xa9");
}

TEST(MiParser, ValuesOfEveryShape) {
    const Record record =
        parseLine(R"(3^done,a="1",b={},c=[],d={x="2",y=["p","q"]},e=[k="3",k="4"],f=[{g="5"},[]])");
    ASSERT_EQ(record.type, RecordType::Result) << record.error;
    EXPECT_EQ(record.results.size(), 6u);
    EXPECT_EQ(record["b"].kind(), Value::Kind::Tuple);
    EXPECT_EQ(record["c"].kind(), Value::Kind::List);
    EXPECT_EQ(record["d"]["y"].at(1).text(), "q");
    EXPECT_EQ(record["e"].at(0).name(), "k");
    EXPECT_EQ(record["e"].at(1).text(), "4");
    EXPECT_EQ(record["f"].at(0)["g"].text(), "5");
    EXPECT_EQ(record["f"].at(1).kind(), Value::Kind::List);
}

TEST(MiParser, WhatIsNotThereIsNull) {
    const Record record = parseLine("^done,a={b=\"1\"}");
    const Value& nothing = record["x"]["y"].at(7)["z"];
    EXPECT_TRUE(nothing.isNull());
    EXPECT_EQ(nothing.text(), "");
    EXPECT_EQ(nothing.size(), 0u);
    EXPECT_EQ(nothing.toInt(-3), -3);
    EXPECT_FALSE(nothing.toUnsigned().has_value());
    EXPECT_TRUE(record["a"]["b"]["c"].isNull());
}

TEST(MiParser, BracketsAndQuotesInsideStrings) {
    const Record record = parseLine(R"(^done,value="{x = 1, s = \"},]\", c = 44 ','}",next="n")");
    EXPECT_EQ(record["value"].text(), R"({x = 1, s = "},]", c = 44 ','})");
    EXPECT_EQ(record["next"].text(), "n");
}

TEST(MiParser, NamelessValuesOfOlderGdbs) {
    const Record record =
        parseLine(R"(^done,bkpt={number="1",addr="<MULTIPLE>"},{number="1.1"},{number="1.2"})");
    ASSERT_EQ(record.type, RecordType::Result) << record.error;
    EXPECT_EQ(record.results.size(), 3u);
    EXPECT_EQ(record.results[2]["number"].text(), "1.2");
    EXPECT_EQ(parseLine(R"(^done,script={"print 1","print 2"})")["script"].at(1).text(), "print 2");
}

TEST(MiParser, Numbers) {
    const Record record = parseLine(
        R"(^done,a="12",b="0x7fFF",c="-4",d="0xffffffffffffffff",e="0x1ffffffffffffffff",f="12x",g="",h="0x",i="4294967296")");
    EXPECT_EQ(record["a"].toUnsigned(), 12u);
    EXPECT_EQ(record["b"].toUnsigned(), 0x7fffu);
    EXPECT_EQ(record["c"].toInt(), -4);
    EXPECT_FALSE(record["c"].toUnsigned().has_value());
    EXPECT_EQ(record["d"].toUnsigned(), ~std::uint64_t{0});
    for (const char* bad : {"e", "f", "g", "h"}) {
        EXPECT_FALSE(record[bad].toUnsigned().has_value()) << bad;
        EXPECT_EQ(record[bad].toInt(5), 5) << bad;
    }
    EXPECT_EQ(record["i"].toInt(5), 5) << "does not fit";
}

TEST(MiParser, MalformedLinesSayWhatAndWhere) {
    const std::vector<std::pair<const char*, const char*>> cases{
        {"hello world", "must start with"},
        {"12", "must start with"},
        {"99999999999999999999^done", "token too large"},
        {"^", "class is missing"},
        {"^perhaps", "unknown result class"},
        {"^done,", "a value is missing"},
        {"^done x", "expected a comma"},
        {"^done,a", "expected ="},
        {"^done,a=", "a value is missing"},
        {"^done,a=b", "a value must start with"},
        {"^done,a=\"b", "not closed"},
        {"^done,a=\"b\\", "backslash"},
        {"^done,a=\"\\xg\"", "hexadecimal"},
        {"^done,a={b=\"1\"", "tuple is not closed"},
        {"^done,a=[\"1\"", "list is not closed"},
        {"^done,a={b=\"1\"]", "expected a comma or"},
        {"^done,a=[\"1\",]", "must start with"},
        {"~abc", "must be a string"},
        {"~\"a\"b", "after the end"},
        {"5~\"a\"", "no token"},
    };
    for (const auto& [line, problem] : cases) {
        const Record record = parseLine(line);
        EXPECT_EQ(record.type, RecordType::Malformed) << line;
        EXPECT_NE(record.error.find(problem), std::string::npos) << line << ": " << record.error;
        EXPECT_NE(record.error.find(" at column "), std::string::npos) << record.error;
        EXPECT_EQ(record.text, line);
        EXPECT_TRUE(record.results.empty());
    }
}

TEST(MiParser, DepthHasALimit) {
    const auto nested = [](int depth) {
        return "^done,a=" + std::string(static_cast<std::size_t>(depth), '[') +
               std::string(static_cast<std::size_t>(depth), ']');
    };
    EXPECT_EQ(parseLine(nested(kMaxDepth)).type, RecordType::Result);
    EXPECT_EQ(parseLine(nested(kMaxDepth + 1)).type, RecordType::Malformed);
    EXPECT_EQ(parseLine(nested(2000000)).type, RecordType::Malformed);
}

TEST(MiParser, GoesOnAfterABadLine) {
    LineReader reader;
    const auto records = feedAll(reader, "1^done\nrubbish {{{\n\r\n2^done,x=\"\n3^done\r\n(gdb) \n");
    ASSERT_EQ(records.size(), 5u);
    EXPECT_EQ(records[0].token, 1u);
    EXPECT_EQ(records[1].type, RecordType::Malformed);
    EXPECT_EQ(records[2].type, RecordType::Malformed);
    EXPECT_EQ(records[3].token, 3u);
    EXPECT_EQ(records[4].type, RecordType::Prompt);
}

TEST(MiParser, AnyCutOfTheStreamGivesTheSame) {
    const std::string bytes = "=a,b=\"c\\303\\251\"\r\n~\"x\\n\"\n7^done,v={w=[\"1\",\"2\"]}\nbad\n(gdb) \n";
    LineReader whole;
    const auto expected = feedAll(whole, bytes);
    ASSERT_EQ(expected.size(), 5u);
    for (std::size_t size = 1; size < bytes.size(); ++size) {
        LineReader reader;
        std::vector<Record> records;
        for (std::size_t at = 0; at < bytes.size(); at += size) {
            for (Record& record : feedAll(reader, std::string_view(bytes).substr(at, size))) {
                records.push_back(std::move(record));
            }
        }
        ASSERT_EQ(records.size(), expected.size()) << size;
        for (std::size_t i = 0; i < records.size(); ++i) {
            EXPECT_EQ(records[i].type, expected[i].type);
            EXPECT_EQ(records[i].text, expected[i].text);
            EXPECT_EQ(records[i].token, expected[i].token);
        }
    }
}

TEST(MiParser, LastLineWithoutEnd) {
    LineReader reader;
    EXPECT_TRUE(feedAll(reader, "4^exit").empty());
    std::vector<Record> records;
    reader.finish([&](Record&& record) { records.push_back(std::move(record)); });
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].resultClass, ResultClass::Exit);
}

TEST(MiParser, TooLongLinesAreReportedOnceAndSkipped) {
    LineReader reader(10);
    auto records = feedAll(reader, "0123456789");
    EXPECT_TRUE(records.empty());
    records = feedAll(reader, "0123");
    EXPECT_TRUE(records.empty());
    records = feedAll(reader, std::string(100000, 'x') + "\n1^done\n");
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].type, RecordType::Malformed);
    EXPECT_NE(records[0].error.find("longer than 10 bytes"), std::string::npos);
    EXPECT_LE(records[0].text.size(), kMalformedTextBytes);
    EXPECT_EQ(records[1].token, 1u);
    records = feedAll(reader, "~\"123456789\"\n2^done\n");
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].type, RecordType::Malformed);
    EXPECT_EQ(records[1].token, 2u);
}

TEST(MiParser, QuotingIsTheInverseOfParsing) {
    std::string every;
    for (int byte = 0; byte < 256; ++byte) {
        every += static_cast<char>(byte);
    }
    const Record record = parseLine("~" + quote(every));
    EXPECT_EQ(record.text, every);
    EXPECT_EQ(quote(every).find('\n'), std::string::npos);
    EXPECT_EQ(quote("a \"b\" \\c"), R"("a \"b\" \\c")");
}

} // namespace
} // namespace stopline::mi
