// What the simulated calls do.
#include "simulator_state.h"

#include <algorithm>

namespace stopline::replay::test {

using trace::CallClass;
using trace::EventDetails;
using trace::EventKind;
using trace::FunctionId;

void Simulation::record(std::size_t who, EventDetails details, EventKind kind) {
    details.kind = kind;
    m_clock += 10;
    auto& events = m_outcome.trace.ranks[who].events;
    events.push_back({std::move(details), m_clock, kind == EventKind::End ? m_ranks[who].failures : 0});
    if (threshold(who).value() == events.size()) {
        m_ranks[who].held = true;
    }
}

bool Simulation::act(std::size_t who) {
    RankState& state = m_ranks[who];
    if (state.held || threshold(who).value() == 0) {
        return false;
    }
    if (!state.inCall) {
        return beginCall(who);
    }
    const Op& op = m_program.ranks[who].ops[state.next];
    const CallRef call{RankId{static_cast<std::int32_t>(who)},
                       CallIndex{static_cast<std::uint32_t>(state.next)}};
    std::optional<EventDetails> end = tryEnd(who, op, call);
    if (!end) {
        return false;
    }
    if (!trace::isPoll(trace::functionClass(op.begin.function))) {
        state.failures = 0;
    }
    state.inCall = false;
    ++state.next;
    record(who, std::move(*end), EventKind::End);
    return true;
}

bool Simulation::beginCall(std::size_t who) {
    RankState& state = m_ranks[who];
    if (state.next == m_program.ranks[who].ops.size()) {
        return false;
    }
    const Op& op = m_program.ranks[who].ops[state.next];
    const CallRef call{RankId{static_cast<std::int32_t>(who)},
                       CallIndex{static_cast<std::uint32_t>(state.next)}};
    const CallClass callClass = trace::functionClass(op.begin.function);
    if (trace::createsRequest(callClass)) {
        ++state.created;
    }
    EventDetails begin = op.begin;
    for (const std::uint32_t serial : op.requests) {
        // Null and inactive handles are all alike; Start names inactive ones.
        const bool named = callClass == CallClass::Start || state.requests[serial - 1].active;
        begin.requests.push_back(named ? trace::RequestRef{state.created - serial} : trace::RequestRef{});
    }
    state.failures = 0;
    record(who, begin, EventKind::Begin);
    if (!state.held) {
        state.inCall = true;
        perform(who, op, call);
    }
    return true;
}

void Simulation::perform(std::size_t who, const Op& op, CallRef call) {
    RankState& state = m_ranks[who];
    const auto request = [&](SimRequest::Kind kind, int index) {
        SimRequest r;
        r.kind = kind;
        r.index = index;
        r.op = &op;
        r.active = true;
        state.requests.push_back(r);
    };
    using Kind = SimRequest::Kind;
    state.message = -1;
    state.post = -1;
    switch (trace::functionClass(op.begin.function)) {
    case CallClass::Send:
        state.message = send(who, {call, 0}, op.begin);
        break;
    case CallClass::Recv:
        state.post = post(who, {call, 0}, op.begin);
        break;
    case CallClass::Sendrecv:
        state.message = send(who, {call, 0}, op.begin);
        state.post = post(who, {call, 0}, op.begin);
        break;
    case CallClass::Isend:
        request(Kind::Send, send(who, {call, 0}, op.begin));
        break;
    case CallClass::Irecv:
        request(Kind::Recv, post(who, {call, 0}, op.begin));
        break;
    case CallClass::SendInit:
    case CallClass::RecvInit:
        request(op.begin.sendPeer != kNoPeer ? Kind::Send : Kind::Recv, -1);
        state.requests.back().persistent = true;
        state.requests.back().active = false;
        break;
    case CallClass::Start:
        for (std::uint32_t i = 0; i < op.requests.size(); ++i) {
            SimRequest& r = state.requests[op.requests[i] - 1];
            r.active = true;
            r.index =
                r.kind == Kind::Send ? send(who, {call, i}, r.op->begin) : post(who, {call, i}, r.op->begin);
        }
        break;
    case CallClass::Mrecv:
    case CallClass::Imrecv: {
        const int message = state.handles[op.handle];
        state.handleStarted[op.handle] = true;
        if (message >= 0) {
            m_messages[static_cast<std::size_t>(message)].received = true;
        }
        if (op.begin.function == FunctionId::Imrecv) {
            request(Kind::Taken, message);
            state.requests.back().handle = op.handle;
        }
        break;
    }
    case CallClass::Cancel: {
        SimRequest& r = state.requests[op.requests[0] - 1];
        if (r.active && r.kind == Kind::Recv && r.index >= 0) {
            Post& p = m_posts[static_cast<std::size_t>(r.index)];
            const bool was = m_options.forced != nullptr && m_options.forced->cancelled.contains(p.key);
            if (p.message < 0 && (m_options.forced == nullptr || was)) {
                p.cancelled = true;
                m_outcome.cancelled[p.key] = true;
            }
        }
        break;
    }
    case CallClass::RequestFree:
        state.requests[op.requests[0] - 1].active = false;
        break;
    case CallClass::Icollective:
    case CallClass::CommIdup:
        request(Kind::Coll, static_cast<int>(enter(who, op)));
        break;
    case CallClass::Collective:
    case CallClass::CommCreate:
    case CallClass::CommFree:
    case CallClass::Init:
    case CallClass::Finalize:
        state.collective = enter(who, op);
        break;
    default:
        break;
    }
}

std::optional<EventDetails> Simulation::tryEnd(std::size_t who, const Op& op, CallRef call) {
    RankState& state = m_ranks[who];
    EventDetails end;
    end.function = op.begin.function;
    end.newComm = op.newComm;
    switch (trace::functionClass(op.begin.function)) {
    case CallClass::Send:
    case CallClass::Recv:
    case CallClass::Sendrecv:
        if (!messageSent(state.message) ||
            (state.post >= 0 && m_posts[static_cast<std::size_t>(state.post)].message < 0)) {
            return std::nullopt;
        }
        if (state.post >= 0) {
            Post& p = m_posts[static_cast<std::size_t>(state.post)];
            p.shown = true;
            end.status = statusOf(who, op.begin.comm, m_messages[static_cast<std::size_t>(p.message)]);
        }
        return end;
    case CallClass::Mrecv: {
        const int message = state.handles[op.handle];
        state.handleDone[op.handle] = true;
        if (message >= 0) {
            end.status = statusOf(who, op.begin.comm, m_messages[static_cast<std::size_t>(message)]);
        }
        return end;
    }
    case CallClass::Probe:
    case CallClass::Iprobe:
    case CallClass::Mprobe:
    case CallClass::Improbe:
        return tryProbe(who, op, call);
    case CallClass::Wait:
    case CallClass::Test:
        return tryWait(who, op, call);
    case CallClass::Collective:
    case CallClass::CommCreate:
    case CallClass::CommFree:
    case CallClass::Init:
    case CallClass::Finalize:
        return collectiveDone(who, op, state.collective) ? std::optional(end) : std::nullopt;
    default:
        return end;
    }
}

std::optional<EventDetails> Simulation::tryProbe(std::size_t who, const Op& op, CallRef call) {
    RankState& state = m_ranks[who];
    const CallClass callClass = trace::functionClass(op.begin.function);
    const bool poll = trace::isPoll(callClass);
    EventDetails end;
    end.function = op.begin.function;
    const bool known = m_options.forced != nullptr && m_options.forced->succeeded.contains(call);
    const bool mustFail = poll && known && !m_options.forced->succeeded.at(call);
    const int index = mustFail ? -1 : findUnexpected(who, call, op.begin);
    if (index < 0) {
        ++state.failures;
        if (mustFail || (poll && m_options.forced == nullptr && op.givesUp && chance(m_random, 40))) {
            end.flag = false;
            m_outcome.succeeded[call] = false;
            return end;
        }
        return std::nullopt;
    }
    const SimMessage& message = m_messages[static_cast<std::size_t>(index)];
    end.status = statusOf(who, op.begin.comm, message);
    m_outcome.seen[call] = message.key;
    m_outcome.succeeded[call] = true;
    if (callClass == CallClass::Mprobe || callClass == CallClass::Improbe) {
        state.unexpected.erase(std::find(state.unexpected.begin(), state.unexpected.end(), index));
        state.handles.push_back(index);
        state.handleStarted.push_back(false);
        state.handleDone.push_back(false);
        m_outcome.received[{call, 0}] = message.key;
    }
    return end;
}

bool Simulation::requestDone(std::size_t who, const SimRequest& request) const {
    switch (request.kind) {
    case SimRequest::Kind::Send:
        return messageSent(request.index);
    case SimRequest::Kind::Recv:
        return request.index < 0 || m_posts[static_cast<std::size_t>(request.index)].message >= 0 ||
               m_posts[static_cast<std::size_t>(request.index)].cancelled;
    case SimRequest::Kind::Coll:
        return collectiveDone(who, *request.op, static_cast<std::size_t>(request.index));
    default:
        return true;
    }
}

trace::Completion Simulation::complete(std::size_t who, std::uint32_t serial, bool keep) {
    RankState& state = m_ranks[who];
    SimRequest& request = state.requests[serial - 1];
    trace::Completion completion;
    completion.request = {state.created - serial};
    if (request.kind == SimRequest::Kind::Recv && request.index >= 0) {
        Post& post = m_posts[static_cast<std::size_t>(request.index)];
        post.shown = true;
        completion.status.cancelled = post.cancelled;
        if (!post.cancelled) {
            completion.status =
                statusOf(who, request.op->begin.comm, m_messages[static_cast<std::size_t>(post.message)]);
        }
    } else if (request.kind == SimRequest::Kind::Recv) {
        completion.status.source = kProcNull;
    } else if (request.kind == SimRequest::Kind::Taken) {
        state.handleDone[request.handle] = true;
        if (request.index >= 0) {
            completion.status =
                statusOf(who, request.op->begin.comm, m_messages[static_cast<std::size_t>(request.index)]);
        }
    }
    request.active = keep;
    return completion;
}

std::optional<EventDetails> Simulation::tryWait(std::size_t who, const Op& op, CallRef call) {
    RankState& state = m_ranks[who];
    const FunctionId f = op.begin.function;
    const bool poll = trace::functionClass(f) == CallClass::Test;
    const bool one = f == FunctionId::Waitany || f == FunctionId::Testany;
    const bool some = f == FunctionId::Waitsome || f == FunctionId::Testsome;
    std::vector<std::uint32_t> active;
    std::vector<std::uint32_t> done;
    for (const std::uint32_t serial : op.requests) {
        if (state.requests[serial - 1].active) {
            active.push_back(serial);
            if (requestDone(who, state.requests[serial - 1])) {
                done.push_back(serial);
            }
        }
    }
    EventDetails end;
    end.function = f;
    bool ready = one || some ? !done.empty() || active.empty() : done.size() == active.size();
    bool fail = false;
    const bool known = m_options.forced != nullptr && m_options.forced->succeeded.contains(call);
    if (known) {
        fail = !m_options.forced->succeeded.at(call);
        const auto& wanted = m_options.forced->completed.at(call);
        ready = !fail && std::all_of(wanted.begin(), wanted.end(), [&](std::uint32_t serial) {
            return std::find(done.begin(), done.end(), serial) != done.end();
        });
        done = wanted;
    } else if (one && !done.empty()) {
        done = {done[below(m_random, done.size())]};
    } else if (some) {
        std::shuffle(done.begin(), done.end(), m_random);
    }
    if (!ready) {
        ++state.failures;
        if (fail || (poll && m_options.forced == nullptr && op.givesUp && chance(m_random, 40))) {
            end.flag = false;
            m_outcome.succeeded[call] = false;
            m_outcome.completed[call] = {};
            return end;
        }
        return std::nullopt;
    }
    for (const std::uint32_t serial : done) {
        end.completions.push_back(complete(who, serial, f == FunctionId::Request_get_status));
    }
    m_outcome.succeeded[call] = true;
    m_outcome.completed[call] = done;
    return end;
}

} // namespace stopline::replay::test
