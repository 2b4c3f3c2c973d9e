// The watched expressions of each program, remembered in the settings.
#pragma once

#include <QStringList>

namespace stopline::app {

inline constexpr int kMostWatchedPrograms = 50;

/// `program`: the path of its file. Those of no program, or one never watched: none.
[[nodiscard]] QStringList watchesOf(const QString& program);
/// Moves the program to the front of those remembered; one without expressions is forgotten.
void rememberWatches(const QString& program, const QStringList& expressions);

} // namespace stopline::app
