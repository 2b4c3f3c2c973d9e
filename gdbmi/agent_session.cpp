#include "agent_session.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace stopline::agent {
namespace {

/// The rank's output waits in the rank while this much waits for the window.
constexpr std::size_t kOutputQueueLimit = 256 * 1024;
constexpr std::size_t kGdbQueueLimit = 8u << 20;
constexpr int kTickMs = 200;
/// A traced rank whose threads gdb has not waited for makes no pidfd readable: look more often while gdb
/// holds it.
constexpr int kHeldTickMs = 25;
constexpr std::int64_t kRecheckNs = 50'000'000;
constexpr std::int64_t kReapNs = 1'000'000'000;

void closeFd(int& fd) {
    if (fd >= 0) {
        ::close(fd);
        fd = -1;
    }
}

} // namespace

Session::Session(Connection& window, SessionSetup setup) : m_window(window), m_setup(std::move(setup)) {}

Session::~Session() {
    for (OutputPipe& output : m_outputs) {
        closeFd(output.fd);
    }
    closeFd(m_childFd);
    closeFd(m_mpiFd);
    closeFd(m_gdb.mi);
    closeFd(m_gdb.errors);
}

void Session::fault(const FaultText& fault) {
    m_window.send(Channel::Fault,
                  Fields{{"code", fault.code}, {"text", fault.text}, {"remedy", fault.remedy}});
}

std::optional<FaultText> Session::start(const Fields& config, int& exitCode) {
    // As a shell does: 127 when there is no such program, 126 when it cannot be executed.
    exitCode = 127;
    ProgramInfo program;
    if (auto problem = checkProgram(m_setup.arguments.front(), program)) {
        exitCode = problem->code == "program-missing" ? 127 : 126;
        return problem;
    }
    const std::string mpi = recordedMpi(program.mpi);
    const std::string library = textField(config, "library") + "/libstopline-mpi-" + mpi + ".so";
    if (::access(library.c_str(), R_OK) != 0) {
        return FaultText{
            "library-missing",
            "The recording library \"" + library + "\" is missing: " + std::strerror(errno) + ".",
            "Stopline's installation is incomplete on this host, or was built without support for this "
            "MPI (" +
                mpi + ")."};
    }
    if (const auto notice = mpiNotice(program.mpi, m_setup.arguments.front())) {
        fault(*notice);
    }
    if (auto problem = m_mapping.create(textField(config, "mapdir"), m_setup.rank, unsignedField(config, "keep", 0))) {
        return problem;
    }
    m_mapping.header().gate.store(static_cast<std::uint32_t>(unsignedField(config, "gate", 0)));
    m_mapping.header().threshold.store(unsignedField(config, "threshold", kNoThreshold.value()));
    m_mapping.header().alsoNoted.store(static_cast<std::uint32_t>(unsignedField(config, "noted", 0)));
    if (const std::uint64_t seed = unsignedField(config, "jitter", 0); seed != 0) {
        // Another one for each rank, and never 0.
        m_mapping.header().jitter.store((seed + static_cast<std::uint64_t>(m_setup.rank) + 1) * 0x9e3779b97f4a7c15ULL | 1U);
    }
    m_mapping.header().findRaces.store(static_cast<std::uint32_t>(unsignedField(config, "races", 0)));
    if (auto problem = m_mapping.addLogs(m_setup.order, m_setup.values, m_setup.rank)) {
        return problem;
    }
    std::string().swap(m_setup.order);
    std::string().swap(m_setup.values);

    RankStart start{m_setup.arguments, m_mapping.environmentPath(), library,
                    unsignedField(config, "randomize", 0) != 0, false, m_setup.signalMask, m_setup.spawned};
    if (unsignedField(config, "record", 0) != 0) {
        return startRecorded(std::move(start), exitCode);
    }
    m_gdbProgram = textField(config, "gdb");
    if (m_gdbProgram.empty()) {
        m_gdbProgram = "gdb";
    }
    if (auto problem = startGdb(m_gdbProgram, m_setup.signalMask, m_gdb)) {
        return problem;
    }
    StartedRank rank;
    if (auto problem = startRank(start, rank)) {
        exitCode = 126;
        return problem;
    }
    m_child = rank.pid;
    m_childFd = openPidfd(m_child);
    m_outputs = rank.outputs;
    if (rank.notice) {
        fault(*rank.notice);
    }
    // The rank has its copy of stdin; while the agent kept its own, nobody would notice that the rank closed
    // it.
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        ::dup2(null, STDIN_FILENO);
        ::close(null);
    }
    return std::nullopt;
}

int Session::run(const Fields& config) {
    int exitCode = 0;
    if (const auto problem = start(config, exitCode)) {
        killGdb();
        fault(*problem);
        m_window.flushFor(2000);
        // The window reads the fault before it sees the end of the connection only if we let it go first.
        ::shutdown(m_window.fd(), SHUT_WR);
        pollfd wait{m_window.fd(), POLLIN, 0};
        ::poll(&wait, 1, 2000);
        return exitCode;
    }
    startStateThread();
    if (!m_record) {
        tellModules({});
    }
    sendState();
    loop();
    return leave();
}

void Session::startStateThread() {
    m_stateEvent = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    // Detached: it sleeps in the kernel until the process ends.
    std::thread([&word = m_mapping.header().stateSequence, event = m_stateEvent] {
        std::uint32_t seen = word.load(std::memory_order_acquire);
        while (true) {
            ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, nullptr, nullptr, 0);
            const std::uint32_t now = word.load(std::memory_order_acquire);
            if (now != seen) {
                seen = now;
                const std::uint64_t one = 1;
                [[maybe_unused]] const ssize_t written = ::write(event, &one, sizeof one);
            }
        }
    }).detach();
}

pid_t Session::rankPid() const {
    return m_mpiPid != 0 ? m_mpiPid : m_child;
}

bool Session::outputsOpen() const {
    return std::any_of(m_outputs.begin(), m_outputs.end(),
                       [](const OutputPipe& output) { return output.fd >= 0; });
}

int Session::timeoutMs() const {
    if (m_rankEnded && !m_endTold) {
        return 5;
    }
    if (!m_rankEnded && m_recheckUntil > monotonicNs()) {
        return 2;
    }
    if (m_record && !m_gateOpened && m_gateSoon > monotonicNs()) {
        return 5;
    }
    return m_hold.stoppedByGdb() && !m_rankEnded ? kHeldTickMs : kTickMs;
}

void Session::loop() {
    while (m_leaving == Leaving::No) {
        std::vector<pollfd> waits;
        const auto add = [&waits](int fd, short events) {
            waits.push_back({events != 0 ? fd : -1, events, 0});
            return waits.size() - 1;
        };
        const short out = m_window.queued() > 0 ? POLLOUT : 0;
        const auto window = add(m_window.fd(), static_cast<short>(POLLIN | out));
        const auto signals = add(m_setup.signalFd, POLLIN);
        const auto state = add(m_stateEvent, POLLIN);
        const short gdbIn = m_window.queued() < kGdbQueueLimit ? POLLIN : 0;
        const short gdbOut = m_gdbQueue.empty() ? 0 : POLLOUT;
        const auto gdb = add(m_gdb.mi, static_cast<short>(gdbIn | gdbOut));
        const auto gdbErrors = add(m_gdb.errors, POLLIN);
        const auto child = add(m_childFdReadable ? -1 : m_childFd, POLLIN);
        const auto mpi = add(m_mpiFdReadable ? -1 : m_mpiFd, POLLIN);
        const auto firstOutput = waits.size();
        for (const OutputPipe& output : m_outputs) {
            add(output.fd, m_window.queued() < kOutputQueueLimit ? POLLIN : 0);
        }
        if (::poll(waits.data(), waits.size(), timeoutMs()) < 0 && errno != EINTR) {
            return;
        }
        if (waits[signals].revents != 0) {
            readSignals();
        }
        if (waits[state].revents != 0) {
            std::uint64_t count = 0;
            [[maybe_unused]] const ssize_t got = ::read(m_stateEvent, &count, sizeof count);
            sendModules();
        }
        letThroughGate();
        m_childFdReadable = m_childFdReadable || waits[child].revents != 0;
        m_mpiFdReadable = m_mpiFdReadable || waits[mpi].revents != 0;
        for (std::size_t i = 0; i < m_outputs.size(); ++i) {
            if (waits[firstOutput + i].revents != 0 && !readOutput(m_outputs[i])) {
                m_recheckUntil = monotonicNs() + kRecheckNs;
            }
        }
        watchMpiProcess();
        if (waits[gdbErrors].revents != 0) {
            readGdbErrors();
        }
        if ((waits[gdb].revents & POLLOUT) != 0) {
            flushGdb();
        }
        if ((waits[gdb].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
            readGdb();
        }
        if ((waits[window].revents & POLLOUT) != 0) {
            m_window.flush();
        }
        if ((waits[window].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
            readWindow();
        }
        reapChildren();
        checkRank();
        sendState();
        if (m_leaving == Leaving::No && !m_window.open()) {
            m_leaving = Leaving::WindowGone;
        }
        if (m_leaving == Leaving::No && ::getppid() != m_setup.launcher) {
            m_leaving = Leaving::LauncherGone;
        }
        if (m_leaving == Leaving::No && m_finish && (m_childReaped || (m_rankEnded && m_mpiPid == 0))) {
            m_leaving = Leaving::Finished;
        }
    }
}

bool Session::launcherGone() const {
    return ::getppid() != m_setup.launcher || hasEnded(m_setup.launcher);
}

int Session::leave() {
    const bool forced = m_leaving != Leaving::Finished;
    m_endedWithJob = !m_rankEnded && (m_leaving == Leaving::Terminated || m_leaving == Leaving::LauncherGone);
    std::vector<std::string> shared;
    if (forced) {
        // Stopped first, so that it makes no further file between this look and its end.
        if (!m_rankEnded) {
            ::kill(rankPid(), SIGSTOP);
            shared = mappedSharedFiles(rankPid());
        }
        killAll();
    }
    killGdb();
    const std::int64_t begin = monotonicNs();
    while (!m_childReaped && monotonicNs() < begin + kReapNs) {
        pollfd wait{m_setup.signalFd, POLLIN, 0};
        ::poll(&wait, 1, 5);
        readSignals();
        reapChildren();
    }
    checkRank();
    const bool last = m_leaving == Leaving::WindowGone; // else it may be starting the next job
    if (launcherGone()) {
        removeLauncherFiles(shared, last);
    } else if (forced) {
        // It may be dying as well: the death signal comes when the launcher's thread that started us dies,
        // and a window that is gone ends a launcher that writes to it.
        removeSegments(shared);
        removeLauncherFilesLater(m_setup.launcher, last);
    }
    if (forced) {
        drainOutputs(100);
        serveUntilFinished();
    }
    if (m_window.open()) {
        drainOutputs(forced ? 0 : 500);
        m_endTold = m_endTold || m_rankEnded;
        sendState();
        m_window.flushFor(forced ? 300 : 2000);
    }
    if (m_leaving == Leaving::Terminated) {
        return 128 + SIGTERM;
    }
    if (forced) {
        return 1;
    }
    const int status = m_childReaped ? m_childStatus : m_rankStatus;
    if (status == -1) {
        return 1;
    }
    if (m_record) {
        return endAsRank(status);
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void Session::readSignals() {
    signalfd_siginfo info{};
    while (::read(m_setup.signalFd, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        switch (info.ssi_signo) {
        case SIGTERM:
        case SIGINT:
        case SIGHUP:
        case SIGQUIT:
            if (m_record && !launcherGone()) {
                passOn(static_cast<int>(info.ssi_signo));
            } else if (m_leaving == Leaving::No) {
                m_leaving = m_record ? Leaving::LauncherGone : Leaving::Terminated;
            }
            break;
        default:
            break; // CHLD: the loop looks; others reach the rank through its group
        }
    }
}

bool Session::readOutput(OutputPipe& output) {
    std::array<char, 65536> buffer;
    buffer[0] = static_cast<char>(output.stream);
    const ssize_t got = ::read(output.fd, buffer.data() + 1, buffer.size() - 1);
    if (got > 0) {
        m_window.send(Channel::Output, std::string_view(buffer.data(), static_cast<std::size_t>(got) + 1));
        return true;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    // End of a pipe, or EIO of a terminal that nobody has open any more.
    closeFd(output.fd);
    return false;
}

} // namespace stopline::agent
