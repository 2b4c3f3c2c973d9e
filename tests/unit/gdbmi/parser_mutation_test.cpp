// The parser on recorded conversations, whole and damaged.
#include "../../../gdbmi/mi_parser.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace stopline::mi {
namespace {

std::vector<std::string> receivedLines() {
    std::vector<std::string> lines;
    for (const auto& entry : std::filesystem::directory_iterator(TRANSCRIPTS)) {
        std::ifstream file(entry.path());
        std::string line;
        while (std::getline(file, line)) {
            if (line.starts_with("< ")) {
                lines.push_back(line.substr(2));
            }
        }
    }
    return lines;
}

/// The record as MI again. What parses must give itself back.
void write(std::string& out, const Value& value) {
    if (!value.name().empty()) {
        out += value.name() + '=';
    }
    if (value.kind() == Value::Kind::String) {
        out += quote(value.text());
        return;
    }
    const bool tuple = value.kind() == Value::Kind::Tuple;
    out += tuple ? '{' : '[';
    for (std::size_t i = 0; i < value.size(); ++i) {
        out += i ? "," : "";
        write(out, value.at(i));
    }
    out += tuple ? '}' : ']';
}

std::string written(const Record& record) {
    static const std::map<RecordType, char> kMarks{
        {RecordType::Result, '^'},      {RecordType::ExecAsync, '*'},     {RecordType::StatusAsync, '+'},
        {RecordType::NotifyAsync, '='}, {RecordType::ConsoleStream, '~'}, {RecordType::TargetStream, '@'},
        {RecordType::LogStream, '&'}};
    if (record.type == RecordType::Prompt) {
        return "(gdb) ";
    }
    std::string out = record.token ? std::to_string(*record.token) : std::string();
    out += kMarks.at(record.type);
    if (record.name.empty()) {
        return out + quote(record.text);
    }
    out += record.name;
    for (const Value& value : record.results) {
        out += ',';
        write(out, value);
    }
    return out;
}

TEST(MiTranscripts, EveryRecordedLineParses) {
    const auto lines = receivedLines();
    ASSERT_GT(lines.size(), 500u);
    for (const std::string& line : lines) {
        const Record record = parseLine(line);
        ASSERT_NE(record.type, RecordType::Malformed) << record.error << ": " << line;
        const Record again = parseLine(written(record));
        EXPECT_EQ(written(again), written(record)) << line;
        if (line.find('\\') == std::string::npos) {
            EXPECT_EQ(written(record), line) << "something of the line was lost";
        }
    }
}

TEST(MiTranscripts, DamagedLinesNeverBreakTheParser) {
    const auto lines = receivedLines();
    ASSERT_FALSE(lines.empty());
    std::mt19937 random(20010917); // the same damage each time
    const std::string marks = "\"\\{}[],=^*+~@&()0x\n\r";
    const auto pick = [&](std::size_t below) { return random() % below; };
    int malformed = 0;
    int good = 0;
    for (int round = 0; round < 60000; ++round) {
        std::string line = lines[pick(lines.size())];
        const std::size_t edits = 1 + pick(4);
        for (std::size_t edit = 0; edit < edits && !line.empty(); ++edit) {
            const std::size_t at = pick(line.size());
            switch (pick(5)) {
            case 0:
                line[at] = static_cast<char>(pick(256));
                break;
            case 1:
                line[at] = marks[pick(marks.size())];
                break;
            case 2:
                line.insert(at, 1, marks[pick(marks.size())]);
                break;
            case 3:
                line.erase(at, 1 + pick(8));
                break;
            default:
                line.resize(at);
            }
        }
        LineReader reader;
        const std::size_t cut = line.empty() ? 0 : pick(line.size());
        const auto sink = [&](Record&& record) {
            if (record.type == RecordType::Malformed) {
                ++malformed;
                EXPECT_FALSE(record.error.empty());
                return;
            }
            ++good;
            const Record again = parseLine(written(record));
            EXPECT_NE(again.type, RecordType::Malformed) << again.error;
            EXPECT_EQ(written(again), written(record));
        };
        reader.feed(std::string_view(line).substr(0, cut), sink);
        reader.feed(std::string_view(line).substr(cut), sink);
        reader.feed("\n", sink);
        bool next = false;
        reader.feed("31^done\n", [&](Record&& record) {
            next = record.type == RecordType::Result && record.token == std::uint64_t{31};
        });
        ASSERT_TRUE(next) << "the line after a damaged one was not read: " << line;
    }
    EXPECT_GT(malformed, 1000);
    EXPECT_GT(good, 1000);
}

} // namespace
} // namespace stopline::mi
