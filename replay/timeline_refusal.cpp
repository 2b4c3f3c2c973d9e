// Calls that MPI has refused.
#include "timeline_recorder.h"

#include <utility>
#include <vector>

namespace stopline::replay {

void Recorder::refuse(std::int32_t rank, std::uint32_t call) {
    RankData& data = m_data.rank(rank);
    std::vector<std::pair<Role, std::uint32_t>> made;
    m_data.eachLink(rank, call, [&](Role role, std::uint32_t id) { made.emplace_back(role, id); });
    const auto forget = [&data](std::uint32_t target, auto... kinds) {
        for (std::size_t i = data.requests.size(); i > 0; --i) {
            Request& request = data.requests[i - 1];
            if (request.target == target && ((request.kind == kinds) || ...)) {
                request.target = kNone;
                return;
            }
        }
    };
    for (const auto& [role, id] : made) {
        switch (role) {
        case Role::Send:
            m_matcher.withdrawSend(id);
            forget(id, RequestKind::Send, RequestKind::SendInit);
            break;
        case Role::Post:
            m_matcher.withdrawRecv(id);
            forget(id, RequestKind::Recv, RequestKind::RecvInit);
            break;
        case Role::Start:
            if (m_data.recvs[id].start == call) { // the message is still to be received
                trace::Status nothing;
                nothing.source = kProcNull;
                m_matcher.settleMatched(rank, id, nothing);
                forget(id, RequestKind::Recv);
            }
            break;
        case Role::Coll:
            m_collectives.withdraw(rank, id, call);
            forget(id, RequestKind::Coll);
            std::erase_if(data.splitParts, [part = id](const auto& split) { return split.second == part; });
            break;
        case Role::Rma:
            forget(id, RequestKind::Transfer);
            break;
        default:
            break;
        }
    }
    m_oneSided.withdraw(rank, call);
}

} // namespace stopline::replay
