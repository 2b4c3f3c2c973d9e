// A value or an error that can be shown to the user.
#pragma once

#include <QString>

#include <optional>
#include <utility>

namespace stopline {

enum class ErrorCode {
    None,
    GdbError,    ///< gdb answered ^error
    GdbDied,     ///< gdb has exited or its connection is gone
    TimedOut,    ///< no answer before the deadline; a late one is dropped
    Cancelled,
    BadAnswer,   ///< the answer could not be understood
    NotStopped,  ///< the request needs a stopped rank
    Unavailable, ///< rank gone, no symbols, no such frame
};

struct Error {
    ErrorCode code = ErrorCode::None;
    QString text; ///< for the user: names the thing and, where there is one, the remedy
};

/// Holds a T or an Error; never both.
template <typename T>
class Result {
  public:
    Result(T value) : m_value(std::move(value)) {}
    Result(Error error) : m_error(std::move(error)) {}
    [[nodiscard]] bool ok() const { return m_value.has_value(); }
    explicit operator bool() const { return ok(); }
    [[nodiscard]] const T& value() const { return *m_value; }
    [[nodiscard]] T& value() { return *m_value; }
    [[nodiscard]] const Error& error() const { return m_error; }

  private:
    std::optional<T> m_value;
    Error m_error;
};

struct Unit {};
using Status = Result<Unit>;

} // namespace stopline
