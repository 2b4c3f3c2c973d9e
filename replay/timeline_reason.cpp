#include "timeline_reason.h"

#include "one_sided.h"
#include "waits.h"

#include <algorithm>

namespace stopline::replay {

using trace::CallClass;
using trace::EventDetails;
using trace::FunctionId;

std::string describeEvent(const TimelineData& data, std::int32_t rank, std::uint64_t event) {
    const RankEvents& events = data.rank(rank).events;
    if (!events.has(event)) {
        return std::to_string(event);
    }
    const std::uint32_t call = events.callOf(event);
    // A merged poll is named after what its begin called; so are all events of one call.
    const std::uint64_t begin = call == kNone ? event : events.beginOf(call);
    return std::to_string(event) + ' ' +
           std::string(trace::functionName(data.rank(rank).details[events.detailsOf(begin)].function));
}

namespace {

enum class Need : std::uint8_t { Met, Unmet };

/// Collects what the parts of one call wait for; keeps the first that is not there.
class Inquiry {
  public:
    Inquiry(const TimelineData& data, CallRef call, const Positions& positions)
        : m_data(data), m_call(call), m_rank(call.rank.value()), m_positions(positions) {}

    std::optional<Obstacle> run();

  private:
    [[nodiscard]] bool reached(CallRef ref) const {
        const RankData& other = m_data.rank(ref.rank.value());
        return m_positions[static_cast<std::size_t>(ref.rank.value())] >= startOf(other, ref.call.value());
    }
    [[nodiscard]] std::string rankStands(std::int32_t rank) const {
        const Position at = m_positions[static_cast<std::size_t>(rank)];
        const std::string event = describeEvent(m_data, rank, at / 2);
        if (at / 2 == 0) {
            return "rank " + rankName(rank) + " stands before MPI_Init";
        }
        const bool begin = m_data.rank(rank).events.isBegin(at / 2);
        const char* where = !begin ? "after " : at % 2 == 1 ? "inside " : "before ";
        return "rank " + rankName(rank) + " stands " + where + event;
    }
    Need unmet(CallRef waitsFor, const std::string& what) {
        if (!m_first) {
            m_first = Obstacle{
                m_call.rank, m_call, waitsFor,
                "Rank " + rankName(m_rank) + " waits in " +
                    describeEvent(m_data, m_rank, m_data.rank(m_rank).events.beginOf(m_call.call.value())) +
                    " for " + what + "."};
        }
        return Need::Unmet;
    }
    Need receiver(const SendHalf& send);
    Need sender(const RecvHalf& recv);
    Need message(const EventDetails& asked);
    Need members(std::uint32_t part);
    Need other(const SyncEdge& edge);
    Need lock();
    Need requests(const EventDetails& begin, bool all);
    Need request(const Request& request);
    Need linked(bool finished);
    Need spawned();

    const TimelineData& m_data;
    CallRef m_call;
    std::int32_t m_rank;
    const Positions& m_positions;
    std::optional<Obstacle> m_first;
};

Need Inquiry::receiver(const SendHalf& send) {
    if (!send.waitsForReceiver || send.cancelled ||
        (send.message != kNone && m_data.messages[send.message].state == MessageState::Early)) {
        return Need::Met;
    }
    const std::int32_t to = m_data.channels[send.channel].destination;
    const RecvHalf* recv = recvOf(m_data, send);
    if (recv == nullptr || recv->start == kNone) {
        return unmet(m_call, "rank " + rankName(to) + " to post a receive; " + rankStands(to));
    }
    const CallRef post = m_data.ref(recv->rank, recv->start);
    return reached(post)
               ? Need::Met
               : unmet(post, "rank " + rankName(to) + " to post its receive at " +
                                 describeEvent(m_data, to, m_data.rank(to).events.beginOf(recv->start)) +
                                 "; " + rankStands(to));
}

Need Inquiry::message(const EventDetails& asked) {
    const std::uint32_t comm = m_data.commEntry(m_rank, asked.comm);
    if (comm == kNone || asked.recvPeer == kProcNull) {
        return Need::Met;
    }
    const std::int32_t from = m_data.worldRank(m_rank, asked.comm, asked.recvPeer);
    if (isOnItsWay(m_data, m_rank, asked, [this](const Message& m) { return reached(*m.send); })) {
        return Need::Met;
    }
    if (from >= 0) {
        return unmet(m_call, "a message from rank " + rankName(from) + "; " + rankStands(from));
    }
    return unmet(m_call, "a message from any rank, and none is on its way");
}

Need Inquiry::sender(const RecvHalf& recv) {
    if (recv.cancelled) {
        return Need::Met;
    }
    if (const SendHalf* send = sendOf(m_data, recv)) {
        const CallRef ref = m_data.ref(send->rank, send->call);
        return reached(ref)
                   ? Need::Met
                   : unmet(ref, "the message that rank " + rankName(send->rank) + " sends at " +
                                    describeEvent(m_data, send->rank,
                                                  m_data.rank(send->rank).events.beginOf(send->call)) +
                                    "; " + rankStands(send->rank));
    }
    if (recv.done != kNone || (recv.message != kNone && m_data.messages[recv.message].state == MessageState::Early)) {
        return Need::Met; // it came, or was sent before the start of the sender's history
    }
    return message(m_data.rank(m_rank).details[recv.details]);
}

Need Inquiry::members(std::uint32_t part) {
    const CollPart where = m_data.parts[part];
    const Collective& c = m_data.collectives[where.collective];
    for (const std::uint32_t member : membersNeeded(m_data, where.collective, where.position)) {
        const std::int32_t rank = c.members[member].value();
        if (rank < 0 || rank >= m_data.rankCount()) {
            continue;
        }
        if (!c.arrived[member].has_value() && m_data.isMissing(where.collective, member)) {
            continue; // before the start of its history
        }
        if (!c.arrived[member].has_value()) {
            return unmet(m_call, "rank " + rankName(rank) + " to call " +
                                     std::string(trace::functionName(c.function)) + "; " + rankStands(rank));
        }
        if (!reached(*c.arrived[member])) {
            const std::uint64_t event = m_data.rank(rank).events.beginOf(c.arrived[member]->call.value());
            return unmet(*c.arrived[member], "rank " + rankName(rank) + " to enter " +
                                                 describeEvent(m_data, rank, event) + "; " +
                                                 rankStands(rank));
        }
    }
    return Need::Met;
}

/// The call of another rank on the same window.
Need Inquiry::other(const SyncEdge& edge) {
    const std::int32_t rank = edge.fromRank;
    if (edge.from == kNone) {
        return unmet(m_call, "rank " + rankName(rank) + " to call " +
                                 (edge.closes ? "MPI_Win_complete" : "MPI_Win_post") + "; " + rankStands(rank));
    }
    const CallRef from = m_data.ref(rank, edge.from);
    return reached(from) ? Need::Met
                         : unmet(from, "rank " + rankName(rank) + " to enter " +
                                           describeEvent(m_data, rank, m_data.rank(rank).events.beginOf(edge.from)) +
                                           "; " + rankStands(rank));
}

Need Inquiry::lock() {
    const std::optional<CallRef> holder = holderOf(m_data, m_call, m_positions);
    if (!holder.has_value()) {
        return Need::Met;
    }
    const std::int32_t rank = holder->rank.value();
    return unmet(*holder, "the lock that rank " + rankName(rank) + " has since " +
                              describeEvent(m_data, rank, m_data.rank(rank).events.endOf(holder->call.value())) +
                              "; " + rankStands(rank));
}

Need Inquiry::request(const Request& request) {
    if (request.target == kNone) {
        return Need::Met;
    }
    switch (request.kind) {
    case RequestKind::Send:
    case RequestKind::SendInit:
        return m_data.sends[request.target].done != kNone ? Need::Met
                                                          : receiver(m_data.sends[request.target]);
    case RequestKind::Recv:
    case RequestKind::RecvInit:
        return m_data.recvs[request.target].done != kNone ? Need::Met : sender(m_data.recvs[request.target]);
    case RequestKind::Both: {
        Need both = Need::Met;
        m_data.eachLink(m_rank, request.target, [&](Role role, std::uint32_t id) {
            const bool open = role == Role::Send   ? m_data.sends[id].done == kNone
                              : role == Role::Post ? m_data.recvs[id].done == kNone
                                                   : false;
            if (open && (role == Role::Send ? receiver(m_data.sends[id]) : sender(m_data.recvs[id])) == Need::Unmet) {
                both = Need::Unmet;
            }
        });
        return both;
    }
    case RequestKind::Coll:
    case RequestKind::CollInit:
        return members(request.target);
    case RequestKind::Transfer:
    case RequestKind::None:
        break;
    }
    return Need::Met;
}

Need Inquiry::requests(const EventDetails& begin, bool all) {
    const auto& known = m_data.rank(m_rank).requests;
    bool anyUnmet = false;
    for (const trace::RequestRef ref : begin.requests) {
        if (ref.back >= known.size()) {
            continue;
        }
        if (request(known[known.size() - 1 - ref.back]) == Need::Unmet) {
            anyUnmet = true;
        } else if (!all) {
            return Need::Met;
        }
    }
    return anyUnmet ? Need::Unmet : Need::Met;
}

Need Inquiry::linked(bool finished) {
    const std::uint32_t call = m_call.call.value();
    Need result = Need::Met;
    const auto add = [&](Need need) { result = need == Need::Unmet ? need : result; };
    m_data.eachLink(m_rank, call, [&](Role role, std::uint32_t id) {
        switch (role) {
        case Role::Send:
        case Role::SendDone:
            if (!finished || m_data.sends[id].done == call) {
                add(receiver(m_data.sends[id]));
            }
            break;
        case Role::Post:
        case Role::Start:
        case Role::Done: {
            const RecvHalf& recv = m_data.recvs[id];
            const bool probe = role == Role::Post && recv.start != recv.post;
            const bool current = role != Role::Start || recv.start == call;
            if (current && (!finished || recv.done == call || probe)) {
                add(sender(recv));
            }
            break;
        }
        case Role::Probe: {
            const ProbeHalf& probe = m_data.probes[id];
            const Channel& channel = m_data.channels[probe.channel];
            if (const std::int64_t at = channel.sendAt(probe.position); channel.hasSend(at)) {
                const SendHalf& send = m_data.sends[channel.sends[static_cast<std::size_t>(at)]];
                const CallRef ref = m_data.ref(send.rank, send.call);
                if (!reached(ref)) {
                    add(unmet(ref, "the message that rank " + rankName(send.rank) + " sends at " +
                                       describeEvent(m_data, send.rank,
                                                     m_data.rank(send.rank).events.beginOf(send.call)) +
                                       "; " + rankStands(send.rank)));
                }
            }
            break;
        }
        case Role::Coll:
        case Role::CollDone: {
            const CollPart where = m_data.parts[id];
            const auto& done = m_data.collectives[where.collective].finished[where.position];
            if (!finished || done == m_call) {
                add(members(id));
            }
            break;
        }
        case Role::SyncTo:
            add(other(m_data.syncEdges[id]));
            break;
        case Role::Rma:
        case Role::SyncFrom:
            break;
        }
    });
    return result;
}

/// Parents wait for all that they have spawned to call MPI_Init.
Need Inquiry::spawned() {
    for (const JobRanks& job : m_data.jobs) {
        bool parent = false;
        m_data.eachSpawn(job, [&](std::int32_t rank, std::uint32_t call) { parent = parent || m_data.ref(rank, call) == m_call; });
        for (std::int32_t rank = job.first; parent && rank < job.first + job.size; ++rank) {
            const bool known = m_data.rank(rank).events.callCount() != 0;
            if (!known || !reached(m_data.ref(rank, 0))) {
                return unmet(known ? m_data.ref(rank, 0) : m_call, "rank " + rankName(rank) + " to call MPI_Init; " + rankStands(rank));
            }
        }
    }
    return Need::Met;
}

std::optional<Obstacle> Inquiry::run() {
    const RankEvents& events = m_data.rank(m_rank).events;
    const EventDetails& begin = m_data.beginDetails(m_rank, m_call.call.value());
    Need need = Need::Met;
    if (begin.function == FunctionId::Win_lock || begin.function == FunctionId::Win_lock_all) {
        need = lock(); // who has it is decided anew each time
    } else if (events.endOf(m_call.call.value()) != 0) {
        need = linked(true);
    } else {
        const CallClass callClass = trace::functionClass(begin.function);
        switch (callClass) {
        case CallClass::Wait:
        case CallClass::Test: {
            const FunctionId f = begin.function;
            const bool any = f == FunctionId::Waitany || f == FunctionId::Waitsome ||
                             f == FunctionId::Testany || f == FunctionId::Testsome;
            need = requests(begin, !any);
            break;
        }
        case CallClass::Probe:
        case CallClass::Iprobe:
        case CallClass::Mprobe:
        case CallClass::Improbe:
            need = message(begin);
            break;
        default:
            if (waitsByLinks(callClass)) { // else it returns by itself
                need = linked(false);
            }
            break;
        }
    }
    if (need != Need::Unmet && trace::functionClass(begin.function) == CallClass::CommSpawn) {
        need = spawned();
    }
    return need == Need::Unmet ? m_first : std::nullopt;
}

} // namespace

std::optional<Obstacle> whyBlocked(const TimelineData& data, CallRef call, const Positions& positions) {
    return Inquiry(data, call, positions).run();
}

std::vector<Obstacle> obstaclesOf(const TimelineData& data, const Positions& positions) {
    std::vector<Obstacle> obstacles;
    for (std::int32_t rank = 0; rank < data.rankCount(); ++rank) {
        const Position position = positions[static_cast<std::size_t>(rank)];
        const std::uint32_t call = position % 2 == 1 ? data.rank(rank).events.callOf(position / 2) : kNone;
        if (call == kNone) {
            continue;
        }
        const CallRef ref = data.ref(rank, call);
        if (auto blocked = whyBlocked(data, ref, positions)) {
            obstacles.push_back(std::move(*blocked));
            continue;
        }
        const bool ended = data.rank(rank).events.endOf(call) != 0;
        obstacles.push_back(
            {ref.rank, ref, ref,
             "Rank " + rankName(rank) + " is inside " + describeEvent(data, rank, position / 2) +
                 (ended ? ", which may return at any moment." : ", whose return is not recorded.")});
    }
    return obstacles;
}

} // namespace stopline::replay
