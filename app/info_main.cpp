#include "batch.h"
#include "recording_mains.h"

#include "../replay/recording_summary.h"

#include <cstdio>

namespace stopline::app {

int runInfo(const CommandLine& line) {
    replay::LoadedRecording loaded;
    if (const QString wrong = replay::loadRecording(line.openFile, loaded, nullptr, line.historyEvents, replay::Tallied::Yes); !wrong.isEmpty()) {
        std::fprintf(stderr, "stopline: %s\n", qPrintable(wrong));
        return kScriptFailed;
    }
    for (const QString& text : replay::summaryLines(loaded)) {
        std::fprintf(stdout, "%s\n", text.toUtf8().constData());
    }
    return std::fflush(stdout) == 0 ? kScriptOk : kScriptFailed;
}

} // namespace stopline::app
