// The command lines of `stopline record`, `info` and `export`. (`open` takes the window's options before it.)
#pragma once

#include "command_line.h"

#include <QStringList>

#include <optional>

namespace stopline::app {

/// Nothing when the first word names none of them. A program of such a name is given with a path: ./record.
[[nodiscard]] std::optional<CommandLine> parseSubcommand(const QStringList& arguments);

} // namespace stopline::app
