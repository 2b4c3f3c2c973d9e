#include "agent_hold.h"

#include <array>
#include <ctime>

namespace stopline::agent {
namespace {

std::string_view takeToken(std::string_view& line) {
    std::size_t digits = 0;
    while (digits < line.size() && line[digits] >= '0' && line[digits] <= '9') {
        ++digits;
    }
    const std::string_view token = line.substr(0, digits);
    line.remove_prefix(digits);
    return token;
}

constexpr std::array<std::string_view, 8> kResumeCommands = {"-exec-continue",
                                                             "-exec-next",
                                                             "-exec-step",
                                                             "-exec-finish",
                                                             "-exec-until",
                                                             "-exec-jump",
                                                             "-exec-next-instruction",
                                                             "-exec-step-instruction"};

} // namespace

MiLine<MiCommandKind> classifyCommand(std::string_view line) {
    MiLine<MiCommandKind> result;
    result.token = takeToken(line);
    const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
    for (const std::string_view resume : kResumeCommands) {
        if (word == resume) {
            result.kind = MiCommandKind::Resume;
            return result;
        }
    }
    if (word == "-target-attach") {
        result.kind = MiCommandKind::Attach;
    } else if (word == "-target-detach") {
        result.kind = MiCommandKind::Detach;
    } else if (word == "-gdb-exit") {
        result.kind = MiCommandKind::Exit;
    }
    return result;
}

MiLine<MiOutputKind> classifyOutput(std::string_view line) {
    MiLine<MiOutputKind> result;
    result.token = takeToken(line);
    if (line.starts_with("*stopped")) {
        result.kind = MiOutputKind::Stopped;
    } else if (line.starts_with("^error")) {
        result.kind = MiOutputKind::Error;
    }
    return result;
}

void LineSplitter::append(std::string_view bytes, const Handler& handler) {
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::string_view piece = bytes.substr(0, end);
        if (m_line.size() < kKeep) {
            m_line.append(piece.substr(0, kKeep - m_line.size()));
        }
        if (end == std::string_view::npos) {
            return;
        }
        handler(m_line);
        m_line.clear();
        bytes.remove_prefix(end + 1);
    }
}

void HoldClock::begin(std::int64_t now) {
    if (!m_counting) {
        m_counting = true;
        m_begin = now;
    }
}

void HoldClock::finishIfFree(std::int64_t now) {
    if (!m_counting || m_gdb) {
        return;
    }
    m_counting = false;
    // The events that follow will not count this span. When gdb has died, which lets the rank run on, some
    // have been recorded meanwhile that do: the stop is placed behind them.
    if (!m_mapping.guard().look()) {
        return;
    }
    const std::uint64_t event = m_mapping.guard().header().eventCount.load(std::memory_order_relaxed);
    m_mapping.header().heldNs.fetch_add(now - m_begin, std::memory_order_acq_rel);
    m_mapping.appendStop(event, m_begin, now);
}

void HoldClock::stopped(std::int64_t now) {
    m_resumeToken.clear();
    if (m_gdb) {
        return;
    }
    m_gdb = true;
    // The library counts its waiting at the gate, and from its arrival to its return from the stop function.
    // A stop in between is part of that.
    m_mapping.guard().look();
    const trace::MappingHeader& header = m_mapping.guard().header();
    const bool waits =
        header.inHold.load(std::memory_order_acquire) != 0 ||
        header.state.load(std::memory_order_acquire) == static_cast<std::uint32_t>(trace::RankState::AtGate);
    if (!waits) {
        begin(now);
    }
}

void HoldClock::resumed(std::int64_t now, std::string_view token) {
    m_wasGdb = m_gdb;
    m_resumeToken = token;
    m_gdb = false;
    finishIfFree(now);
}

void HoldClock::refused(std::int64_t now, std::string_view token) {
    if (m_wasGdb && !m_resumeToken.empty() && token == m_resumeToken) {
        stopped(now);
    }
}

void HoldClock::ended(std::int64_t now) {
    m_gdb = false;
    finishIfFree(now);
}

std::int64_t monotonicNs() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

} // namespace stopline::agent
