// The pairing inside a channel and the public message records.
#include "matcher.h"

#include <algorithm>
#include <limits>

namespace stopline::replay {

namespace {

std::size_t placeIn(const SmallList& ids, std::uint32_t id) {
    return static_cast<std::size_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
}

/// A receive with this number has come into the channel before the probes that were made after its posting,
/// or has gone.
void shiftProbes(TimelineData& data, const Channel& ch, std::uint32_t recv, std::int32_t by) {
    for (std::size_t i = ch.probes.size(); i > 0 && data.probes[ch.probes[i - 1]].before > recv; --i) {
        data.probes[ch.probes[i - 1]].position += static_cast<std::uint32_t>(by);
        ++data.revised;
    }
}

} // namespace

void Matcher::join(std::uint32_t half, std::uint32_t channelId) {
    m_data.recvs[half].channel = channelId;
    Channel& ch = m_data.channels[channelId];
    const std::size_t position = placeIn(ch.recvs, half);
    ch.recvs.insert(position, half);
    shiftProbes(m_data, ch, half, 1);
    repair(ch, static_cast<std::int64_t>(position));
}

void Matcher::leaveRecv(std::uint32_t half) {
    RecvHalf& recv = m_data.recvs[half];
    recv.cancelled = true;
    ++m_data.revised;
    if (recv.channel == kNone) {
        refresh(recv.message);
        return;
    }
    Channel& ch = m_data.channels[recv.channel];
    const std::size_t position = placeIn(ch.recvs, half);
    ch.recvs.erase(position);
    shiftProbes(m_data, ch, half, -1);
    const std::uint32_t message = recv.message;
    if (m_data.halves[message].send != kNone) {
        ++m_data.rearranged;
        m_data.halves[message].recv = kNone;
        recv.message = kNone;
        refresh(message);
        refresh(newMessage(half));
    } else {
        refresh(message);
    }
    repair(ch, static_cast<std::int64_t>(position));
}

void Matcher::leaveSend(std::uint32_t half) {
    SendHalf& send = m_data.sends[half];
    send.cancelled = true;
    ++m_data.revised;
    Channel& ch = m_data.channels[send.channel];
    const std::size_t position = placeIn(ch.sends, half);
    ch.sends.erase(position);
    const std::uint32_t message = send.message;
    if (const std::uint32_t recv = m_data.halves[message].recv; recv != kNone) {
        ++m_data.rearranged;
        m_data.halves[message].recv = kNone;
        m_data.recvs[recv].message = kNone;
    }
    refresh(message);
    repair(ch, ch.receiveAt(position));
}

void Matcher::withdrawSend(std::uint32_t half) {
    if (m_data.sends[half].cancelled) {
        return;
    }
    leaveSend(half);
    freeMessage(m_data.sends[half].message);
    m_data.sends[half].message = kNone;
}

void Matcher::withdrawRecv(std::uint32_t half) {
    if (m_data.recvs[half].cancelled) {
        return;
    }
    leaveRecv(half);
    freeMessage(m_data.recvs[half].message);
    m_data.recvs[half].message = kNone;
}

void Matcher::repair(Channel& ch, std::int64_t from) {
    if (!ch.probes.empty()) {
        m_data.touchAll(); // they may see other sends now
    }
    const auto sends = static_cast<std::int64_t>(ch.sends.size());
    const auto recvs = static_cast<std::int64_t>(ch.recvs.size());
    const std::int64_t firstReceive = std::max<std::int64_t>(from, 0);
    const auto sendOfPlace = [&ch](std::int64_t receive) { return ch.sendAt(static_cast<std::size_t>(receive)); };
    const std::int64_t firstPair = ch.unknown ? recvs : std::max(firstReceive, -ch.shift);
    for (std::int64_t k = firstPair; k < recvs && ch.hasSend(sendOfPlace(k)); ++k) {
        const std::uint32_t recv = ch.recvs[static_cast<std::size_t>(k)];
        const std::uint32_t send = ch.sends[static_cast<std::size_t>(sendOfPlace(k))];
        const std::uint32_t old = m_data.recvs[recv].message;
        if (old == m_data.sends[send].message) {
            continue;
        }
        if (old != kNone && m_data.halves[old].send == kNone) {
            freeMessage(old); // may move the record of the send
        }
        const std::uint32_t message = m_data.sends[send].message;
        if (m_data.halves[message].recv != kNone) {
            ++m_data.rearranged;
        }
        m_data.halves[message].recv = recv;
        m_data.recvs[recv].message = message;
        refresh(message);
    }
    const auto alone = [this, &ch](std::int64_t send) {
        const std::uint32_t message = m_data.sends[ch.sends[static_cast<std::size_t>(send)]].message;
        if (m_data.halves[message].recv != kNone) {
            ++m_data.rearranged;
            m_data.halves[message].recv = kNone;
        } else if (m_data.messages[message].state != MessageState::Early && !isEarly(m_data.halves[message])) {
            return false;
        }
        refresh(message);
        return true;
    };
    for (std::int64_t k = ch.unknown ? 0 : std::max<std::int64_t>(from + ch.shift, 0);
         k < sends && ch.receiveAt(static_cast<std::size_t>(k)) < 0; ++k) {
        alone(k);
    }
    if (!ch.unknown) {
        for (std::int64_t k = std::max<std::int64_t>(std::max(firstReceive, recvs) + ch.shift, 0); k < sends && alone(k); ++k) {
            // behind one that was alone before nothing was paired before either
        }
    }
    for (std::int64_t k = firstReceive; k < recvs; ++k) {
        if (ch.hasSend(sendOfPlace(k))) {
            // Those in front of the first pair come first, those behind the last pair last.
            k = std::max(k, std::min(recvs, sends - ch.shift) - 1);
            continue;
        }
        const std::uint32_t recv = ch.recvs[static_cast<std::size_t>(k)];
        const std::uint32_t old = m_data.recvs[recv].message;
        if (old == kNone || m_data.halves[old].send != kNone) {
            m_data.recvs[recv].message = kNone;
            refresh(newMessage(recv));
        } else {
            refresh(old); // a wildcard that has just joined: source and tag are known now
        }
    }
}

/// Of a message of which one half is there.
bool Matcher::isEarly(const MessageHalves& halves) const {
    const std::uint32_t channel =
        halves.send != kNone ? m_data.sends[halves.send].channel : m_data.recvs[halves.recv].channel;
    if (channel == kNone) {
        return false;
    }
    const Channel& ch = m_data.channels[channel];
    if (ch.shift == 0 && !ch.unknown) {
        return false;
    }
    return halves.send != kNone ? ch.receiveAt(placeIn(ch.sends, halves.send)) < 0
                                : ch.sendAt(placeIn(ch.recvs, halves.recv)) < 0;
}

std::uint32_t Matcher::newRecord(const Message& record, std::uint32_t send, std::uint32_t recv) {
    const auto message = static_cast<std::uint32_t>(m_data.messages.size());
    m_data.messages.push_back(record);
    m_data.halves.push_back({send, recv, static_cast<std::uint32_t>(m_data.openMessages.size())});
    m_data.openMessages.push_back(message);
    return message;
}

std::uint32_t Matcher::newMessage(std::uint32_t recv) {
    RecvHalf& half = m_data.recvs[recv];
    const trace::EventDetails& d = m_data.rank(half.rank).details[half.details];
    Message record;
    record.bytes = d.recvBytes;
    record.tag = d.recvTag;
    const std::uint32_t comm =
        half.channel != kNone ? m_data.channels[half.channel].comm : m_data.commEntry(half.rank, d.comm);
    record.commId = m_data.commEntries[comm].id;
    record.receiver = RankId{half.rank};
    if (half.channel == kNone) {
        record.sender = RankId{m_data.worldRank(half.rank, d.comm, d.recvPeer)};
    }
    half.message = newRecord(record, kNone, recv);
    return half.message;
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

void Matcher::open(std::uint32_t message) {
    m_data.halves[message].open = static_cast<std::uint32_t>(m_data.openMessages.size());
    m_data.openMessages.push_back(message);
}

void Matcher::close(std::uint32_t message) {
    auto& list = m_data.openMessages;
    const std::uint32_t at = m_data.halves[message].open;
    const std::uint32_t last = list.back();
    list[at] = last;
    m_data.halves[last].open = at;
    list.pop_back();
    m_data.halves[message].open = kNone;
}

void Matcher::setState(std::uint32_t message, MessageState state) {
    m_data.messages[message].state = state;
    const bool was = m_data.halves[message].open != kNone;
    const bool is =
        state != MessageState::Matched && state != MessageState::Cancelled && state != MessageState::Early;
    if (was && !is) {
        close(message);
    } else if (is && !was) {
        open(message);
    }
}

void Matcher::refresh(std::uint32_t message) {
    touchMessage(message);
    const MessageHalves halves = m_data.halves[message];
    Message& record = m_data.messages[message];
    const SendHalf* send = halves.send != kNone ? &m_data.sends[halves.send] : nullptr;
    const RecvHalf* recv = halves.recv != kNone ? &m_data.recvs[halves.recv] : nullptr;
    record.post = std::nullopt;
    record.done = std::nullopt;
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
    } else if (isEarly(halves)) {
        setEarly(message);
    } else {
        setState(message, send != nullptr ? MessageState::Unreceived : MessageState::Unsent);
    }
}

} // namespace stopline::replay
