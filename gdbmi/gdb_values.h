// MI values to the types of gdb_session.h. Strings of gdb end here.
#pragma once

#include "gdb_session.h"
#include "mi_record.h"

#include <QString>
#include <QVector>

#include <string>

namespace stopline::mi {

/// gdb's bytes as text; bytes that are no UTF-8 become replacement characters.
[[nodiscard]] QString toText(const std::string& bytes);

[[nodiscard]] Frame toFrame(const Value& frame);
/// The breakpoint of a `bkpt={…}`; the place is its first location's.
[[nodiscard]] Breakpoint toBreakpoint(const Value& breakpoint);
/// Of a *stopped record.
[[nodiscard]] StopEvent toStopEvent(const Record& record);
[[nodiscard]] Thread toThread(const Value& thread);
[[nodiscard]] bool isExit(StopCause cause);

} // namespace stopline::mi
