// What gdb says over GDB/MI, as typed records. Standard C++ only.
//
// The grammar (from gdb's manual, as gdb 13 speaks it):
//   output        = ( out-of-band )* [ result-record ] "(gdb)"
//   result-record = [token] "^" class ( "," result )*
//   async-record  = [token] ( "*" | "+" | "=" ) class ( "," result )*
//   stream-record = ( "~" | "@" | "&" ) c-string
//   result        = name "=" value
//   value         = c-string | "{" [ result ( "," result )* ] "}" | "[" [ ( value | result ) ( "," … )* ] "]"
// Real gdbs also put nameless values in tuples and after the first result (`bkpt={…},{…}`); both are
// accepted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stopline::mi {

/// A value of the MI grammar. Looking something up never fails: what is not there is the null value.
class Value {
  public:
    enum class Kind : std::uint8_t {
        Null,   ///< nothing there
        String, ///< a constant, escapes already resolved; bytes in the program's or gdb's encoding
        Tuple,  ///< results
        List,   ///< values, or results (then they have names)
    };

    [[nodiscard]] Kind kind() const { return m_kind; }
    [[nodiscard]] bool isNull() const { return m_kind == Kind::Null; }
    /// Name of the result this value is of; empty for a bare value.
    [[nodiscard]] const std::string& name() const { return m_name; }
    /// The constant; empty for every other kind.
    [[nodiscard]] const std::string& text() const { return m_text; }
    [[nodiscard]] const std::vector<Value>& children() const { return m_children; }
    [[nodiscard]] std::size_t size() const { return m_children.size(); }

    /// First child of that name, or the null value.
    [[nodiscard]] const Value& operator[](std::string_view childName) const;
    /// The child at that place, or the null value.
    [[nodiscard]] const Value& at(std::size_t index) const;
    /// The constant as a whole decimal or 0x number; nothing if it is anything else or too large.
    [[nodiscard]] std::optional<std::uint64_t> toUnsigned() const;
    /// As toUnsigned with an optional minus; `otherwise` if it is no number or does not fit.
    [[nodiscard]] int toInt(int otherwise = 0) const;

    static const Value& null();

  private:
    friend class LineParser;
    std::string m_name;
    std::string m_text;
    std::vector<Value> m_children;
    Kind m_kind = Kind::Null;
};

enum class RecordType : std::uint8_t {
    Result,        ///< ^  the answer to a request
    ExecAsync,     ///< *  running, stopped
    StatusAsync,   ///< +  progress of a slow operation
    NotifyAsync,   ///< =  something changed
    ConsoleStream, ///< ~  what the command line interface would print
    TargetStream,  ///< @  output of a remote target
    LogStream,     ///< &  gdb's messages about itself
    Prompt,        ///< (gdb)
    Malformed,     ///< a line that is not MI: see text and error
};

enum class ResultClass : std::uint8_t { None, Done, Running, Connected, Error, Exit };

struct Record {
    RecordType type = RecordType::Malformed;
    ResultClass resultClass = ResultClass::None; ///< of a Result
    std::optional<std::uint64_t> token;          ///< as given with the request
    std::string name;                            ///< class as written: "done", "stopped", "library-loaded"
    std::string text;  ///< of a stream; of a Malformed one the line as received (at most kMalformedTextBytes)
    std::string error; ///< of a Malformed one: what is wrong, with the column
    std::vector<Value> results;

    /// First result of that name, or the null value.
    [[nodiscard]] const Value& operator[](std::string_view resultName) const;
};

inline constexpr std::size_t kMalformedTextBytes = 4096;

} // namespace stopline::mi
