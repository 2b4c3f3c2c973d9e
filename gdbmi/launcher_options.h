// The options of MPI launchers and how many words each takes after itself.
#pragma once

#include "launcher.h"

namespace stopline::agent {

/// What an option means to Stopline beyond its number of values.
enum class OptionRole {
    None,
    Ranks,   ///< its value is the number of ranks
    Hosts,   ///< ranks may run on other hosts
    Programs ///< the programs stand in a file: the agent cannot be put before them
};

struct OptionInfo {
    int values = -1; ///< words that follow; -1: unknown option
    OptionRole role = OptionRole::None;
    QString attached; ///< the value where it is part of the word ("-n4", "--ntasks=4")
};

/// `word` as it stands on the command line, with its dashes.
[[nodiscard]] OptionInfo optionInfo(LauncherKind kind, const QString& word);

} // namespace stopline::agent
