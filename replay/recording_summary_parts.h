// Parts of the summary of a recording. Inside of it.
#pragma once

#include "timeline.h"
#include "words.h"

#include <QString>
#include <QStringList>
#include <QVector>

#include <functional>
#include <vector>

namespace stopline::replay {

struct RecordingFile;

/// "rank 3", "ranks 0-3,7".
template <typename Number>
[[nodiscard]] QString ranksInWords(const std::vector<Number>& ranks) {
    QVector<int> numbers;
    for (const auto rank : ranks) {
        numbers << static_cast<int>(rank);
    }
    return (numbers.size() == 1 ? QStringLiteral("rank %1") : QStringLiteral("ranks %1")).arg(rankSetText(numbers));
}

/// The races of a timeline, those of one line of the program together, and what a trace needs to repeat the run. `where`
/// names the line of a call; empty: it is not known.
[[nodiscard]] QStringList racesByLine(const Timeline& timeline, const std::function<QString(CallRef)>& where);

/// What the ranks have found out about races themselves while the job ran, and how much of the order a replay is told then;
/// nothing where they were not asked to, or have not come to the end.
[[nodiscard]] QStringList foundWhileItRan(const Timeline& timeline, const RecordingFile& file);

} // namespace stopline::replay
