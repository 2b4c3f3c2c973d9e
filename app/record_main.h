// `stopline record`: runs a job without a debugger, writes its recording.
#pragma once

#include "command_line.h"

namespace stopline::app {

/// Needs a QCoreApplication; the exit code of the program: the job's, 128 + signal where the launcher died of
/// one, 1 where the job ended well and the file could not be written, 2 where it could not be started.
int runRecord(const CommandLine& line);

} // namespace stopline::app
