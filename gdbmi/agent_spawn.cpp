#include "agent_spawn.h"

#include "../tracelib/mapping.h"
#include "agent_process.h"
#include "agent_protocol.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace stopline::agent {
namespace {

enum class ChildStep : int { Randomize = 1, Redirect = 2, Exec = 3 };
struct ChildReport {
    ChildStep step;
    int error;
};

bool hasName(std::string_view entry, std::string_view name) {
    return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

std::vector<std::string> rankEnvironment(const RankStart& start) {
    std::vector<std::string> result;
    std::string preload = start.preload;
    std::string ompiArguments;
    for (std::size_t i = 1; i < start.arguments.size(); ++i) {
        ompiArguments += (i > 1 ? " " : "") + start.arguments[i];
    }
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (hasName(text, kConnectVariable) || hasName(text, kTokenVariable) ||
            hasName(text, trace::kMapVariable) || hasName(text, trace::kSpawnedVariable)) {
            continue;
        }
        if (hasName(text, "LD_PRELOAD")) {
            const std::string_view old = text.substr(std::strlen("LD_PRELOAD="));
            if (!old.empty()) {
                preload += preload.empty() ? "" : ":";
                preload += old;
            }
        } else if (hasName(text, "OMPI_COMMAND")) {
            // The program asks for these through MPI_INFO_ENV: they must name it, not the agent.
            result.push_back("OMPI_COMMAND=" + start.arguments.front());
        } else if (hasName(text, "OMPI_ARGV")) {
            if (!ompiArguments.empty()) {
                result.push_back("OMPI_ARGV=" + ompiArguments);
            }
        } else {
            result.emplace_back(text);
        }
    }
    result.push_back(std::string(trace::kMapVariable) + "=" + start.mapPath);
    if (!start.spawned.empty()) {
        result.push_back(std::string(trace::kSpawnedVariable) + "=" + start.spawned);
    }
    if (!preload.empty()) {
        result.push_back("LD_PRELOAD=" + preload);
    }
    return result;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (const std::string& text : texts) {
        result.push_back(const_cast<char*>(text.c_str()));
    }
    result.push_back(nullptr);
    return result;
}

void closeAll(std::initializer_list<int> descriptors) {
    for (const int fd : descriptors) {
        if (fd >= 0) {
            ::close(fd);
        }
    }
}

/// A terminal like the one behind `model`; ours is the master.
bool openTerminalLike(int model, int& ours, int& theirs) {
    ours = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    char name[128];
    if (ours < 0 || ::grantpt(ours) != 0 || ::unlockpt(ours) != 0 ||
        ::ptsname_r(ours, name, sizeof name) != 0) {
        closeAll({ours});
        return false;
    }
    theirs = ::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (theirs < 0) {
        closeAll({ours});
        return false;
    }
    termios settings{};
    if (::tcgetattr(model, &settings) == 0) {
        ::tcsetattr(theirs, TCSANOW, &settings);
    }
    winsize size{};
    if (::ioctl(model, TIOCGWINSZ, &size) == 0) {
        ::ioctl(theirs, TIOCSWINSZ, &size);
    }
    return true;
}

bool openChannelLike(int model, int& ours, int& theirs) {
    if (::isatty(model) == 1) {
        return openTerminalLike(model, ours, theirs);
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    ours = ends[0];
    theirs = ends[1];
    return true;
}

bool sameFile(int left, int right) {
    struct stat a {};
    struct stat b {};
    return ::fstat(left, &a) == 0 && ::fstat(right, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino && a.st_rdev == b.st_rdev;
}

void setNonBlocking(int fd) {
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/// Dies with the parent, also if the parent has died before the request.
void dieWithParent(pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
        ::_exit(127);
    }
}

[[noreturn]] void runRank(const RankStart& start, pid_t parent, int out, int err, int report,
                          char** arguments, char** environment) {
    const auto tell = [report](ChildStep step) {
        const ChildReport message{step, errno};
        // Nothing can be done about a report that does not arrive.
        [[maybe_unused]] const ssize_t written = ::write(report, &message, sizeof message);
    };
    dieWithParent(parent);
    // Yama lets only ancestors attach; gdb is the agent's child. Harmless where there is no Yama.
    ::prctl(PR_SET_PTRACER, parent, 0, 0, 0);
    if (!start.randomize) {
        const int now = ::personality(0xffffffff);
        if (now == -1 || ::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) == -1) {
            tell(ChildStep::Randomize);
        }
    }
    if (!start.ownOutput && (::dup2(out, STDOUT_FILENO) < 0 || ::dup2(err, STDERR_FILENO) < 0)) {
        tell(ChildStep::Redirect);
        ::_exit(127);
    }
    ::sigprocmask(SIG_SETMASK, &start.signalMask, nullptr);
    ::execvpe(arguments[0], arguments, environment);
    tell(ChildStep::Exec);
    ::_exit(127);
}

} // namespace

std::optional<FaultText> startRank(const RankStart& start, StartedRank& rank) {
    const std::string& program = start.arguments.front();
    const auto fault = [&program](const std::string& what, int error) {
        return FaultText{
            "program-start",
            "\"" + program + "\" could not be started: " + what + ": " + std::strerror(error) + ".", ""};
    };
    int outOurs = -1;
    int outTheirs = -1;
    int errOurs = -1;
    int errTheirs = -1;
    if (!start.ownOutput && !openChannelLike(STDOUT_FILENO, outOurs, outTheirs)) {
        return fault("no channel for its output", errno);
    }
    const bool joined = start.ownOutput || sameFile(STDOUT_FILENO, STDERR_FILENO);
    if (!joined && !openChannelLike(STDERR_FILENO, errOurs, errTheirs)) {
        const int error = errno;
        closeAll({outOurs, outTheirs});
        return fault("no channel for its error output", error);
    }
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0) {
        const int error = errno;
        closeAll({outOurs, outTheirs, errOurs, errTheirs});
        return fault("pipe", error);
    }
    const std::vector<std::string> environment = rankEnvironment(start);
    std::vector<char*> arguments = pointers(start.arguments);
    std::vector<char*> variables = pointers(environment);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {
        runRank(start, parent, outTheirs, joined ? outTheirs : errTheirs, report[1], arguments.data(),
                variables.data());
    }
    const int forkError = errno;
    closeAll({outTheirs, errTheirs, report[1]});
    std::optional<FaultText> failure;
    if (pid < 0) {
        failure = fault("fork", forkError);
    } else {
        ChildReport message{};
        while (::read(report[0], &message, sizeof message) == static_cast<ssize_t>(sizeof message)) {
            if (message.step == ChildStep::Randomize) {
                rank.notice =
                    FaultText{"address-layout",
                              std::string("The address layout of the rank could not be fixed: ") +
                                  std::strerror(message.error) + ".",
                              "Addresses may differ when the job runs again; the kernel or a container's "
                              "seccomp profile forbids personality(2)."};
            } else {
                failure =
                    fault(message.step == ChildStep::Exec ? "exec" : "redirecting its output", message.error);
            }
        }
    }
    ::close(report[0]);
    if (failure) {
        closeAll({outOurs, errOurs});
        return failure;
    }
    rank.pid = pid;
    if (start.ownOutput) {
        return std::nullopt;
    }
    setNonBlocking(outOurs);
    rank.outputs.push_back({outOurs, 1});
    if (!joined) {
        setNonBlocking(errOurs);
        rank.outputs.push_back({errOurs, 2});
    }
    return std::nullopt;
}

/// gdb's own Python modules are compiled anew at every start where their directory cannot be written, which
/// is a third of the time that a start takes. This is where Python may keep them; empty where there is no
/// home.
static std::string pythonCache() {
    if (const char* cache = ::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
        return std::string(cache) + "/stopline/gdb-python";
    }
    if (const char* home = ::getenv("HOME"); home != nullptr && *home == '/') {
        return std::string(home) + "/.cache/stopline/gdb-python";
    }
    return {};
}

std::optional<FaultText> startGdb(const std::string& program, const sigset_t& signalMask, GdbProcess& gdb) {
    const std::string path = findExecutable(program);
    if (path.empty()) {
        return FaultText{"gdb-missing", "The debugger \"" + program + "\" was not found on this host.",
                         "Install gdb (Debian: apt install gdb), or name another one in the settings."};
    }
    int mi[2];
    int errors[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, mi) != 0) {
        return FaultText{"gdb-start",
                         std::string("gdb could not be started: socketpair: ") + std::strerror(errno), ""};
    }
    if (::pipe2(errors, O_CLOEXEC) != 0) {
        const int error = errno;
        closeAll({mi[0], mi[1]});
        return FaultText{"gdb-start", std::string("gdb could not be started: pipe: ") + std::strerror(error),
                         ""};
    }
    const std::vector<std::string> texts = {path,      "--nx",
                                            "--quiet", "--interpreter=mi3",
                                            "-iex",    "set auto-load no",
                                            "-iex",    "set debug-file-directory /nonexistent"};
    std::vector<std::string> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (!hasName(text, "LD_PRELOAD") && !hasName(text, kConnectVariable) &&
            !hasName(text, kTokenVariable) && !hasName(text, "PYTHONDONTWRITEBYTECODE") &&
            !hasName(text, "PYTHONPYCACHEPREFIX")) {
            environment.emplace_back(text);
        }
    }
    if (const std::string cache = pythonCache(); !cache.empty()) {
        environment.push_back("PYTHONPYCACHEPREFIX=" + cache);
    }
    std::vector<char*> arguments = pointers(texts);
    std::vector<char*> variables = pointers(environment);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {
        dieWithParent(parent);
        // The launcher's signals to the agent's group are not for gdb.
        ::setsid();
        ::dup2(mi[1], STDIN_FILENO);
        ::dup2(mi[1], STDOUT_FILENO);
        ::dup2(errors[1], STDERR_FILENO);
        // What the launcher passes on to the rank must see its end when the rank closes it.
        ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
        // A gdb that aborts leaves no core file in the user's directory.
        const rlimit noCore{0, 0};
        ::setrlimit(RLIMIT_CORE, &noCore);
        ::sigprocmask(SIG_SETMASK, &signalMask, nullptr);
        ::execve(arguments[0], arguments.data(), variables.data());
        ::_exit(127);
    }
    const int forkError = errno;
    closeAll({mi[1], errors[1]});
    if (pid < 0) {
        closeAll({mi[0], errors[0]});
        return FaultText{"gdb-start",
                         std::string("gdb could not be started: fork: ") + std::strerror(forkError), ""};
    }
    setNonBlocking(mi[0]);
    setNonBlocking(errors[0]);
    gdb = {pid, mi[0], errors[0]};
    return std::nullopt;
}

void guardAgainstOwnDeath(pid_t victim) {
    const int victimFd = openPidfd(victim);
    const int ownFd = openPidfd(::getpid());
    if (victimFd < 0 || ownFd < 0) {
        closeAll({victimFd, ownFd});
        return;
    }
    // Two forks, so that the guard is nobody's child to wait for and lives on when the agent's group is
    // killed.
    const pid_t middle = ::fork();
    if (middle == 0) {
        ::setsid();
        if (::fork() != 0) {
            ::_exit(0);
        }
        ::dup2(victimFd, 0);
        ::dup2(ownFd, 1);
        ::close_range(2, ~0U, 0);
        while (true) {
            pollfd waits[2] = {{0, POLLIN, 0}, {1, POLLIN, 0}};
            if (::poll(waits, 2, -1) < 0) {
                continue;
            }
            if (waits[1].revents != 0 && waits[0].revents == 0) {
                killByPidfd(0);
            }
            if (waits[0].revents != 0 || waits[1].revents != 0) {
                ::_exit(0);
            }
        }
    }
    closeAll({victimFd, ownFd});
    if (middle > 0) {
        ::waitpid(middle, nullptr, 0); // it ends at once
    }
}

} // namespace stopline::agent
