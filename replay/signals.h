// Signals that end or stop a rank.
#pragma once

#include <QString>

namespace stopline {

/// "SIGKILL"; "signal 40" for one without a name.
[[nodiscard]] QString signalName(int signal);
/// The inverse, as gdb writes them; -1: none of this system's.
[[nodiscard]] int signalOfName(const QString& name);
/// "killed by SIGKILL (Killed)"
[[nodiscard]] QString killedText(int signal);
/// "ended with the job": of a rank that lived until then
[[nodiscard]] QString endedWithJobText();
/// What a process does wrong itself, so that it happens again when it does the same again. Others mostly come from
/// outside: from a launcher, a user, a limit of the machine.
[[nodiscard]] bool isOwnFault(int signal);

} // namespace stopline
