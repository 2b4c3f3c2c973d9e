// Messages, collectives and edges from what brute_read.cpp has read.
#include "brute.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace stopline::replay::test {

using trace::FunctionId;

void Brute::match() {
    using Key = std::tuple<std::uint64_t, std::int32_t, std::int32_t, std::int32_t>;
    std::map<Key, std::pair<std::vector<const SendInfo*>, std::vector<const RecvInfo*>>> channels;
    for (const SendInfo& s : m_sends) {
        channels[{s.comm, s.call.rank.value(), s.to, s.tag}].first.push_back(&s);
    }
    for (const RecvInfo& r : m_recvs) {
        const std::int32_t self = r.post.rank.value();
        const bool unknown = r.source < 0 || r.tag == kAnyTag;
        if (r.cancelled || unknown) {
            if (!r.probe) {
                m_messages.insert({r.cancelled ? MessageState::Cancelled : MessageState::Unsent, std::nullopt,
                                   r.post, r.done, r.tag, r.comm, r.source, self});
            }
        } else {
            channels[{r.comm, r.source, self, r.tag}].second.push_back(&r);
        }
    }
    for (const auto& [key, channel] : channels) {
        const auto& [comm, from, to, tag] = key;
        const auto& [sends, recvs] = channel;
        std::size_t next = 0;
        for (const RecvInfo* r : recvs) { // in the order of posting, as one rank's events were read
            const SendInfo* s = next < sends.size() ? sends[next] : nullptr;
            if (r->probe) {
                if (s != nullptr) {
                    m_needed.push_back({s->call, r->post});
                }
                continue;
            }
            ++next;
            if (s == nullptr) {
                m_messages.insert(
                    {MessageState::Unsent, std::nullopt, r->post, r->done, tag, comm, from, to});
                continue;
            }
            m_messages.insert({r->done ? MessageState::Matched : MessageState::Posted, s->call, r->post,
                               r->done, tag, comm, from, to});
            if (r->done) {
                m_needed.push_back({s->call, *r->done});
            }
            if (r->matchedProbe) {
                m_needed.push_back({s->call, r->post});
            }
            if (s->waits && s->done && r->start) {
                m_needed.push_back({*r->start, *s->done});
            }
        }
        for (; next < sends.size(); ++next) {
            m_messages.insert({MessageState::Unreceived, sends[next]->call, std::nullopt, std::nullopt, tag,
                               comm, from, to});
        }
    }
    m_synchronising = m_needed;
}

bool Brute::waitsFor(const Group& group, std::int32_t waiting, std::int32_t other) const {
    const auto place = [&](std::int32_t rank) {
        return static_cast<std::size_t>(std::find(group.ranks.begin(), group.ranks.end(), rank) -
                                        group.ranks.begin());
    };
    const bool otherSide = (place(waiting) < group.local) != (place(other) < group.local);
    const bool across = !group.inter || otherSide;
    switch (group.function) {
    case FunctionId::Comm_free:
        return false;
    case FunctionId::Bcast:
    case FunctionId::Ibcast:
    case FunctionId::Scatter:
        return group.large || (other == group.root && waiting != other && across);
    case FunctionId::Gather:
    case FunctionId::Igather:
    case FunctionId::Reduce:
    case FunctionId::Ireduce:
        return group.large || (waiting == group.root && across);
    case FunctionId::Scan:
    case FunctionId::Exscan:
    case FunctionId::Iscan:
        return place(other) <= place(waiting);
    case FunctionId::Comm_dup:
    case FunctionId::Comm_idup:
    case FunctionId::Comm_split:
    case FunctionId::Comm_create_group:
    case FunctionId::Intercomm_create:
        return true;
    default:
        return across;
    }
}

void Brute::inferGroups() {
    // When one member has made a communicator all have entered: who is still inside such a call is inside
    // this one.
    for (Group& group : m_groups) {
        for (const std::int32_t rank : group.ranks) {
            const auto& calls = m_calls[static_cast<std::size_t>(rank)];
            const bool known = std::any_of(group.members.begin(), group.members.end(),
                                           [&](const Member& m) { return m.start.rank.value() == rank; });
            if (group.name.starts_with("made ") && !known && !calls.empty() && !calls.back().end &&
                calls.back().begin.function == group.function) {
                group.members.push_back(
                    {{RankId{rank}, CallIndex{static_cast<std::uint32_t>(calls.size() - 1)}}, std::nullopt});
            }
        }
    }
}

void Brute::join() {
    for (const Group& group : m_groups) {
        for (const Member& waiting : group.members) {
            for (const Member& other : group.members) {
                if (waiting.done) {
                    m_synchronising.push_back({other.start, *waiting.done});
                    if (waitsFor(group, waiting.start.rank.value(), other.start.rank.value())) {
                        m_needed.push_back({other.start, *waiting.done});
                    }
                }
            }
        }
    }
}

std::multiset<std::string> Brute::collectives() const {
    std::multiset<std::string> result;
    for (const Group& group : m_groups) {
        std::set<std::string> members;
        for (const Member& member : group.members) {
            members.insert(" " + std::to_string(member.start.rank.value()) + ":" +
                           std::to_string(member.start.call.value()) + ">" +
                           (member.done ? std::to_string(member.done->call.value()) : "?"));
        }
        std::string text{trace::functionName(group.function)};
        for (const std::string& member : members) {
            text += member;
        }
        result.insert(text);
    }
    return result;
}

} // namespace stopline::replay::test
