// What a call has to do with others: messages, collectives, transfers.
#include "timeline_impl.h"

#include <algorithm>

namespace stopline::replay {

std::vector<MessageIndex> Timeline::messagesOf(CallRef ref) const {
    std::vector<MessageIndex> result;
    if (!m_impl->has(ref)) {
        return result;
    }
    const TimelineData& data = m_impl->data;
    data.eachLink(ref.rank.value(), ref.call.value(), [&](Role role, std::uint32_t id) {
        std::uint32_t message = kNone;
        if (role == Role::Send || role == Role::SendDone) {
            message = data.sends[id].message;
        } else if (role == Role::Post || role == Role::Done ||
                   (role == Role::Start && data.recvs[id].start == ref.call.value())) {
            message = data.recvs[id].message;
        }
        if (message != kNone) {
            result.emplace_back(message);
        }
    });
    std::reverse(result.begin(), result.end()); // links are kept last first
    std::vector<MessageIndex> unique;
    for (const MessageIndex message : result) {
        if (result.size() < 64 ? std::find(unique.begin(), unique.end(), message) == unique.end()
                               : unique.empty() || unique.back() != message) {
            unique.push_back(message);
        }
    }
    return unique;
}

std::vector<Timeline::Awaited> Timeline::awaited(CallRef ref) const {
    std::vector<Awaited> result;
    if (!m_impl->has(ref) || call(ref).end.value() != 0) {
        return result;
    }
    const TimelineData& data = m_impl->data;
    const RankData& rank = data.rank(ref.rank.value());
    const trace::EventDetails& begin = data.beginDetails(ref.rank.value(), ref.call.value());
    if (trace::functionClass(begin.function) != trace::CallClass::Wait) {
        return result;
    }
    // References count from the latest request that there was; other threads may have made more since.
    std::size_t made = rank.requests.size();
    for (std::uint32_t later = ref.call.value() + 1; later < rank.events.callCount(); ++later) {
        made -= trace::createsRequest(trace::functionClass(data.beginDetails(ref.rank.value(), later).function)) ? 1 : 0;
    }
    for (const trace::RequestRef request : begin.requests) {
        Awaited& one = result.emplace_back();
        if (request.back >= made) {
            continue; // a null request, or one that nothing is known of
        }
        const Request& r = rank.requests[made - 1 - request.back];
        if (r.target == kNone) {
            continue;
        }
        switch (r.kind) {
        case RequestKind::Send:
        case RequestKind::SendInit:
            one.message = MessageIndex{data.sends[r.target].message};
            one.done = data.sends[r.target].done != kNone;
            break;
        case RequestKind::Recv:
        case RequestKind::RecvInit:
            one.message = MessageIndex{data.recvs[r.target].message};
            one.done = data.recvs[r.target].done != kNone;
            break;
        case RequestKind::Both:
            one.message = MessageIndex{data.openMessageOf(ref.rank.value(), r.target)};
            one.done = one.message->value() == kNone;
            break;
        case RequestKind::Coll:
        case RequestKind::CollInit:
            one.collective = CollectiveIndex{data.parts[r.target].collective};
            break;
        case RequestKind::Transfer:
        case RequestKind::None:
            break;
        }
        if (one.message && one.message->value() == kNone) {
            one.message.reset();
        }
    }
    return result;
}

std::optional<CollectiveIndex> Timeline::collectiveOf(CallRef ref) const {
    std::optional<CollectiveIndex> result;
    if (m_impl->has(ref)) {
        m_impl->data.eachLink(ref.rank.value(), ref.call.value(), [&](Role role, std::uint32_t id) {
            if (role != Role::Coll && role != Role::CollDone) {
                return;
            }
            const CollPart& where = m_impl->data.parts[id];
            const CollRules& rules = m_impl->data.collRules[where.collective];
            const std::uint32_t own = ref.call.value();
            if (rules.arrived[where.position] == own || rules.finished[where.position] == own) {
                result = CollectiveIndex{where.collective};
            }
        });
    }
    return result;
}

std::size_t Timeline::transferCount() const {
    return m_impl->data.transfers.size();
}

Transfer Timeline::transfer(TransferIndex index) const {
    return index.value() < transferCount() ? transferOfHalf(m_impl->data, index.value()) : Transfer{};
}

std::optional<TransferIndex> Timeline::transferOf(CallRef ref) const {
    std::optional<TransferIndex> result;
    if (m_impl->has(ref)) {
        m_impl->data.eachLink(ref.rank.value(), ref.call.value(), [&](Role role, std::uint32_t id) {
            if (role == Role::Rma && m_impl->data.transfers[id].call != kNone) {
                result = TransferIndex{id};
            }
        });
    }
    return result;
}

} // namespace stopline::replay
