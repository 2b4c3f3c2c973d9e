// The launches of the past, remembered in the settings.
#pragma once

#include "../replay/session.h"

#include <QJsonObject>
#include <QVector>

namespace stopline::app {

inline constexpr int kMostLaunches = 12;

[[nodiscard]] QVector<replay::LaunchSpec> recentLaunches(); ///< newest first
void rememberLaunch(const replay::LaunchSpec& spec);        ///< moves an equal one to the front

[[nodiscard]] QJsonObject launchToJson(const replay::LaunchSpec& spec);
[[nodiscard]] replay::LaunchSpec launchFromJson(const QJsonObject& object);
/// The command line as a user would type it, quoted where needed.
[[nodiscard]] QString launchText(const replay::LaunchSpec& spec);
/// Words joined so that splitShellWords() takes them apart again; quoted as a shell needs it.
[[nodiscard]] QString joinWords(const QStringList& words);
/// Splits as a shell does: 'as it is', "with \" and \\" in it", backslash before a single character.
[[nodiscard]] QStringList splitShellWords(const QString& text);

} // namespace stopline::app
