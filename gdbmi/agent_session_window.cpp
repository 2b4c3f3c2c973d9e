// What the window asks for.
#include "agent_session.h"

#include <climits>
#include <csignal>
#include <linux/futex.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stopline::agent {
namespace {

/// So long the window may take to fetch what is left of a recording whose launcher has gone or ends the job.
constexpr int kServeMs = 2000;
constexpr int kServeStepMs = 20;

void wakeFutex(std::atomic<std::uint32_t>& word) {
    ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace

void Session::readWindow() {
    if (!m_window.receive()) {
        m_leaving = Leaving::WindowGone;
        return;
    }
    Frame frame;
    while (m_window.next(frame)) {
        switch (frame.channel()) {
        case Channel::Mi:
            toGdb(frame.body);
            break;
        case Channel::Command:
            obey(decodeFields(frame.body));
            break;
        case Channel::Pull: {
            const Fields pull = decodeFields(frame.body);
            if (m_mapping.guard().header().dictionaryLength.load(std::memory_order_relaxed) != m_modulesLength) {
                sendModules(); // calls from code that may have been loaded since
            }
            for (std::uint64_t have = unsignedField(pull, "values", 0);;) {
                const std::string part = m_mapping.noted(have);
                if (part.empty()) {
                    break;
                }
                m_window.send(Channel::Values, part);
                have += part.size();
            }
            m_window.send(Channel::Trace, m_mapping.copyForWindow(pull));
            break;
        }
        default:
            break;
        }
    }
}

void Session::obey(const Fields& command) {
    trace::MappingHeader& header = m_mapping.header();
    const std::string what = textField(command, "do");
    if (what == "opengate") {
        header.gateOpen.store(1, std::memory_order_release);
        wakeFutex(header.gateOpen);
    } else if (what == "threshold") {
        header.threshold.store(unsignedField(command, "value", kNoThreshold.value()),
                               std::memory_order_release);
    } else if (what == "leaveorder") {
        header.orderLeft.store(1, std::memory_order_release);
    } else if (what == "release") {
        header.release.store(1, std::memory_order_release);
        wakeFutex(header.release);
    } else if (what == "stop") {
        const pid_t caller = m_mapping.guard().header().callerTid.load(std::memory_order_relaxed);
        if (!m_rankEnded && (caller <= 0 || ::syscall(SYS_tgkill, rankPid(), caller, SIGSTOP) != 0)) {
            ::kill(rankPid(), SIGSTOP);
        }
    } else if (what == "kill") {
        killAll();
    } else if (what == "finish") {
        m_finish = true;
    } else if (what == "poll") {
        m_lastState.clear();
    }
}

/// Where the rank's code is, as far as that is known, and where its mapping is, for the case that the agent is killed.
void Session::tellModules(const std::string& modules) {
    struct stat info {};
    const std::string map = m_mapping.environmentPath();
    if (::stat(map.c_str(), &info) != 0) {
        info = {};
    }
    m_window.send(Channel::Modules, Fields{{"modules", modules},
                                           {"map", map},
                                           {"device", std::to_string(info.st_dev)},
                                           {"inode", std::to_string(info.st_ino)}});
}

/// The rank has been ended with its launcher; what it has recorded is still wanted.
void Session::serveUntilFinished() {
    const std::int64_t deadline = monotonicNs() + std::int64_t{kServeMs} * 1'000'000;
    m_endTold = m_endTold || m_rankEnded;
    while (m_window.open() && !m_finish && monotonicNs() < deadline) {
        sendState();
        pollfd wait{m_window.fd(), static_cast<short>(POLLIN | (m_window.queued() > 0 ? POLLOUT : 0)), 0};
        if (::poll(&wait, 1, kServeStepMs) <= 0) {
            continue;
        }
        if ((wait.revents & POLLOUT) != 0) {
            m_window.flush();
        }
        if ((wait.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
            const Leaving why = m_leaving;
            readWindow();
            if (m_leaving == Leaving::WindowGone) {
                m_leaving = why;
                return;
            }
        }
    }
}

} // namespace stopline::agent
