#include "matcher.h"

#include "../tracelib/function_forms.h"

#include <algorithm>

namespace stopline::replay {

using trace::EventDetails;
using trace::FunctionId;

bool isSynchronousSend(FunctionId named) {
    const FunctionId function = trace::plainFunction(named);
    return function == FunctionId::Ssend || function == FunctionId::Issend ||
           function == FunctionId::Ssend_init;
}

bool isBufferedSend(FunctionId named) {
    const FunctionId function = trace::plainFunction(named);
    return function == FunctionId::Bsend || function == FunctionId::Ibsend ||
           function == FunctionId::Bsend_init;
}

namespace {

std::size_t hashOf(std::uint32_t comm, std::int32_t source, std::int32_t destination, std::int32_t tag) {
    const std::uint64_t high = (std::uint64_t{comm} << 32U) | static_cast<std::uint32_t>(tag);
    const std::uint64_t low =
        (std::uint64_t{static_cast<std::uint32_t>(source)} << 32U) | static_cast<std::uint32_t>(destination);
    std::uint64_t x = high * 0x9e3779b97f4a7c15ULL ^ low;
    x ^= x >> 32U;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32U;
    return static_cast<std::size_t>(x);
}

} // namespace

void Matcher::growTable() {
    const std::size_t size = std::max<std::size_t>(64, m_table.size() * 2);
    m_table.assign(size, kNone);
    for (std::uint32_t id = 0; id < m_data.channels.size(); ++id) {
        const Channel& ch = m_data.channels[id];
        std::size_t at = hashOf(ch.comm, ch.source, ch.destination, ch.tag) & (size - 1);
        while (m_table[at] != kNone) {
            at = (at + 1) & (size - 1);
        }
        m_table[at] = id;
    }
}

std::uint32_t Matcher::channel(std::uint32_t comm, std::int32_t source, std::int32_t destination,
                               std::int32_t tag) {
    if (m_data.channels.size() * 2 >= m_table.size()) {
        growTable();
    }
    const std::size_t mask = m_table.size() - 1;
    std::size_t at = hashOf(comm, source, destination, tag) & mask;
    for (; m_table[at] != kNone; at = (at + 1) & mask) {
        const Channel& ch = m_data.channels[m_table[at]];
        if (ch.tag == tag && ch.source == source && ch.destination == destination && ch.comm == comm) {
            return m_table[at];
        }
    }
    m_table[at] = static_cast<std::uint32_t>(m_data.channels.size());
    m_data.channels.push_back({comm, source, destination, tag, {}, {}, {}, 0, false, 0});
    for (const std::int32_t rank : {source, destination}) {
        m_data.channels.back().unknown |= m_data.hasEarly(rank) && m_data.rank(rank).early->incomplete;
    }
    return m_table[at];
}

std::uint32_t Matcher::prototype(std::int32_t rank, const EventDetails& d, bool send,
                                 std::uint32_t channelId) {
    Message record;
    record.commId = m_data.commEntries[m_data.commEntry(rank, d.comm)].id;
    record.state = send ? MessageState::Unreceived : MessageState::Unsent;
    if (send) {
        record.bytes = d.sendBytes;
        record.tag = d.sendTag;
        record.sender = RankId{rank};
        record.receiver = RankId{m_data.channels[channelId].destination};
    } else {
        record.bytes = d.recvBytes;
        record.tag = d.recvTag;
        record.receiver = RankId{rank};
        // With a wildcard for the tag alone the source is known.
        record.sender = RankId{m_data.worldRank(rank, d.comm, d.recvPeer)};
        record.wildcardSource = d.recvPeer == kAnySource;
        record.wildcardTag = d.recvTag == kAnyTag;
    }
    m_data.prototypes.push_back(record);
    return static_cast<std::uint32_t>(m_data.prototypes.size() - 1);
}

DetailsCache& Matcher::resolve(std::int32_t rank, std::uint32_t details) {
    RankData& data = m_data.rank(rank);
    DetailsCache& cache = data.cache[details];
    if (cache.resolved) {
        return cache;
    }
    const EventDetails& d = data.details[details];
    const std::uint32_t comm = m_data.commEntry(rank, d.comm);
    if (comm == kNone) {
        return cache; // the communicator may still be told
    }
    cache.resolved = true;
    cache.waitsForReceiver = isSynchronousSend(d.function) ||
                             (d.sendBytes > m_data.rules.eagerLimit && !isBufferedSend(d.function));
    if (const std::int32_t to = m_data.worldRank(rank, d.comm, d.sendPeer); to >= 0) {
        cache.sendChannel = channel(comm, rank, to, d.sendTag);
        cache.sendRecord = prototype(rank, d, true, cache.sendChannel);
    }
    const std::int32_t from = m_data.worldRank(rank, d.comm, d.recvPeer);
    cache.receives = d.recvPeer == kAnySource || from >= 0;
    cache.wildcard = cache.receives && (d.recvPeer == kAnySource || d.recvTag == kAnyTag);
    if (cache.receives) {
        if (!cache.wildcard) {
            cache.recvChannel = channel(comm, from, rank, d.recvTag);
        }
        cache.recvRecord = prototype(rank, d, false, cache.recvChannel);
    }
    return cache;
}

std::uint32_t Matcher::send(std::int32_t rank, std::uint32_t call, std::uint32_t details) {
    const DetailsCache& cache = resolve(rank, details);
    if (cache.sendChannel == kNone) {
        return kNone;
    }
    const auto id = static_cast<std::uint32_t>(m_data.sends.size());
    Channel& ch = m_data.channels[cache.sendChannel];
    const std::int64_t receive = ch.receiveAt(ch.sends.size());
    ch.sends.push_back(id);
    m_data.link(rank, call, Role::Send, id);
    SendHalf half;
    half.rank = rank;
    half.call = call;
    half.channel = cache.sendChannel;
    half.waitsForReceiver = cache.waitsForReceiver;
    touchProbes(ch, receive);
    if (receive < std::int64_t{ch.seen}) [[unlikely]] {
        m_data.noteMissing(rank, call);
    }
    if (!ch.hasReceive(receive)) {
        Message record = m_data.prototypes[cache.sendRecord];
        record.send = m_data.ref(rank, call);
        half.message = newRecord(record, id, kNone);
        m_data.sends.push_back(half);
        if (receive < 0) {
            setEarly(half.message);
        }
        return id;
    }
    const RecvHalf& recv = m_data.recvs[ch.recvs[static_cast<std::size_t>(receive)]];
    m_data.touch(recv.rank, recv.post);
    half.message = recv.message;
    m_data.sends.push_back(half);
    m_data.halves[recv.message].send = id;
    Message& record = m_data.messages[recv.message];
    const Message& own = m_data.prototypes[cache.sendRecord];
    record.send = m_data.ref(rank, call);
    record.bytes = own.bytes;
    record.tag = own.tag;
    record.commId = own.commId;
    record.sender = own.sender;
    record.receiver = own.receiver;
    setState(recv.message, recv.done != kNone ? MessageState::Matched : MessageState::Posted);
    return id;
}

std::uint32_t Matcher::newHalf(std::int32_t rank, std::uint32_t call, std::uint32_t details) {
    const auto id = static_cast<std::uint32_t>(m_data.recvs.size());
    RecvHalf half;
    half.rank = rank;
    half.post = call;
    half.start = call;
    half.details = details;
    m_data.recvs.push_back(half);
    m_data.link(rank, call, Role::Post, id);
    return id;
}

std::uint32_t Matcher::post(std::int32_t rank, std::uint32_t call, std::uint32_t details) {
    const DetailsCache& cache = resolve(rank, details);
    if (!cache.receives) {
        return kNone;
    }
    const std::uint32_t id = newHalf(rank, call, details);
    RecvHalf& half = m_data.recvs[id];
    half.channel = cache.recvChannel;
    bool early = false;
    if (!cache.wildcard) {
        // No receive and no probe of this rank was later: it goes to the end of its channel.
        Channel& ch = m_data.channels[cache.recvChannel];
        const std::int64_t sent = ch.sendAt(ch.recvs.size());
        ch.recvs.push_back(id);
        early = sent < 0;
        if (ch.hasSend(sent)) {
            const SendHalf& send = m_data.sends[ch.sends[static_cast<std::size_t>(sent)]];
            m_data.touch(send.rank, send.call);
            half.message = send.message;
            m_data.halves[half.message].recv = id;
            Message& record = m_data.messages[half.message];
            record.post = m_data.ref(rank, call);
            record.wildcardSource = false;
            record.wildcardTag = false;
            setState(half.message, MessageState::Posted);
            return id;
        }
    }
    Message record = m_data.prototypes[cache.recvRecord];
    record.post = m_data.ref(rank, call);
    half.message = newRecord(record, kNone, id);
    if (early) {
        setEarly(half.message);
    }
    return id;
}

void Matcher::sendDone(std::uint32_t half, std::uint32_t call, bool cancelled) {
    SendHalf& send = m_data.sends[half];
    if (send.done != kNone) {
        return;
    }
    send.done = call;
    touchMessage(send.message);
    if (call != send.call) {
        m_data.link(send.rank, call, Role::SendDone, half);
    }
    if (cancelled) {
        leaveSend(half);
    }
}

void Matcher::recvDone(std::uint32_t half, std::uint32_t call, const trace::Status& status) {
    if (m_data.recvs[half].done != kNone) {
        return;
    }
    const std::int32_t rank = m_data.recvs[half].rank;
    m_data.recvs[half].done = call;
    touchMessage(m_data.recvs[half].message);
    if (call != m_data.recvs[half].post && call != m_data.recvs[half].start) {
        m_data.link(rank, call, Role::Done, half);
    }
    if (status.cancelled) {
        leaveRecv(half);
        return;
    }
    const RecvHalf& recv = m_data.recvs[half];
    if (recv.channel == kNone) {
        const EventDetails& d = m_data.rank(rank).details[recv.details];
        const std::int32_t from =
            m_data.worldRank(rank, d.comm, d.recvPeer == kAnySource ? status.source : d.recvPeer);
        const std::int32_t tag = d.recvTag == kAnyTag ? status.tag : d.recvTag;
        const std::uint32_t comm = m_data.commEntry(rank, d.comm);
        if (from >= 0 && tag >= 0 && comm != kNone) {
            join(half, channel(comm, from, rank, tag));
        }
    }
    const std::uint32_t message = m_data.recvs[half].message;
    Message& record = m_data.messages[message];
    record.done = m_data.ref(rank, call);
    if (m_data.halves[message].send != kNone) {
        setState(message, MessageState::Matched);
        return;
    }
    record.bytes = status.bytes;
    if (m_data.recvs[half].channel == kNone && status.tag >= 0) {
        record.tag = status.tag;
    }
}

void Matcher::probed(std::int32_t rank, std::uint32_t call, const EventDetails& begin,
                     const EventDetails& end, bool takes) {
    const CommIndex commIndex = end.comm != kNoComm ? end.comm : begin.comm;
    const std::uint32_t comm = m_data.commEntry(rank, commIndex);
    const std::int32_t source = end.status.source != kNoPeer ? end.status.source : begin.recvPeer;
    const std::int32_t tag = end.status.tag != kNoTag ? end.status.tag : begin.recvTag;
    const std::int32_t from = m_data.worldRank(rank, commIndex, source);
    if (comm == kNone || from < 0 || tag < 0) {
        return;
    }
    const std::uint32_t channelId = channel(comm, from, rank, tag);
    if (takes) {
        const RankEvents& events = m_data.rank(rank).events;
        const std::uint32_t half = newHalf(rank, call, events.detailsOf(events.beginOf(call)));
        m_data.recvs[half].start = kNone;
        m_data.rank(rank).matched.push_back({half, comm, kNone, kNone});
        join(half, channelId);
        return;
    }
    Channel& ch = m_data.channels[channelId];
    const auto id = static_cast<std::uint32_t>(m_data.probes.size());
    m_data.probes.push_back({rank, call, channelId, static_cast<std::uint32_t>(ch.recvs.size()),
                             static_cast<std::uint32_t>(m_data.recvs.size())});
    ch.probes.push_back(id);
    m_data.touch(rank, call);
    if (const std::int64_t at = ch.sendAt(ch.recvs.size()); ch.hasSend(at)) {
        const SendHalf& seen = m_data.sends[ch.sends[static_cast<std::size_t>(at)]];
        m_data.touch(seen.rank, seen.call);
    }
    m_data.link(rank, call, Role::Probe, id);
}

std::uint32_t Matcher::startMatched(std::int32_t rank, std::uint32_t call, CommIndex comm, trace::RequestRef message,
                                    std::uint32_t request) {
    const std::uint32_t entry = m_data.commEntry(rank, comm);
    if (const RankData& data = m_data.rank(rank); data.early != nullptr && message.back < trace::RequestRef::kUnknown &&
                                                  message.back >= data.messagesTaken) {
        return kNone; // taken before the start of the history
    }
    for (MatchedMessage& matched : m_data.rank(rank).matched) {
        if (matched.starter == kNone && (entry == kNone || matched.commEntry == entry)) {
            matched.starter = call;
            matched.request = request;
            m_data.recvs[matched.half].start = call;
            touchMessage(m_data.recvs[matched.half].message);
            m_data.link(rank, call, Role::Start, matched.half);
            return matched.half;
        }
    }
    return kNone;
}

bool Matcher::fits(const MatchedMessage& matched, const trace::Status& status) const {
    const Channel& ch = m_data.channels[m_data.recvs[matched.half].channel];
    const std::int32_t rank = m_data.recvs[matched.half].rank;
    if (ch.tag != status.tag) {
        return false;
    }
    // The status counts ranks as the communicator does: look for the view that belongs to the entry.
    const RankData& data = m_data.rank(rank);
    for (std::uint32_t comm = 0; comm < data.views.size(); ++comm) {
        if (data.views[comm].entry == matched.commEntry) {
            return m_data.worldRank(rank, CommIndex{comm}, status.source) == ch.source;
        }
    }
    return false;
}

std::uint32_t Matcher::settleMatched(std::int32_t rank, std::uint32_t half, const trace::Status& status) {
    RankData& data = m_data.rank(rank);
    auto& list = data.matched;
    const auto own =
        std::find_if(list.begin(), list.end(), [&](const MatchedMessage& m) { return m.half == half; });
    if (own == list.end()) {
        return half;
    }
    if (status.source == kProcNull) { // it received "no process"; the message is still to be received
        m_data.recvs[half].start = kNone;
        touchMessage(m_data.recvs[half].message);
        own->starter = kNone;
        own->request = kNone;
        return kNone;
    }
    auto right = own;
    const CommIndex named = own->starter != kNone ? m_data.beginDetails(rank, own->starter).comm : kNoComm;
    const std::uint32_t comm = m_data.commEntry(rank, named);
    if (status.source != kNoPeer && !fits(*own, status)) {
        const auto find = [&](bool free) {
            return std::find_if(list.begin(), list.end(), [&](const MatchedMessage& m) {
                return (comm == kNone || m.commEntry == comm) && (!free || m.starter == kNone) &&
                       fits(m, status);
            });
        };
        auto other = find(true);
        if (other == list.end()) {
            other = find(false);
        }
        if (other != list.end()) {
            std::swap(own->starter, other->starter);
            std::swap(own->request, other->request);
            for (const MatchedMessage* m : {&*own, &*other}) {
                m_data.recvs[m->half].start = m->starter;
                touchMessage(m_data.recvs[m->half].message);
                if (m->starter != kNone) {
                    // The link of the former choice stays; readers compare it with RecvHalf::start.
                    m_data.link(rank, m->starter, Role::Start, m->half);
                }
                if (m->request != kNone) {
                    data.requests[m->request].target = m->half;
                }
            }
            right = other;
        }
    }
    const std::uint32_t result = right->half;
    list.erase(right);
    return result;
}

} // namespace stopline::replay
