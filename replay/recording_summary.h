// What a recording holds, in numbers and as text.
#pragma once

#include "loaded_recording.h"

#include <QString>
#include <QStringList>

namespace stopline::replay {

/// The lines of `stopline info`, made for comparing: the same recording gives the same text, ranks that do
/// the same share a line, and what differs from run to run (times, sizes) stands on lines of its own.
[[nodiscard]] QStringList summaryLines(const LoadedRecording& loaded);

} // namespace stopline::replay
