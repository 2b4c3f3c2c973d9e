// The session of a rank that is recorded without gdb: the agent keeps out of its way.
#include "agent_session.h"

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stopline::agent {
namespace {

constexpr std::int64_t kGateSoonNs = 2'000'000'000;

} // namespace

std::optional<FaultText> Session::startRecorded(RankStart start, int& exitCode) {
    m_record = true;
    // However short it lives: where its code is must have been seen.
    m_mapping.header().gate.store(static_cast<std::uint32_t>(trace::Gate::Constructor));
    start.ownOutput = true;
    StartedRank rank;
    if (auto problem = startRank(start, rank)) {
        exitCode = 126;
        return problem;
    }
    m_child = rank.pid;
    m_childFd = openPidfd(m_child);
    m_gateSoon = monotonicNs() + kGateSoonNs;
    // Whoever reads what the rank writes must see its end, and who feeds it that it has closed its input.
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
            ::dup2(null, fd);
        }
        ::close(null);
    }
    return std::nullopt;
}

/// A signal that is to end the agent is meant for the rank. Launchers send to the group that they have made
/// for the agent, in which the rank is too; without such a group the rank has not got it.
void Session::passOn(int signal) {
    if (::getpgrp() != ::getpid() && !m_rankEnded && m_child > 0) {
        ::kill(m_child, signal);
    }
}

/// Tells where the rank's code is, if that is new. Only the process that records is looked at.
void Session::sendModules() {
    if (!m_record || m_rankEnded) {
        return;
    }
    const std::uint64_t length = m_mapping.header().dictionaryLength.load(std::memory_order_acquire);
    const pid_t pid = m_mapping.header().pid.load(std::memory_order_acquire);
    if (pid <= 0 || (pid != m_child && !isDescendant(pid))) {
        return;
    }
    const std::string modules = m_modules.read(pid);
    if (modules.empty()) {
        return;
    }
    m_modulesLength = length;
    if (modules == m_modulesTold) {
        return;
    }
    m_modulesTold = modules;
    tellModules(modules);
}

/// A rank at its gate has all its code loaded that it was linked with.
void Session::letThroughGate() {
    trace::MappingHeader& header = m_mapping.header();
    if (!m_record || m_gateOpened ||
        header.state.load(std::memory_order_acquire) !=
            static_cast<std::uint32_t>(trace::RankState::AtGate)) {
        return;
    }
    sendModules();
    m_gateOpened = true;
    // No gate any more: nobody stops the rank before it ends either.
    header.gate.store(static_cast<std::uint32_t>(trace::Gate::None));
    obey(Fields{{"do", "opengate"}});
}

/// The launcher is to see the rank's own end: a signal as a signal. Does not return then.
int Session::endAsRank(int status) const {
    if (!WIFSIGNALED(status)) {
        return WEXITSTATUS(status);
    }
    const int signal = WTERMSIG(status);
    ::prctl(PR_SET_DUMPABLE, 0); // the core, if any, is the rank's
    ::signal(signal, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
    ::kill(::getpid(), signal);
    return 128 + signal;
}

} // namespace stopline::agent
