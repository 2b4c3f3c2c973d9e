#include "mi_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace stopline::mi {

namespace {

constexpr bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

constexpr bool isOctal(char c) {
    return c >= '0' && c <= '7';
}

constexpr int hexDigit(char c) {
    if (isDigit(c)) {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

constexpr bool isNameByte(char c) {
    return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
}

ResultClass resultClassOf(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, ResultClass>, 5> kClasses{{
        {"done", ResultClass::Done},
        {"running", ResultClass::Running},
        {"connected", ResultClass::Connected},
        {"error", ResultClass::Error},
        {"exit", ResultClass::Exit},
    }};
    for (const auto& [known, value] : kClasses) {
        if (known == name) {
            return value;
        }
    }
    return ResultClass::None;
}

} // namespace

/// One line. Each parse function advances m_at and returns false after setting m_problem.
class LineParser {
  public:
    explicit LineParser(std::string_view line) : m_line(line) {}

    Record parse() {
        Record record;
        if (!parseRecord(record)) {
            Record bad;
            bad.type = RecordType::Malformed;
            bad.text = m_line.substr(0, kMalformedTextBytes);
            bad.error = std::string(m_problem) + " at column " + std::to_string(m_at + 1);
            return bad;
        }
        return record;
    }

  private:
    bool fail(const char* problem) {
        m_problem = problem;
        return false;
    }
    [[nodiscard]] bool atEnd() const { return m_at >= m_line.size(); }
    [[nodiscard]] char peek() const { return atEnd() ? '\0' : m_line[m_at]; }

    bool parseRecord(Record& record) {
        if (m_line.starts_with("(gdb)") && m_line.find_first_not_of(' ', 5) == std::string_view::npos) {
            record.type = RecordType::Prompt;
            return true;
        }
        const std::size_t tokenStart = m_at;
        while (isDigit(peek())) {
            ++m_at;
        }
        if (m_at > tokenStart) {
            std::uint64_t token = 0;
            const auto [stop, failure] =
                std::from_chars(m_line.data() + tokenStart, m_line.data() + m_at, token);
            if (failure != std::errc{}) {
                return fail("token too large");
            }
            record.token = token;
        }
        if (atEnd()) {
            return fail("a record must start with one of ^ * + = ~ @ &");
        }
        switch (m_line[m_at++]) {
        case '^':
            return parseAfterMark(record, RecordType::Result);
        case '*':
            return parseAfterMark(record, RecordType::ExecAsync);
        case '+':
            return parseAfterMark(record, RecordType::StatusAsync);
        case '=':
            return parseAfterMark(record, RecordType::NotifyAsync);
        case '~':
            return parseStream(record, RecordType::ConsoleStream);
        case '@':
            return parseStream(record, RecordType::TargetStream);
        case '&':
            return parseStream(record, RecordType::LogStream);
        default:
            --m_at;
            return fail("a record must start with one of ^ * + = ~ @ &");
        }
    }

    bool parseStream(Record& record, RecordType type) {
        record.type = type;
        if (record.token) {
            return fail("a stream has no token");
        }
        if (peek() != '"') {
            return fail("a stream must be a string");
        }
        ++m_at;
        if (!parseString(record.text)) {
            return false;
        }
        return atEnd() || fail("text after the end of the stream's string");
    }

    bool parseAfterMark(Record& record, RecordType type) {
        record.type = type;
        if (!parseName(record.name)) {
            return fail("the record's class is missing");
        }
        if (type == RecordType::Result) {
            record.resultClass = resultClassOf(record.name);
            if (record.resultClass == ResultClass::None) {
                return fail("unknown result class");
            }
        }
        while (!atEnd()) {
            if (peek() != ',') {
                return fail("expected a comma");
            }
            ++m_at;
            if (!parseNamedOrBare(record.results.emplace_back(), 0)) {
                return false;
            }
        }
        return true;
    }

    bool parseName(std::string& name) {
        const std::size_t start = m_at;
        while (!atEnd() && isNameByte(m_line[m_at])) {
            ++m_at;
        }
        name = m_line.substr(start, m_at - start);
        return m_at > start;
    }

    bool parseNamedOrBare(Value& value, int depth) {
        if (isNameByte(peek())) {
            parseName(value.m_name);
            if (peek() != '=') {
                return fail("expected = after a name");
            }
            ++m_at;
        }
        return parseValue(value, depth);
    }

    bool parseValue(Value& value, int depth) {
        if (atEnd()) {
            return fail("a value is missing");
        }
        switch (m_line[m_at++]) {
        case '"':
            value.m_kind = Value::Kind::String;
            return parseString(value.m_text);
        case '{':
            value.m_kind = Value::Kind::Tuple;
            return parseChildren(value, '}', depth + 1);
        case '[':
            value.m_kind = Value::Kind::List;
            return parseChildren(value, ']', depth + 1);
        default:
            --m_at;
            return fail("a value must start with one of \" { [");
        }
    }

    bool parseChildren(Value& value, char close, int depth) {
        if (depth > kMaxDepth) {
            return fail("nested too deeply");
        }
        if (peek() == close) {
            ++m_at;
            return true;
        }
        for (;;) {
            if (!parseNamedOrBare(value.m_children.emplace_back(), depth)) {
                return false;
            }
            if (atEnd()) {
                return fail(close == '}' ? "a tuple is not closed" : "a list is not closed");
            }
            const char c = m_line[m_at++];
            if (c == close) {
                return true;
            }
            if (c != ',') {
                --m_at;
                return fail("expected a comma or the closing bracket");
            }
        }
    }

    /// After the opening quote. Plain stretches are appended whole.
    bool parseString(std::string& text) {
        for (;;) {
            const std::size_t start = m_at;
            while (!atEnd() && m_line[m_at] != '"' && m_line[m_at] != '\\') {
                ++m_at;
            }
            text.append(m_line, start, m_at - start);
            if (atEnd()) {
                return fail("a string is not closed");
            }
            if (m_line[m_at++] == '"') {
                return true;
            }
            if (!parseEscape(text)) {
                return false;
            }
        }
    }

    bool parseEscape(std::string& text) {
        if (atEnd()) {
            return fail("a string ends in a backslash");
        }
        const char c = m_line[m_at++];
        switch (c) {
        case 'a':
            text += '\a';
            return true;
        case 'b':
            text += '\b';
            return true;
        case 'e':
            text += '\033';
            return true;
        case 'f':
            text += '\f';
            return true;
        case 'n':
            text += '\n';
            return true;
        case 'r':
            text += '\r';
            return true;
        case 't':
            text += '\t';
            return true;
        case 'v':
            text += '\v';
            return true;
        case 'x':
            return parseHex(text);
        default:
            break;
        }
        if (!isOctal(c)) {
            text += c; // \\ \" \' \? and, as compilers do, any other byte for itself
            return true;
        }
        int byte = c - '0';
        for (int more = 0; more < 2 && isOctal(peek()) && byte * 8 + (peek() - '0') <= 0xff; ++more) {
            byte = byte * 8 + (m_line[m_at++] - '0');
        }
        text += static_cast<char>(byte);
        return true;
    }

    /// At most two digits: a byte. C would take all that follow, which no debugger writes.
    bool parseHex(std::string& text) {
        int byte = hexDigit(peek());
        if (byte < 0) {
            return fail("\\x without a hexadecimal digit");
        }
        ++m_at;
        if (const int low = hexDigit(peek()); low >= 0) {
            byte = byte * 16 + low;
            ++m_at;
        }
        text += static_cast<char>(byte);
        return true;
    }

    std::string_view m_line;
    std::size_t m_at = 0;
    const char* m_problem = "";
};

Record parseLine(std::string_view line) {
    return LineParser(line).parse();
}

std::string quote(std::string_view text) {
    std::string quoted;
    quoted.reserve(text.size() + 2);
    quoted += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (c == '\n') {
            quoted += "\\n";
        } else if (byte < 0x20 || byte == 0x7f) {
            quoted += '\\';
            quoted += static_cast<char>('0' + (byte >> 6));
            quoted += static_cast<char>('0' + ((byte >> 3) & 7));
            quoted += static_cast<char>('0' + (byte & 7));
        } else {
            quoted += c;
        }
    }
    quoted += '"';
    return quoted;
}

void LineReader::keep(std::string_view part) {
    const std::size_t room = m_maxLineBytes - m_kept.size();
    if (part.size() > room) {
        m_tooLong = true;
        part = part.substr(0, room);
    }
    if (m_tooLong) {
        m_kept.append(part.substr(0, kMalformedTextBytes)); // only the start is ever shown
        m_kept.resize(std::min(m_kept.size(), kMalformedTextBytes));
        return;
    }
    m_kept.append(part);
}

Record LineReader::tooLong(std::string_view line) const {
    Record record;
    record.type = RecordType::Malformed;
    record.text = line.substr(0, kMalformedTextBytes);
    record.error = "line longer than " + std::to_string(m_maxLineBytes) + " bytes";
    return record;
}

} // namespace stopline::mi
