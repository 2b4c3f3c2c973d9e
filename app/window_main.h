// Runs the window until it is closed.
#pragma once

#include "command_line.h"

namespace stopline::app {

/// Makes the application object; answers the exit code of the program. Says so when there is no display.
int runWindow(char* programName, const CommandLine& line);

} // namespace stopline::app
