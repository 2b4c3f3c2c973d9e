// `stopline info` and `stopline export`.
#pragma once

#include "command_line.h"

namespace stopline::app {

/// Prints what the recording holds; problems of the file are a part of that. 1 when there is nothing to be
/// read.
int runInfo(const CommandLine& line);
/// Writes the recording in another tool's format. Problems of the file go to stderr. 1 when it cannot be
/// done.
int runExport(const CommandLine& line);

} // namespace stopline::app
