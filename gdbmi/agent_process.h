// Questions to /proc about the rank, and cleaning up what a killed launcher leaves.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace stopline::agent {

/// Descriptor of a process, close-on-exec; -1 when there is no such process. (The C library's own
/// declarations of these calls cannot be used from C++ everywhere.)
[[nodiscard]] int openPidfd(pid_t pid);
void killByPidfd(int pidfd); ///< SIGKILL; async-signal-safe

/// True when the process is gone or every one of its threads has ended. A traced process stays a zombie until
/// its debugger asks, and its leader alone may have ended while other threads run.
[[nodiscard]] bool hasEnded(pid_t pid);
/// Wait status of an ended process that nobody has waited for yet; -1 when it is not to be had.
[[nodiscard]] int zombieStatus(pid_t pid);
/// Wait status by a pidfd, also after somebody else has waited (Linux 6.15); -1 when it is not to be had.
[[nodiscard]] int pidfdStatus(int pidfd);
[[nodiscard]] pid_t tracerOf(pid_t pid); ///< 0: none
/// True when the process is a child of this one, a child of a child, and so on.
[[nodiscard]] bool isDescendant(pid_t pid);

/// Kills everybody in the agent's process group except the agent. Does nothing when the group is not the
/// agent's own.
void killOwnGroup();

/// Kills everybody below this process, whatever sessions and groups they have made. Who forks meanwhile is
/// found again; does not wait for their ends. Who has lost its parent is only below this process if this
/// takes orphans (PR_SET_CHILD_SUBREAPER).
void killDescendants();

/// Shared-memory files of MPI that the process has mapped.
[[nodiscard]] std::vector<std::string> mappedSharedFiles(pid_t pid);
/// Removes these and this rank's other shared-memory files. Only for use when the rank has been ended.
void removeSegments(const std::vector<std::string>& sharedFiles);
/// The same with the launcher's session directory. Only for use
/// when the launcher, whose work this is, has been killed. `last`: nobody is going to start the next job at this
/// moment, so that the directory of all jobs may go too: a launcher that starts would miss it.
void removeLauncherFiles(const std::vector<std::string>& sharedFiles, bool last);
/// Has a process of its own do that when the launcher, which may be dying, has ended within 3 s. A launcher
/// that has not been killed has removed its files itself by then.
void removeLauncherFilesLater(pid_t launcher, bool last);

} // namespace stopline::agent
