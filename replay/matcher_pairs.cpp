// The pairing inside a channel and the public message records.
#include "matcher.h"

#include <algorithm>

namespace stopline::replay {

void Matcher::join(std::uint32_t half, std::uint32_t channelId) {
    RecvHalf& recv = m_data.recvs[half];
    recv.channel = channelId;
    Channel& ch = m_data.channels[channelId];
    const auto before = [&](std::uint32_t a, std::uint32_t sequence) {
        return m_data.recvs[a].sequence < sequence;
    };
    auto at = ch.recvs.end();
    if (!ch.recvs.empty() && !before(ch.recvs.back(), recv.sequence)) {
        at = std::lower_bound(ch.recvs.begin(), ch.recvs.end(), recv.sequence, before);
    }
    const auto position = static_cast<std::size_t>(at - ch.recvs.begin());
    ch.recvs.insert(at, half);
    for (auto probe = ch.probes.rbegin(); probe != ch.probes.rend(); ++probe) {
        if (m_data.probes[*probe].sequence <= recv.sequence) {
            break;
        }
        ++m_data.probes[*probe].position;
    }
    repair(ch, position);
}

void Matcher::leaveRecv(std::uint32_t half) {
    RecvHalf& recv = m_data.recvs[half];
    recv.cancelled = true;
    if (recv.channel == kNone) {
        refresh(recv.message);
        return;
    }
    Channel& ch = m_data.channels[recv.channel];
    const auto at = std::lower_bound(
        ch.recvs.begin(), ch.recvs.end(), recv.sequence,
        [&](std::uint32_t a, std::uint32_t sequence) { return m_data.recvs[a].sequence < sequence; });
    const auto position = static_cast<std::size_t>(at - ch.recvs.begin());
    ch.recvs.erase(at);
    for (auto probe = ch.probes.rbegin(); probe != ch.probes.rend(); ++probe) {
        if (m_data.probes[*probe].sequence <= recv.sequence) {
            break;
        }
        --m_data.probes[*probe].position;
    }
    const std::uint32_t message = recv.message;
    if (m_data.halves[message].send != kNone) {
        m_data.halves[message].recv = kNone;
        recv.message = kNone;
        refresh(message);
        refresh(newMessage(kNone, half));
    } else {
        refresh(message);
    }
    repair(ch, position);
}

void Matcher::leaveSend(std::uint32_t half) {
    SendHalf& send = m_data.sends[half];
    send.cancelled = true;
    Channel& ch = m_data.channels[send.channel];
    const auto at = std::lower_bound(ch.sends.begin(), ch.sends.end(), half);
    const auto position = static_cast<std::size_t>(at - ch.sends.begin());
    ch.sends.erase(at);
    const std::uint32_t message = send.message;
    if (const std::uint32_t recv = m_data.halves[message].recv; recv != kNone) {
        m_data.halves[message].recv = kNone;
        m_data.recvs[recv].message = kNone;
    }
    refresh(message);
    repair(ch, position);
}

void Matcher::repair(Channel& ch, std::size_t from) {
    const std::size_t paired = std::min(ch.sends.size(), ch.recvs.size());
    for (std::size_t k = from; k < paired; ++k) {
        const std::uint32_t recv = ch.recvs[k];
        const std::uint32_t old = m_data.recvs[recv].message;
        if (old == m_data.sends[ch.sends[k]].message) {
            continue;
        }
        if (old != kNone && m_data.halves[old].send == kNone) {
            freeMessage(old); // may move the record of the send
        }
        const std::uint32_t message = m_data.sends[ch.sends[k]].message;
        m_data.halves[message].recv = recv;
        m_data.recvs[recv].message = message;
        refresh(message);
    }
    for (std::size_t k = std::max(from, paired); k < ch.sends.size(); ++k) {
        const std::uint32_t message = m_data.sends[ch.sends[k]].message;
        if (m_data.halves[message].recv == kNone) {
            break; // behind it nothing was paired before either
        }
        m_data.halves[message].recv = kNone;
        refresh(message);
    }
    for (std::size_t k = std::max(from, paired); k < ch.recvs.size(); ++k) {
        const std::uint32_t recv = ch.recvs[k];
        const std::uint32_t old = m_data.recvs[recv].message;
        if (old == kNone || m_data.halves[old].send != kNone) {
            m_data.recvs[recv].message = kNone;
            refresh(newMessage(kNone, recv));
        } else {
            refresh(old); // a wildcard that has just joined: source and tag are known now
        }
    }
}

std::uint32_t Matcher::newMessage(std::uint32_t send, std::uint32_t recv) {
    const auto message = static_cast<std::uint32_t>(m_data.messages.size());
    m_data.messages.emplace_back();
    m_data.halves.push_back({send, recv, kNone});
    if (send != kNone) {
        m_data.sends[send].message = message;
    }
    if (recv != kNone) {
        RecvHalf& half = m_data.recvs[recv];
        half.message = message;
        const trace::EventDetails& d = m_data.rank(half.rank).details[half.details];
        Message& record = m_data.messages[message];
        record.bytes = d.recvBytes;
        record.tag = d.recvTag;
        const std::uint32_t comm =
            half.channel != kNone ? m_data.channels[half.channel].comm : m_data.commEntry(half.rank, d.comm);
        record.commId = m_data.commEntries[comm].id;
        record.receiver = RankId{half.rank};
        if (half.channel == kNone) {
            record.sender =
                RankId{m_data.worldRank(half.rank, d.comm, d.recvPeer)}; // tag wildcard, source known
        }
    }
    // A fresh record counts as open until refresh() says otherwise.
    m_data.messages[message].state = MessageState::Cancelled;
    setState(message, MessageState::Unsent);
    return message;
}

void Matcher::freeMessage(std::uint32_t message) {
    setState(message, MessageState::Cancelled);
    const auto last = static_cast<std::uint32_t>(m_data.messages.size() - 1);
    if (message != last) {
        m_data.messages[message] = m_data.messages[last];
        m_data.halves[message] = m_data.halves[last];
        const MessageHalves& moved = m_data.halves[message];
        if (moved.send != kNone) {
            m_data.sends[moved.send].message = message;
        }
        if (moved.recv != kNone) {
            m_data.recvs[moved.recv].message = message;
        }
        if (moved.open != kNone) {
            m_data.openMessages[moved.open] = message;
        }
    }
    m_data.messages.pop_back();
    m_data.halves.pop_back();
}

void Matcher::setState(std::uint32_t message, MessageState state) {
    const auto isOpen = [](MessageState s) {
        return s != MessageState::Matched && s != MessageState::Cancelled;
    };
    const bool was = isOpen(m_data.messages[message].state);
    const bool is = isOpen(state);
    m_data.messages[message].state = state;
    if (was == is) {
        return;
    }
    auto& open = m_data.openMessages;
    if (is) {
        m_data.halves[message].open = static_cast<std::uint32_t>(open.size());
        open.push_back(message);
        return;
    }
    const std::uint32_t at = m_data.halves[message].open;
    m_data.halves[message].open = kNone;
    open[at] = open.back();
    m_data.halves[open[at]].open = at;
    open.pop_back();
    if (at == open.size()) { // it was the last one itself
        m_data.halves[message].open = kNone;
    }
}

void Matcher::refresh(std::uint32_t message) {
    const MessageHalves halves = m_data.halves[message];
    Message& record = m_data.messages[message];
    const SendHalf* send = halves.send != kNone ? &m_data.sends[halves.send] : nullptr;
    const RecvHalf* recv = halves.recv != kNone ? &m_data.recvs[halves.recv] : nullptr;
    record.post.reset();
    record.done.reset();
    record.wildcardSource = false;
    record.wildcardTag = false;
    if (recv != nullptr) {
        const trace::EventDetails& d = m_data.rank(recv->rank).details[recv->details];
        record.post = m_data.ref(recv->rank, recv->post);
        if (recv->done != kNone) {
            record.done = m_data.ref(recv->rank, recv->done);
        }
        record.wildcardSource = d.recvPeer == kAnySource;
        record.wildcardTag = d.recvTag == kAnyTag;
        if (recv->channel != kNone) {
            const Channel& ch = m_data.channels[recv->channel];
            record.sender = RankId{ch.source};
            record.tag = ch.tag;
        }
    }
    if ((send != nullptr && send->cancelled) || (recv != nullptr && recv->cancelled)) {
        setState(message, MessageState::Cancelled);
    } else if (send != nullptr && recv != nullptr) {
        setState(message, recv->done != kNone ? MessageState::Matched : MessageState::Posted);
    } else {
        setState(message, send != nullptr ? MessageState::Unreceived : MessageState::Unsent);
    }
}

} // namespace stopline::replay
