// stopline-agent: started by the MPI launcher in place of each rank's program, which it then starts itself.
#include "../tracelib/mapping.h"
#include "agent_process.h"
#include "agent_session.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

namespace {

using namespace stopline::agent;

constexpr int kConnectMs = 10'000;
constexpr int kConfigMs = 30'000;

int complain(const std::string& text) {
    std::fprintf(stderr, "stopline-agent: %s\n", text.c_str());
    return 1;
}

/// Ends an agent whose window has gone. What it says may be the end of a launcher that writes to nobody any
/// more, and that launcher then leaves its files behind.
int giveUp(const std::string& text, pid_t launcher) {
    complain(text);
    constexpr int kPatienceMs = 1000;
    constexpr int kStepMs = 20;
    for (int waited = 0; waited < kPatienceMs; waited += kStepMs) {
        if (::getppid() != launcher || launcher == 1) { // it may have died before this agent was asked
            removeLauncherFiles({}, true);
            break;
        }
        ::usleep(kStepMs * 1000);
    }
    return 1;
}

std::string hostName() {
    char name[HOST_NAME_MAX + 1] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string workingDirectory() {
    char path[PATH_MAX] = {};
    return ::getcwd(path, sizeof path) != nullptr ? path : "";
}

/// Same value: same kernel, so the same clock.
std::string bootId() {
    char text[64] = {};
    if (std::FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
        if (std::fgets(text, sizeof text, file) == nullptr) {
            text[0] = '\0';
        }
        std::fclose(file);
    }
    text[std::strcspn(text, "\n")] = '\0';
    return text;
}

/// Blocks what must not end the agent by surprise and gives it a descriptor. Synchronous faults stay deadly.
int takeSignals(sigset_t& before) {
    sigset_t taken;
    sigemptyset(&taken);
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD, SIGPIPE, SIGUSR1, SIGUSR2, SIGTSTP,
                             SIGTTOU, SIGTTIN, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGXCPU}) {
        sigaddset(&taken, number);
    }
    ::sigprocmask(SIG_BLOCK, &taken, &before);
    return ::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// Becomes the program, as if there had been no agent: what was spawned must not fail for want of a debugger.
[[noreturn]] void becomeProgram(char** words, const sigset_t& mask) {
    ::unsetenv(kConnectVariable);
    ::unsetenv(kTokenVariable);
    ::prctl(PR_SET_PDEATHSIG, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::execvp(words[0], words);
    const int error = errno;
    complain(std::string(words[0]) + ": " + std::strerror(error));
    ::_exit(error == ENOENT ? 127 : 126);
}

/// Waits for the window's Config; `setup` gets the logs before it. False: the reason is in `problem`.
bool waitForConfig(Connection& window, pid_t launcher, Frame& frame, SessionSetup& setup, std::string& problem) {
    const std::int64_t deadline = monotonicNs() + std::int64_t{kConfigMs} * 1'000'000;
    while (true) {
        if (window.next(frame)) {
            if (frame.channel() == Channel::Config) {
                return true;
            }
            if (frame.channel() == Channel::Order) {
                setup.order += frame.body;
            } else if (frame.channel() == Channel::Values) {
                setup.values += frame.body;
            }
            continue;
        }
        if (monotonicNs() > deadline) {
            problem = "the window did not answer within " + std::to_string(kConfigMs / 1000) + " s";
            return false;
        }
        if (::getppid() != launcher) {
            problem = "the launcher has gone";
            return false;
        }
        pollfd wait{window.fd(), static_cast<short>(POLLIN | (window.queued() > 0 ? POLLOUT : 0)), 0};
        if (::poll(&wait, 1, 200) > 0) {
            window.flush();
            if ((wait.revents & ~POLLOUT) != 0 && !window.receive()) {
                problem = "the window closed the connection: the job belongs to another one, or is of "
                          "another version";
                return false;
            }
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    const pid_t launcher = ::getppid();
    sigset_t before;
    const int signalFd = takeSignals(before);
    // A signal that can be caught: files must be removed when the launcher was killed.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    // What the rank's processes leave behind when they end comes to the agent, which can then end it with the
    // rank.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (argc < 2) {
        return complain("usage: stopline-agent PROGRAM [ARGUMENTS]; it is started by Stopline, not by hand");
    }
    std::string spawned; // who has spawned this rank, as the library of its parent has said it
    if (argc > 3 && std::strcmp(argv[1], stopline::trace::kSpawnedOption) == 0) {
        spawned = argv[2];
        argc -= 2;
        argv += 2;
    }
    const char* address = std::getenv(kConnectVariable);
    const char* token = std::getenv(kTokenVariable);
    const LauncherPlace place = launcherPlace();
    if (!spawned.empty() && (address == nullptr || token == nullptr || place.rank < 0)) {
        becomeProgram(argv + 1, before);
    }
    if (address == nullptr || token == nullptr) {
        return complain(std::string(kConnectVariable) + " and " + kTokenVariable +
                        " are not set: the launcher did not pass Stopline's environment on to this host");
    }
    if (place.rank < 0) {
        return complain(
            "the launcher gave no rank (OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK, SLURM_PROCID)");
    }
    std::string problem;
    const int fd = connectTo(address, kConnectMs, problem);
    if (fd < 0 && !spawned.empty()) {
        becomeProgram(argv + 1, before);
    }
    if (fd < 0) {
        return giveUp("rank " + std::to_string(place.rank) + " on " + hostName() +
                          " cannot reach Stopline at " + address + ": " + problem,
                      launcher);
    }
    Connection window(fd);
    FrameAddress self{0, static_cast<std::uint32_t>(place.rank), 1};
    window.setAddress(self);
    window.send(Channel::Hello, Fields{{"version", std::to_string(kProtocolVersion)},
                                       {"token", token},
                                       {"rank", std::to_string(place.rank)},
                                       {"size", std::to_string(place.size)},
                                       {"local", std::to_string(place.local)},
                                       {"host", hostName()},
                                       {"pid", std::to_string(::getpid())},
                                       {"program", argv[1]},
                                       {"spawned", spawned.substr(0, spawned.find_last_of(' '))},
                                       {"directory", workingDirectory()},
                                       {"boot", bootId()},
                                       {"clock", std::to_string(monotonicNs())}});
    ::unsetenv(kConnectVariable);
    ::unsetenv(kTokenVariable);
    Frame frame;
    SessionSetup setup;
    const bool configured = waitForConfig(window, launcher, frame, setup, problem);
    if (!configured && !spawned.empty()) {
        becomeProgram(argv + 1, before);
    }
    if (!configured) {
        return giveUp("rank " + std::to_string(place.rank) + ": " + problem, launcher);
    }
    const Fields config = decodeFields(frame.body);
    self.job = frame.header.job;
    self.incarnation = static_cast<std::uint32_t>(unsignedField(config, "incarnation", 1));
    window.setAddress(self);

    setup.rank = place.rank;
    setup.launcher = launcher;
    setup.signalFd = signalFd;
    setup.signalMask = before;
    setup.arguments.assign(argv + 1, argv + argc);
    setup.spawned = spawned;
    Session session(window, std::move(setup));
    // Nothing is destroyed: the thread that waits for the mapping's state still looks at it.
    ::_exit(session.run(config));
}
