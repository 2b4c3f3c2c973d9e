#include "simulator_state.h"

#include <algorithm>

namespace stopline::replay::test {

Simulation::Simulation(const Program& program, const RunOptions& options)
    : m_program(program), m_options(options), m_random(options.seed), m_ranks(program.ranks.size()) {
    m_outcome.trace.rules = program.rules;
    m_outcome.trace.ranks.resize(program.ranks.size());
    for (std::size_t rank = 0; rank < m_ranks.size(); ++rank) {
        m_outcome.trace.ranks[rank].comms = program.ranks[rank].comms;
    }
}

Outcome Simulation::run() {
    std::uint64_t steps = 0;
    while (steps < m_options.maxSteps) {
        // A round in which everybody had a go and nobody got on is the end.
        const bool everybody = chance(m_random, 20);
        bool progress = false;
        std::vector<std::size_t> order(m_ranks.size() + 1);
        for (std::size_t i = 0; i < order.size(); ++i) {
            order[i] = i;
        }
        std::shuffle(order.begin(), order.end(), m_random);
        for (const std::size_t who : order) {
            if (!everybody && chance(m_random, 50)) {
                continue;
            }
            progress = (who == m_ranks.size() ? deliver(everybody) : act(who)) || progress;
            ++steps;
        }
        if (m_options.onState && chance(m_random, 10)) {
            m_options.onState(cut());
        }
        if (everybody && !progress) {
            break;
        }
    }
    m_outcome.final = cut();
    m_outcome.ambiguous = isAmbiguous();
    return std::move(m_outcome);
}

Cut Simulation::cut() const {
    Cut result;
    for (std::size_t rank = 0; rank < m_ranks.size(); ++rank) {
        result.push_back({EventIndex{m_outcome.trace.ranks[rank].events.size()}, m_ranks[rank].inCall});
    }
    return result;
}

bool Simulation::isAmbiguous() const {
    for (const Post& post : m_posts) {
        const bool hidden = post.cancelled || (post.wildcard && post.message >= 0);
        if (hidden && !post.shown) {
            return true;
        }
    }
    for (const RankState& rank : m_ranks) {
        // With several taken messages, which one an unfinished Mrecv or Imrecv is receiving cannot be told.
        std::size_t open = 0;
        bool started = false;
        for (std::size_t handle = 0; handle < rank.handles.size(); ++handle) {
            open += rank.handles[handle] >= 0 && !rank.handleDone[handle] ? 1 : 0;
            started = started || (rank.handleStarted[handle] && !rank.handleDone[handle]);
        }
        if (open > 1 && started) {
            return true;
        }
    }
    return false;
}

bool Simulation::deliver(bool all) {
    bool progress = false;
    for (auto& [channel, messages] : m_flying) {
        while (!messages.empty() && (all || chance(m_random, 50))) {
            arrive(messages.front());
            messages.pop_front();
            progress = true;
        }
    }
    return progress;
}

bool Simulation::fits(const Post& post, const SimMessage& message) const {
    if (post.cancelled || post.message >= 0 || post.rank != message.to || post.comm != message.comm) {
        return false;
    }
    if (m_options.forced != nullptr && post.wildcard) {
        const auto truth = m_options.forced->received.find(post.key);
        return truth != m_options.forced->received.end() && truth->second == message.key;
    }
    if (m_options.forced != nullptr && m_options.forced->cancelled.contains(post.key)) {
        return false;
    }
    return (post.source < 0 || post.source == message.from) && (post.tag < 0 || post.tag == message.tag);
}

void Simulation::arrive(int index) {
    SimMessage& message = m_messages[static_cast<std::size_t>(index)];
    message.arrived = true;
    for (Post& post : m_posts) {
        if (fits(post, message)) {
            pair(post, index);
            return;
        }
    }
    rank(message.to).unexpected.push_back(index);
}

void Simulation::pair(Post& post, int index) {
    SimMessage& message = m_messages[static_cast<std::size_t>(index)];
    post.message = index;
    message.received = true;
    m_outcome.received[post.key] = message.key;
}

int Simulation::send(std::size_t from, SendKey key, const trace::EventDetails& d) {
    const std::int32_t to = world(from, d.comm, d.sendPeer);
    if (to < 0) {
        return -1;
    }
    SimMessage message;
    message.key = key;
    message.from = static_cast<std::int32_t>(from);
    message.to = to;
    message.comm = info(from, d.comm).id;
    message.tag = d.sendTag;
    using F = trace::FunctionId;
    const bool synchronous = d.function == F::Ssend || d.function == F::Issend || d.function == F::Ssend_init;
    const bool buffered = d.function == F::Bsend || d.function == F::Ibsend || d.function == F::Bsend_init;
    message.waits = synchronous || (!buffered && d.sendBytes > m_program.rules.eagerLimit);
    m_messages.push_back(message);
    const int index = static_cast<int>(m_messages.size()) - 1;
    m_flying[{message.from, message.to, message.comm}].push_back(index);
    return index;
}

int Simulation::post(std::size_t on, SendKey key, const trace::EventDetails& d) {
    if (d.recvPeer == kProcNull) {
        return -1;
    }
    Post post;
    post.key = key;
    post.rank = static_cast<std::int32_t>(on);
    post.comm = info(on, d.comm).id;
    post.source = d.recvPeer == kAnySource ? -1 : world(on, d.comm, d.recvPeer);
    post.tag = d.recvTag == kAnyTag ? -1 : d.recvTag;
    post.wildcard = post.source < 0 || post.tag < 0;
    auto& unexpected = rank(post.rank).unexpected;
    m_posts.push_back(post);
    for (auto at = unexpected.begin(); at != unexpected.end(); ++at) {
        if (fits(m_posts.back(), m_messages[static_cast<std::size_t>(*at)])) {
            pair(m_posts.back(), *at);
            unexpected.erase(at);
            break;
        }
    }
    return static_cast<int>(m_posts.size()) - 1;
}

int Simulation::findUnexpected(std::size_t on, CallRef call, const trace::EventDetails& d) const {
    const RankState& state = m_ranks[on];
    const std::uint64_t comm = info(on, d.comm).id;
    const std::int32_t source = d.recvPeer == kAnySource ? -1 : world(on, d.comm, d.recvPeer);
    for (const int index : state.unexpected) {
        const SimMessage& message = m_messages[static_cast<std::size_t>(index)];
        if (m_options.forced != nullptr) {
            const auto truth = m_options.forced->seen.find(call);
            if (truth != m_options.forced->seen.end()) {
                if (truth->second == message.key) {
                    return index;
                }
                continue;
            }
        }
        if (message.comm == comm && (source < 0 || source == message.from) &&
            (d.recvTag == kAnyTag || d.recvTag == message.tag)) {
            return index;
        }
    }
    return -1;
}

trace::Status Simulation::statusOf(std::size_t on, CommIndex comm, const SimMessage& message) const {
    const trace::CommInfo& c = info(on, comm);
    const auto& group = c.remote.empty() ? c.members : c.remote;
    trace::Status status;
    status.source =
        static_cast<std::int32_t>(std::find(group.begin(), group.end(), message.from) - group.begin());
    status.tag = message.tag;
    status.bytes = 8;
    return status;
}

std::int32_t Simulation::world(std::size_t of, CommIndex comm, std::int32_t peer) const {
    const trace::CommInfo& c = info(of, comm);
    const auto& group = c.remote.empty() ? c.members : c.remote;
    return peer < 0 ? -1 : group[static_cast<std::size_t>(peer)];
}

std::size_t Simulation::enter(std::size_t on, const Op& op) {
    using F = trace::FunctionId;
    const F f = op.begin.function;
    std::string key;
    std::vector<std::int32_t> members;
    const trace::CommInfo* comm = nullptr;
    if (f == F::Init || f == F::Finalize) {
        key = f == F::Init ? "init" : "finalize";
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            members.push_back(static_cast<std::int32_t>(r));
        }
    } else if (f == F::Comm_create_group || f == F::Intercomm_create) {
        comm = &info(on, op.newComm);
        key = "made " + std::to_string(comm->id);
    } else {
        comm = &info(on, op.begin.comm);
        key = std::to_string(comm->id) + "/" + std::to_string(m_ranks[on].collectives[comm->id]++);
    }
    const auto [at, fresh] = m_collectiveByKey.try_emplace(key, m_collectives.size());
    if (fresh) {
        SimCollective c;
        c.inter = comm != nullptr && !comm->remote.empty() && f != F::Intercomm_create;
        if (comm != nullptr) {
            members = comm->members;
            members.insert(members.end(), comm->remote.begin(), comm->remote.end());
        }
        c.members = members;
        m_collectives.push_back(c);
    }
    SimCollective& c = m_collectives[at->second];
    c.arrived.insert(static_cast<std::int32_t>(on));
    if (comm != nullptr) {
        c.group[static_cast<std::int32_t>(on)] = comm->members;
        if (op.begin.root == kRootInter) {
            c.root = static_cast<std::int32_t>(on);
        } else if (op.begin.root >= 0) {
            c.root = world(on, op.begin.comm, op.begin.root);
        }
    }
    return at->second;
}

bool Simulation::collectiveDone(std::size_t on, const Op& op, std::size_t collective) const {
    using F = trace::FunctionId;
    const SimCollective& c = m_collectives[collective];
    const auto self = static_cast<std::int32_t>(on);
    const auto here = [&](std::int32_t r) { return c.arrived.contains(r); };
    const auto inOwnGroup = [&](std::int32_t r) {
        const auto& group = c.group.at(self);
        return std::find(group.begin(), group.end(), r) != group.end();
    };
    const bool everybody = std::all_of(c.members.begin(), c.members.end(), here);
    const bool others = std::all_of(c.members.begin(), c.members.end(),
                                    [&](std::int32_t r) { return (c.inter && inOwnGroup(r)) || here(r); });
    const bool large = op.begin.sendBytes > m_program.rules.eagerLimit;
    switch (op.begin.function) {
    case F::Comm_free:
        return true;
    case F::Bcast:
    case F::Ibcast:
    case F::Scatter:
        if (large) {
            return everybody;
        }
        return op.begin.root == kProcNull || c.root == self || here(c.root);
    case F::Gather:
    case F::Igather:
    case F::Reduce:
    case F::Ireduce:
        if (large) {
            return everybody;
        }
        return c.root != self || others;
    case F::Scan:
    case F::Exscan:
    case F::Iscan:
        for (const std::int32_t r : c.members) {
            if (!here(r)) {
                return false;
            }
            if (r == self) {
                return true;
            }
        }
        return true;
    case F::Barrier:
    case F::Ibarrier:
    case F::Allreduce:
    case F::Iallreduce:
    case F::Alltoall:
    case F::Allgather:
        return others;
    default:
        return everybody;
    }
}

Outcome run(const Program& program, const RunOptions& options) {
    return Simulation(program, options).run();
}

} // namespace stopline::replay::test
