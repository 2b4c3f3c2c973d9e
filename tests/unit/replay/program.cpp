// Messages, and the order of steps.
#include "program_generator.h"

namespace stopline::replay::test {

Generator::Envelope Generator::envelope() {
    Envelope e{};
    e.comm = below(m_random, m_comms.size());
    const Comm& comm = m_comms[e.comm];
    if (comm.remote.empty()) {
        e.from = pick(comm.members);
        e.to = pick(comm.members);
        if (e.from == e.to && chance(m_random, 60)) {
            e.to = pick(comm.members);
        }
    } else {
        e.from = pick(comm.members);
        e.to = pick(comm.remote);
        if (chance(m_random, 50)) {
            std::swap(e.from, e.to);
        }
    }
    e.tag = static_cast<std::int32_t>(below(m_random, 2));
    e.bytes = chance(m_random, 25) ? 1000 : 8;
    return e;
}

void Generator::sendSide(const Envelope& e, FunctionId function) {
    const Comm& comm = m_comms[e.comm];
    Op& send = op(e.from, function);
    send.begin.comm = comm.index[static_cast<std::size_t>(e.from)];
    const bool fromRemote = find(comm.remote, e.from) >= 0;
    send.begin.sendPeer = find(comm.remote.empty() || fromRemote ? comm.members : comm.remote, e.to);
    send.begin.sendTag = e.tag;
    send.begin.sendBytes = e.bytes;
}

void Generator::sendSide(const Envelope& e) {
    static const std::vector<FunctionId> kinds = {FunctionId::Send,   FunctionId::Send,  FunctionId::Ssend,
                                                  FunctionId::Bsend,  FunctionId::Isend, FunctionId::Isend,
                                                  FunctionId::Issend, FunctionId::Ibsend};
    FunctionId function = pick(kinds);
    if (e.from == e.to && chance(m_random, 95)) {
        function = FunctionId::Isend;
    }
    sendSide(e, function);
    if (trace::functionClass(function) == trace::CallClass::Isend) {
        if (chance(m_random, 5)) {
            op(e.from, FunctionId::Request_free).requests = {lastRequest(e.from)};
        } else {
            pend(e.from);
        }
    }
}

EventDetails Generator::receiveArguments(const Envelope& e, bool wildcards) {
    const Comm& comm = m_comms[e.comm];
    EventDetails d;
    d.comm = comm.index[static_cast<std::size_t>(e.to)];
    const bool toRemote = find(comm.remote, e.to) >= 0;
    d.recvPeer = find(comm.remote.empty() || toRemote ? comm.members : comm.remote, e.from);
    d.recvTag = e.tag;
    d.recvBytes = 2000;
    if (wildcards && chance(m_random, 20)) {
        d.recvPeer = kAnySource;
    }
    if (wildcards && chance(m_random, 20)) {
        d.recvTag = kAnyTag;
    }
    return d;
}

void Generator::recvSide(const Envelope& e) {
    EventDetails d = receiveArguments(e, true);
    const auto add = [&](FunctionId function) -> Op& {
        Op& added = op(e.to, function);
        const FunctionId f = added.begin.function;
        added.begin = d;
        added.begin.function = f;
        return added;
    };
    switch (below(m_random, 9)) {
    case 0:
    case 1:
    case 2:
        add(FunctionId::Recv);
        break;
    case 3:
    case 4:
        add(FunctionId::Irecv);
        if (chance(m_random, 5) && d.recvPeer != kAnySource && d.recvTag != kAnyTag) {
            op(e.to, FunctionId::Request_free).requests = {lastRequest(e.to)};
        } else {
            if (chance(m_random, 6)) {
                op(e.to, FunctionId::Cancel).requests = {lastRequest(e.to)};
            }
            pend(e.to);
        }
        break;
    case 5: {
        add(chance(m_random, 50) ? FunctionId::Probe : FunctionId::Iprobe).givesUp = chance(m_random, 20);
        add(FunctionId::Recv);
        break;
    }
    default: {
        add(chance(m_random, 50) ? FunctionId::Mprobe : FunctionId::Improbe);
        const std::uint32_t handle = m_probes[static_cast<std::size_t>(e.to)]++;
        if (chance(m_random, 20)) {
            flush(e.to, false);
        }
        const bool blocking = chance(m_random, 50);
        Op& receive = op(e.to, blocking ? FunctionId::Mrecv : FunctionId::Imrecv);
        receive.handle = handle;
        receive.begin.comm = d.comm;
        if (!blocking) {
            pend(e.to);
        }
        break;
    }
    }
}

void Generator::persistent(const Envelope& e) {
    static const std::vector<FunctionId> kinds = {FunctionId::Send_init, FunctionId::Bsend_init,
                                                  FunctionId::Ssend_init};
    sendSide(e, pick(kinds));
    const std::uint32_t send = lastRequest(e.from);
    const EventDetails d = receiveArguments(e, true);
    Op& init = op(e.to, FunctionId::Recv_init);
    init.begin = d;
    init.begin.function = FunctionId::Recv_init;
    const std::uint32_t recv = lastRequest(e.to);
    for (std::size_t rounds = 1 + below(m_random, 3); rounds > 0; --rounds) {
        op(e.from, FunctionId::Start).requests = {send};
        op(e.to, FunctionId::Startall).requests = {recv};
        op(e.from, FunctionId::Wait).requests = {send};
        op(e.to, chance(m_random, 50) ? FunctionId::Wait : FunctionId::Testall).requests = {recv};
    }
}

Program randomProgram(Random& random) {
    return Generator(random).make();
}
} // namespace stopline::replay::test
