#include "order_marks.h"

#include "causality.h"
#include "races_impl.h"

#include <algorithm>
#include <utility>

namespace stopline::replay {

using trace::CallClass;
using trace::EventDetails;
using trace::FunctionId;
using trace::OrderKind;
using trace::PollOutcome;

namespace {

class Marker {
  public:
    Marker(const TimelineData& data, const DataOrder& order, const RaceWindows& windows, const std::atomic<bool>* cancelled)
        : m_data(data), m_order(order), m_windows(windows), m_cancelled(cancelled) {}

    OrderMarks mark(const std::vector<std::uint32_t>& traced, const Timeline* times) {
        for (std::uint32_t send = 0; send < m_data.sends.size(); ++send) {
            m_marks.messages += m_order.passed(send) ? 1 : 0;
        }
        m_marks.traced = traced.size();
        if (!isWhole()) {
            return std::move(m_marks);
        }
        m_marks.ranks.resize(std::size_t(m_data.rankCount()));
        findMakers();
        m_isMarked.resize(m_data.sends.size());
        for (const std::uint32_t send : traced) {
            if (isCancelled()) {
                return std::move(m_marks);
            }
            if (canMark(send)) {
                markSend(send);
            } else {
                const Channel& channel = m_data.channels[m_data.sends[send].channel];
                m_unmarked[{channel.comm, channel.destination}].push_back(channel.tag);
            }
        }
        markProbes();
        leaveOpen();
        putTwins();
        if (times != nullptr) {
            m_marks.controls = controlMessages(*times, m_data, m_order, m_isMarked, m_cancelled);
        }
        return std::move(m_marks);
    }

  private:
    [[nodiscard]] bool isCancelled() const { return m_cancelled != nullptr && m_cancelled->load(std::memory_order_relaxed); }

    /// Every rank is known from its first event on, and makes its calls in one order.
    [[nodiscard]] bool isWhole() const {
        return std::all_of(m_data.ranks.begin(), m_data.ranks.end(), [](const RankData& rank) {
            return rank.early == nullptr &&
                   std::all_of(rank.details.begin(), rank.details.end(),
                               [](const EventDetails& details) { return details.thread == 0; });
        });
    }

    [[nodiscard]] const EventDetails* endDetails(std::int32_t rank, std::uint32_t call) const {
        const RankData& data = m_data.rank(rank);
        const std::uint64_t end = data.events.endOf(call);
        return end == 0 ? nullptr : &data.details[data.events.detailsOf(end)];
    }
    [[nodiscard]] bool endedWell(std::int32_t rank, std::uint32_t call) const {
        const EventDetails* end = endDetails(rank, call);
        return end != nullptr && end->error == trace::ErrorClass::Success;
    }

    void flag(std::int32_t rank, std::uint32_t call, CallMarks what) {
        m_marks.ranks[std::size_t(rank)][m_data.rank(rank).events.beginOf(call)] |= what;
    }

    /// The calls that have made each communicator.
    void findMakers() {
        m_makers.resize(m_data.commEntries.size());
        for (std::int32_t rank = 0; rank < m_data.rankCount(); ++rank) {
            const RankData& data = m_data.rank(rank);
            for (std::uint32_t call = 0; call < data.events.callCount(); ++call) {
                const CallClass callClass = trace::functionClass(m_data.beginDetails(rank, call).function);
                if ((callClass != CallClass::Init && callClass != CallClass::CommCreate) ||
                    !endedWell(rank, call)) {
                    continue;
                }
                const CommIndex made =
                    callClass == CallClass::Init ? kCommWorld : endDetails(rank, call)->newComm;
                if (const std::uint32_t comm = m_data.commEntry(rank, made); comm != kNone) {
                    m_makers[comm].emplace_back(rank, call);
                }
            }
        }
    }

    /// All members have made it, in one job whose world has been made, too: there it is agreed that messages
    /// are marked.
    [[nodiscard]] bool canHaveTwin(std::uint32_t comm) const {
        const std::vector<RankId>& members = m_data.commEntries[comm].members;
        const JobRanks* job = members.empty() ? nullptr : m_data.jobOf(members.front().value());
        const std::uint32_t world = job == nullptr ? kNone : m_data.commEntry(job->first, kCommWorld);
        return world != kNone && m_makers[comm].size() == members.size() &&
               m_makers[world].size() == std::size_t(job->size) &&
               std::all_of(members.begin(), members.end(),
                           [&](RankId member) { return m_data.jobOf(member.value()) == job; });
    }

    [[nodiscard]] bool canMark(std::uint32_t id) const {
        const SendHalf& send = m_data.sends[id];
        const RecvHalf* recv = recvOf(m_data, send);
        if (recv == nullptr || recv->done == kNone || recv->cancelled || send.cancelled) {
            return false;
        }
        const EventDetails& sends = m_data.beginDetails(send.rank, send.call);
        const EventDetails& posts = m_data.beginDetails(recv->rank, recv->post);
        const EventDetails* sent = endDetails(send.rank, send.call);
        return isPlain(sends.function, true) && isPlain(posts.function, false) &&
               (sent == nullptr || endedWell(send.rank, send.call)) && endedWell(recv->rank, recv->post) &&
               endedWell(recv->rank, recv->done) && canHaveTwin(m_data.channels[send.channel].comm);
    }

    /// A call whose message can be given to another communicator, at its beginning.
    [[nodiscard]] static bool isPlain(FunctionId function, bool sends) {
        switch (trace::functionClass(function)) {
        case CallClass::Send:
        case CallClass::Isend:
            return sends;
        case CallClass::Recv:
        case CallClass::Irecv:
        case CallClass::Mprobe:
        case CallClass::Improbe:
            return !sends;
        case CallClass::Sendrecv:
            return function == FunctionId::Sendrecv; // one way may be marked alone: then it is made of others
        default:
            return false;
        }
    }

    void markSend(std::uint32_t id) {
        const SendHalf& send = m_data.sends[id];
        const RecvHalf* recv = recvOf(m_data, send);
        m_isMarked[id] = true;
        ++m_marks.marked;
        flag(send.rank, send.call, kCallSends);
        flag(recv->rank, recv->post, kCallGets);
        m_twins.push_back(m_data.channels[send.channel].comm);
    }

    void markProbes() {
        for (const ProbeHalf& probe : m_data.probes) {
            const Channel& channel = m_data.channels[probe.channel];
            if (probe.position < channel.sends.size() && m_isMarked[channel.sends[probe.position]]) {
                flag(probe.rank, probe.call, kCallGets);
            }
        }
    }

    /// Nothing that a rank may send behind its last event could come before this moment of the receiver.
    [[nodiscard]] bool isBehindAll(const Gate& gate, Tick decided) const {
        const std::vector<RankId>& members = m_data.commEntries[gate.comm].members;
        return std::all_of(members.begin(), members.end(), [&](RankId member) {
            const std::int32_t rank = member.value();
            if (rank == gate.receiver) {
                return true;
            }
            if (rank < 0) {
                return false;
            }
            const bool over = m_data.rank(rank).finalizeCall != kNone &&
                              m_order.passedEvents(rank) == m_data.rank(rank).events.lastEvent();
            return over || m_order.knownAtLast(rank, gate.receiver) >= decided;
        });
    }

    void leaveOpen() {
        for (const WindowClass& of : m_windows.classes()) {
            if (isCancelled()) {
                return;
            }
            const Gate& gate = m_windows.gates()[of.gate];
            const auto left = m_unmarked.find({gate.comm, gate.receiver});
            const bool safe = left == m_unmarked.end() ||
                              std::none_of(left->second.begin(), left->second.end(), [&](std::int32_t tag) {
                                  return of.tag == kAnyTag || of.tag == tag;
                              });
            for (const Window& window : of.windows) {
                std::uint32_t call = kNone;
                std::uint32_t send = kNone;
                if (window.what.kind == Decision::Kind::Receive) {
                    const RecvHalf& recv = m_data.recvs[window.what.id];
                    if (recv.cancelled) {
                        continue;
                    }
                    call = recv.post;
                    send = recv.message == kNone ? kNone : m_data.halves[recv.message].send;
                } else if (window.what.kind == Decision::Kind::Probe) {
                    const ProbeHalf& probe = m_data.probes[window.what.id];
                    const Channel& channel = m_data.channels[probe.channel];
                    call = probe.call;
                    send = probe.position < channel.sends.size() ? channel.sends[probe.position] : kNone;
                } else {
                    continue;
                }
                ++m_marks.windows;
                const bool plain = isReceive(gate.receiver, call) && send != kNone && !m_isMarked[send];
                if (safe && plain && decidesItself(gate, of, window) && isBehindAll(gate, window.decided)) {
                    flag(gate.receiver, call, kCallOpen);
                    ++m_marks.open;
                }
            }
        }
    }

    /// When the window was decided, and what it could not get, is not known from which receive got what. With
    /// some of the messages marked one receive may get its message while an older one has none yet, so
    /// nothing follows from that.
    [[nodiscard]] bool decidesItself(const Gate& gate, const WindowClass& of, const Window& window) const {
        const bool late = window.what.kind != Decision::Kind::Receive ||
                          window.decided == decidedAt(m_data, m_data.recvs[window.what.id]);
        return late && std::none_of(gate.shadows.begin(), gate.shadows.end(), [&](const Shadow& shadow) {
                   return window.key > shadow.key && window.decided <= shadow.until &&
                          (shadow.tag == kAnyTag || of.tag == kAnyTag || shadow.tag == of.tag);
               });
    }

    /// A call of its own, which MPI can be left to give its message. Polls are forced anyway, persistent
    /// requests have one entry for all of a call.
    [[nodiscard]] bool isReceive(std::int32_t rank, std::uint32_t call) const {
        switch (trace::functionClass(m_data.beginDetails(rank, call).function)) {
        case CallClass::Recv:
        case CallClass::Irecv:
        case CallClass::Sendrecv:
        case CallClass::Probe:
        case CallClass::Mprobe:
            return true;
        default:
            return false;
        }
    }

    void putTwins() {
        std::sort(m_twins.begin(), m_twins.end());
        m_twins.erase(std::unique(m_twins.begin(), m_twins.end()), m_twins.end());
        const std::size_t own = m_twins.size();
        for (std::size_t i = 0; i < own; ++i) {
            const JobRanks* job = m_data.jobOf(m_data.commEntries[m_twins[i]].members.front().value());
            m_twins.push_back(m_data.commEntry(job->first, kCommWorld));
        }
        for (const std::uint32_t comm : m_twins) {
            for (const auto& [rank, call] : m_makers[comm]) {
                flag(rank, call, kCallTwin);
            }
        }
    }

    const TimelineData& m_data;
    const DataOrder& m_order;
    const RaceWindows& m_windows;
    const std::atomic<bool>* m_cancelled;
    OrderMarks m_marks;
    std::vector<bool> m_isMarked; ///< by send
    std::vector<std::vector<std::pair<std::int32_t, std::uint32_t>>>
        m_makers; ///< ranks and their calls, by communicator
    std::map<std::pair<std::uint32_t, std::int32_t>, std::vector<std::int32_t>>
        m_unmarked;                     ///< tags, by communicator and receiver
    std::vector<std::uint32_t> m_twins; ///< communicators with marked messages
};

} // namespace

OrderMarks RaceAnalysis::orderMarks(const Timeline* times, const std::atomic<bool>* cancelled) const {
    if (m_impl->data == nullptr) {
        return {};
    }
    return Marker(*m_impl->data, m_impl->order, m_impl->windows, cancelled).mark(m_impl->tracedSends(cancelled), times);
}

bool OrderMarks::leavesOpen(RankId rank, EventIndex begin) const {
    if (std::size_t(rank.value()) >= ranks.size()) {
        return false;
    }
    const auto& calls = ranks[std::size_t(rank.value())];
    const auto at = calls.find(begin.value());
    return at != calls.end() && (at->second & kCallOpen) != 0;
}

void OrderMarks::put(RankId rank, std::unordered_map<std::uint64_t, OrderEntry>& entries) const {
    if (std::size_t(rank.value()) >= ranks.size()) {
        return;
    }
    for (const auto& [event, marks] : ranks[std::size_t(rank.value())]) {
        const auto at = entries.find(event);
        if ((marks & kCallTwin) != 0) {
            entries[event] = {OrderKind::Twin, {}};
            continue;
        }
        const std::uint64_t ways = marks & (kCallSends | kCallGets);
        const bool source = at != entries.end() && at->second.kind == OrderKind::Source;
        if (ways != 0 && (at == entries.end() || source)) {
            const bool named = source && (marks & kCallOpen) == 0;
            entries[event] = {OrderKind::Marked, {ways, named ? at->second.numbers.front() + 1 : 0}};
        } else if (ways != 0 && at->second.kind == OrderKind::Poll &&
                   at->second.numbers[1] == std::uint64_t(PollOutcome::Source)) {
            at->second.numbers[1] = std::uint64_t(PollOutcome::Marked);
        } else if (source && (marks & kCallOpen) != 0) {
            entries.erase(at);
        }
    }
}

static_assert(int(kCallSends) == int(trace::kSendsMarked) && int(kCallGets) == int(trace::kGetsMarked));

} // namespace stopline::replay
