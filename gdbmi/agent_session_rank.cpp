// The session's dealings with its two processes: the rank and gdb.
#include "agent_session.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stopline::agent {
namespace {

/// Longest list of commands that is given again to a gdb that died before it had attached.
constexpr std::size_t kReplayLimit = 64 * 1024;
constexpr std::size_t kErrorTail = 2048;
/// So long the end of the rank's output is waited for before its end is told.
constexpr std::int64_t kOutputGraceNs = 30'000'000;
/// Without a hint, /proc is asked no more often than this.
constexpr std::int64_t kCheckNs = 20'000'000;
/// A running rank's event number alone is told no more often than this.
constexpr std::int64_t kProgressNs = 100'000'000;

std::string statusText(int status) {
    if (WIFSIGNALED(status)) {
        return std::string("signal ") + std::to_string(WTERMSIG(status)) + " (" +
               ::strsignal(WTERMSIG(status)) + ")";
    }
    return "exit code " + std::to_string(WEXITSTATUS(status));
}

} // namespace

void Session::toGdb(std::string_view bytes) {
    // Whole lines only: what a command does to the clock must be known before any of it reaches gdb.
    m_gdbPartial.append(bytes);
    const std::size_t end = m_gdbPartial.rfind('\n');
    if (end == std::string::npos) {
        return;
    }
    const std::string lines = m_gdbPartial.substr(0, end + 1);
    m_gdbPartial.erase(0, end + 1);
    std::string_view rest = lines;
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(line.size() + 1);
        const auto command = classifyCommand(line);
        switch (command.kind) {
        case MiCommandKind::Resume:
            m_hold.resumed(monotonicNs(), command.token);
            break;
        case MiCommandKind::Attach:
            m_attachAsked = true;
            m_gdbReplay.clear();
            break;
        case MiCommandKind::Detach:
            m_hold.resumed(monotonicNs(), command.token);
            m_attachAsked = false;
            m_replayPossible = false;
            break;
        case MiCommandKind::Exit:
            m_exitAsked = true;
            break;
        case MiCommandKind::Other:
            break;
        }
    }
    if (!m_attachAsked && m_replayPossible) {
        m_gdbReplay += lines;
        if (m_gdbReplay.size() > kReplayLimit) {
            m_replayPossible = false;
            m_gdbReplay.clear();
        }
    }
    passToGdb(lines);
}

void Session::passToGdb(std::string_view bytes) {
    if (m_gdb.mi >= 0) {
        m_gdbQueue.append(bytes);
        flushGdb();
    }
}

void Session::flushGdb() {
    while (m_gdb.mi >= 0 && !m_gdbQueue.empty()) {
        const ssize_t sent = ::send(m_gdb.mi, m_gdbQueue.data(), m_gdbQueue.size(), MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR) {
                continue;
            }
            return; // full, or gdb has gone, which its end will tell
        }
        m_gdbQueue.erase(0, static_cast<std::size_t>(sent));
    }
}

void Session::drainOutputs(int milliseconds) {
    const std::int64_t deadline = monotonicNs() + std::int64_t{milliseconds} * 1'000'000;
    while (outputsOpen() && m_window.open() && monotonicNs() < deadline) {
        std::vector<pollfd> waits;
        for (const OutputPipe& output : m_outputs) {
            waits.push_back({output.fd, POLLIN, 0});
        }
        if (::poll(waits.data(), waits.size(), 20) <= 0) {
            continue;
        }
        for (std::size_t i = 0; i < m_outputs.size(); ++i) {
            if (waits[i].revents != 0) {
                readOutput(m_outputs[i]);
            }
        }
    }
}

void Session::readGdb() {
    std::array<char, 65536> buffer;
    const ssize_t got = ::recv(m_gdb.mi, buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0) {
        // The process may outlive its output for a moment; its end is told once, when it has been waited for.
        ::close(m_gdb.mi);
        m_gdb.mi = -1;
        return;
    }
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    const std::int64_t now = monotonicNs();
    bool stopped = false;
    m_gdbLines.append(bytes, [this, now, &stopped](std::string_view line) {
        const auto output = classifyOutput(line);
        if (output.kind == MiOutputKind::Stopped) {
            m_hold.stopped(now);
            stopped = true;
        } else if (output.kind == MiOutputKind::Error) {
            m_hold.refused(now, output.token);
        }
    });
    if (stopped) {
        // First the rank's state, so that whoever hears of the stop already knows where it is.
        m_lastStateTime = 0;
        sendState();
    }
    m_window.send(Channel::Mi, bytes);
}

void Session::readGdbErrors() {
    std::array<char, 4096> buffer;
    const ssize_t got = ::read(m_gdb.errors, buffer.data(), buffer.size());
    if (got > 0) {
        m_gdbErrors.append(buffer.data(), static_cast<std::size_t>(got));
        if (m_gdbErrors.size() > kErrorTail) {
            m_gdbErrors.erase(0, m_gdbErrors.size() - kErrorTail);
        }
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        ::close(m_gdb.errors);
        m_gdb.errors = -1;
    }
}

void Session::gdbEnded(int status) {
    // What it said last is still in the socket.
    while (m_gdb.mi >= 0 && m_leaving == Leaving::No) {
        readGdb();
        if (errno == EAGAIN) {
            break;
        }
    }
    for (int* fd : {&m_gdb.mi, &m_gdb.errors}) {
        if (*fd >= 0) {
            ::close(*fd);
            *fd = -1;
        }
    }
    m_gdb.pid = -1;
    m_gdbQueue.clear();
    if (m_leaving != Leaving::No || m_rankEnded) {
        return;
    }
    if (m_attachAsked) {
        // A rank without its gdb would run on unseen, or stand at a breakpoint's trap for ever.
        killRank();
        if (!m_exitAsked) {
            fault({"gdb-died",
                   "gdb ended with " + statusText(status) + " while it was attached to rank " +
                       std::to_string(m_setup.rank) + "; the rank was killed." +
                       (m_gdbErrors.empty() ? "" : " It said: " + m_gdbErrors),
                   "Restart the job."});
        }
        return;
    }
    if (m_exitAsked) {
        return;
    }
    if (!m_gdbRestarted && m_replayPossible) {
        m_gdbRestarted = true;
        m_gdbLines = {};
        if (const auto problem = startGdb(m_gdbProgram, m_setup.signalMask, m_gdb)) {
            fault(*problem);
            return;
        }
        passToGdb(m_gdbReplay);
        return;
    }
    fault({"gdb-died",
           "gdb ended with " + statusText(status) + " before it was attached to rank " +
               std::to_string(m_setup.rank) + "." + (m_gdbErrors.empty() ? "" : " It said: " + m_gdbErrors),
           "Run it by hand (" + m_gdbProgram + " --version) to see what is wrong with it."});
}

void Session::watchMpiProcess() {
    if (m_mpiPid != 0 || m_rankEnded || !m_mapping.guard().look()) {
        return;
    }
    // The rank's end will be that of this process: nobody else's number may stand there by mistake.
    const pid_t pid = m_mapping.guard().header().pid.load(std::memory_order_relaxed);
    if (pid <= 0 || pid == m_child || !isDescendant(pid)) {
        return;
    }
    m_mpiPid = pid;
    m_mpiFd = openPidfd(pid);
    guardAgainstOwnDeath(pid);
}

void Session::reapChildren() {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid == m_child) {
            m_childReaped = true;
            m_childStatus = status;
        } else if (pid == m_gdb.pid) {
            gdbEnded(status);
        } else if (pid == m_mpiPid) {
            m_mpiStatus = status;
        } // else an orphan of the rank: nobody asks how it ended
    }
}

void Session::checkRank() {
    const std::int64_t now = monotonicNs();
    if (!m_rankEnded) {
        const bool hint = m_childReaped || m_childFdReadable || m_mpiFdReadable || now < m_recheckUntil;
        if (!hint && now - m_lastCheck < kCheckNs) {
            return;
        }
        m_lastCheck = now;
        const pid_t pid = rankPid();
        const bool isChild = m_mpiPid == 0;
        const bool ended = isChild ? m_childReaped || hasEnded(pid) : m_mpiFdReadable || hasEnded(pid);
        if (!ended) {
            return;
        }
        if (isChild) {
            m_rankStatus = m_childReaped ? m_childStatus : zombieStatus(pid);
        } else {
            m_rankStatus = m_mpiStatus != -1 ? m_mpiStatus : zombieStatus(pid);
            if (m_rankStatus == -1 && m_mpiFd >= 0) {
                m_rankStatus = pidfdStatus(m_mpiFd);
            }
        }
        m_rankEnded = true;
        m_endTime = now;
        m_hold.ended(now);
    }
    if (!m_endTold && (!outputsOpen() || now - m_endTime > kOutputGraceNs)) {
        m_endTold = true;
    }
}

void Session::killRank() {
    if (m_mpiPid != 0 && !m_rankEnded && m_mpiFd >= 0) {
        killByPidfd(m_mpiFd);
    }
    if (m_child > 0 && !m_childReaped) {
        ::kill(m_child, SIGKILL);
    }
}

/// Ends the rank with all that it has started, also what has left its session. A program that has ended well
/// by itself has left behind what it wanted to.
void Session::killAll() {
    const bool endedWell = m_rankEnded && m_rankStatus == 0;
    killGdb();
    killRank();
    killOwnGroup();
    if (!endedWell) {
        killDescendants();
    }
}

void Session::killGdb() {
    if (m_gdb.pid > 0) {
        m_exitAsked = true;
        ::kill(m_gdb.pid, SIGKILL);
    }
}

/// Looks at what the library says, and now and then at what it has recorded, so that of a recording that the
/// program overwrites no more is lost than the last moment.
void Session::lookAtMapping(std::int64_t now) {
    MappingGuard& guard = m_mapping.guard();
    if (now - m_lastLook < kProgressNs) {
        guard.look();
    } else {
        m_lastLook = now;
        guard.lookAtAll();
    }
    if (guard.overwritten() && !m_overwrittenTold) {
        m_overwrittenTold = true;
        fault({"recording-overwritten",
               "The recording of rank " + std::to_string(m_setup.rank) + " was overwritten by the program (" +
                   guard.what() + "): it ends with event " +
                   std::to_string(guard.header().eventCount.load(std::memory_order_relaxed)) + ".",
               "It writes to memory that is not its own: a memory checker (-fsanitize=address, valgrind) "
               "finds where. What was recorded before stays, and the rank can be stopped and looked at as "
               "before."});
    }
}

void Session::sendState() {
    const std::int64_t now = monotonicNs();
    lookAtMapping(now);
    const trace::MappingHeader& header = m_mapping.guard().header();
    const auto number = [](auto value) { return std::to_string(value); };
    const auto flag = [](bool value) { return std::string(value ? "1" : "0"); };
    const auto state = header.state.load(std::memory_order_acquire);
    Fields fields;
    fields["pid"] = number(rankPid());
    fields["state"] = number(state);
    fields["hold"] = flag(header.inHold.load() != 0);
    fields["reason"] = number(header.stopReason.load());
    fields["code"] = number(header.stopCode.load());
    fields["gate"] =
        flag(state == static_cast<std::uint32_t>(trace::RankState::AtGate) && header.gateOpen.load() == 0);
    fields["stopfunction"] = number(header.stopFunction.load());
    fields["librarybase"] = number(header.libraryBase.load());
    fields["mpi"] = flag(header.mpiLinked.load() != 0);
    fields["world"] = number(header.worldRank.load());
    fields["size"] = number(header.worldSize.load());
    fields["alive"] = flag(!m_endTold);
    if (m_endTold) {
        fields["exit"] = number(m_rankStatus);
        fields["withjob"] = flag(m_endedWithJob);
    }
    fields["gdb"] = number(std::max(m_gdb.pid, 0));
    fields["recordingoff"] = number(header.recordingOff.load());
    fields["build"] = number(header.libraryBuild);
    std::string text = encodeFields(fields);
    const std::string progress =
        encodeFields({{"event", number(header.eventCount.load(std::memory_order_acquire))},
                      {"inside", flag(header.insideCall.load(std::memory_order_acquire) != 0)},
                      {"poll", flag(header.pollOpen.load(std::memory_order_acquire) != 0)}});
    if (text == m_lastState && (progress == m_lastProgress || now - m_lastStateTime < kProgressNs)) {
        return;
    }
    m_window.send(Channel::State, text + progress);
    m_lastState = std::move(text);
    m_lastProgress = progress;
    m_lastStateTime = now;
}

} // namespace stopline::agent
