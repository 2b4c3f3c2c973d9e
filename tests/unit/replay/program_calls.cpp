// Exchanges, collectives, waiting, and odd things.
#include "program_generator.h"

namespace stopline::replay::test {

void Generator::exchange() {
    const Envelope there = envelope();
    if (!m_comms[there.comm].remote.empty() || there.from == there.to) {
        return;
    }
    Envelope back = there;
    std::swap(back.from, back.to);
    for (const auto& [out, in] : {std::pair{there, back}, std::pair{back, there}}) {
        sendSide(out, FunctionId::Sendrecv);
        Op& both = m_program.ranks[static_cast<std::size_t>(out.from)].ops.back();
        const EventDetails d = receiveArguments(in, false);
        both.begin.recvPeer = d.recvPeer;
        both.begin.recvTag = d.recvTag;
        if (chance(m_random, 15)) {
            both.begin.recvPeer = kAnySource;
        }
    }
}

void Generator::collective() {
    static const std::vector<FunctionId> kinds = {
        FunctionId::Barrier,  FunctionId::Bcast,    FunctionId::Bcast,   FunctionId::Gather,
        FunctionId::Scatter,  FunctionId::Reduce,   FunctionId::Reduce,  FunctionId::Allreduce,
        FunctionId::Alltoall, FunctionId::Scan,     FunctionId::Exscan,  FunctionId::Ibarrier,
        FunctionId::Ibcast,   FunctionId::Igather,  FunctionId::Ireduce, FunctionId::Iallreduce,
        FunctionId::Iscan,    FunctionId::Comm_free};
    FunctionId function = pick(kinds);
    const std::size_t index = below(m_random, m_comms.size());
    const Comm& comm = m_comms[index];
    if (function == FunctionId::Comm_free && index == 0) {
        function = FunctionId::Allgather;
    }
    const bool inter = !comm.remote.empty();
    const bool scan =
        function == FunctionId::Scan || function == FunctionId::Exscan || function == FunctionId::Iscan;
    if (inter && scan) {
        function = FunctionId::Barrier;
    }
    const std::int32_t root = static_cast<std::int32_t>(below(m_random, comm.members.size()));
    const std::uint64_t bytes = chance(m_random, 15) ? 1000 : 8;
    for (const auto* group : {&comm.members, &comm.remote}) {
        for (const std::int32_t rank : *group) {
            Op& call = op(rank, function);
            call.begin.comm = comm.index[static_cast<std::size_t>(rank)];
            call.begin.sendBytes = bytes;
            call.begin.root = root;
            if (inter && group == &comm.members) {
                call.begin.root =
                    rank == comm.members[static_cast<std::size_t>(root)] ? kRootInter : kProcNull;
            }
            if (trace::functionClass(function) == trace::CallClass::Icollective) {
                pend(rank);
            }
        }
    }
}

void Generator::construct() {
    const std::size_t index = below(m_random, m_comms.size());
    const Comm parent = m_comms[index];
    if (!parent.remote.empty() || parent.members.size() < 2 || m_comms.size() > 6) {
        return;
    }
    std::vector<std::int32_t> some;
    std::vector<std::int32_t> rest;
    for (const std::int32_t rank : parent.members) {
        (chance(m_random, 50) ? some : rest).push_back(rank);
    }
    const auto call = [&](FunctionId function, const std::vector<std::int32_t>& ranks, std::size_t made) {
        for (const std::int32_t rank : ranks) {
            Op& added = op(rank, function);
            added.begin.comm = parent.index[static_cast<std::size_t>(rank)];
            added.newComm = m_comms[made].index[static_cast<std::size_t>(rank)];
            if (function == FunctionId::Comm_idup) {
                pend(rank);
            }
        }
    };
    switch (below(m_random, 4)) {
    case 0:
        call(chance(m_random, 50) ? FunctionId::Comm_dup : FunctionId::Comm_idup, parent.members,
             addComm(parent.members, {}));
        break;
    case 1:
        for (const auto& group : {some, rest}) {
            if (!group.empty()) {
                call(FunctionId::Comm_split, group, addComm(group, {}));
            }
        }
        break;
    case 2:
        if (!some.empty()) {
            std::shuffle(some.begin(), some.end(), m_random);
            call(FunctionId::Comm_create_group, some, addComm(some, {}));
        }
        break;
    default:
        if (!some.empty() && !rest.empty()) {
            call(FunctionId::Intercomm_create, parent.members, addComm(some, rest));
        }
        break;
    }
}

void Generator::flush(std::int32_t rank, bool all) {
    auto& pending = m_pending[static_cast<std::size_t>(rank)];
    if (pending.empty()) {
        return;
    }
    static const std::vector<FunctionId> one = {FunctionId::Wait, FunctionId::Wait, FunctionId::Test,
                                                FunctionId::Request_get_status};
    static const std::vector<FunctionId> many = {FunctionId::Waitall, FunctionId::Testall};
    static const std::vector<FunctionId> any = {FunctionId::Waitany, FunctionId::Waitsome,
                                                FunctionId::Testany, FunctionId::Testsome};
    std::vector<std::uint32_t> list(pending.begin(), pending.end());
    if (all) {
        op(rank, FunctionId::Waitall).requests = list;
        pending.clear();
        return;
    }
    switch (below(m_random, 3)) {
    case 0: {
        const std::size_t index = below(m_random, pending.size());
        Op& call = op(rank, pick(one));
        call.requests = {pending[index]};
        call.givesUp = chance(m_random, 30);
        if (call.begin.function == FunctionId::Wait) {
            pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(index));
        }
        break;
    }
    case 1: {
        std::shuffle(list.begin(), list.end(), m_random);
        Op& call = op(rank, pick(many));
        call.requests = list;
        pending.clear();
        break;
    }
    default: {
        Op& call = op(rank, pick(any));
        call.requests = list;
        call.givesUp = chance(m_random, 30);
        break;
    }
    }
}

void Generator::oddities() {
    const Envelope e = envelope();
    switch (below(m_random, 6)) {
    case 0: { // nothing will ever come
        Op& call = op(e.to, FunctionId::Irecv);
        call.begin = receiveArguments(e, true);
        call.begin.function = FunctionId::Irecv;
        call.begin.recvTag = 77;
        const std::uint32_t request = lastRequest(e.to);
        op(e.to, FunctionId::Cancel).requests = {request};
        op(e.to, FunctionId::Wait).requests = {request};
        break;
    }
    case 1: {
        Op& call = op(e.from, chance(m_random, 50) ? FunctionId::Send : FunctionId::Sendrecv);
        call.begin.comm = CommIndex{0};
        call.begin.sendPeer = kProcNull;
        call.begin.sendTag = 0;
        call.begin.sendBytes = 1000;
        call.begin.recvPeer = kProcNull;
        call.begin.recvTag = 0;
        break;
    }
    case 2: {
        Op& call = op(e.to, FunctionId::Irecv);
        call.begin.comm = CommIndex{0};
        call.begin.recvPeer = kProcNull;
        call.begin.recvTag = kAnyTag;
        pend(e.to);
        break;
    }
    case 3: // a message that nobody receives
        if (chance(m_random, 30)) {
            sendSide(e);
        }
        break;
    case 4: // a receive that may hang
        if (chance(m_random, 10)) {
            recvSide(e);
        }
        break;
    default: { // two matched probes, received the other way round
        Envelope first = e;
        Envelope second = e;
        first.tag = 0;
        second.tag = 1;
        for (const Envelope& one : {first, second}) {
            sendSide(one, FunctionId::Isend);
            pend(one.from);
        }
        for (const Envelope& one : {first, second}) {
            Op& probe = op(one.to, FunctionId::Mprobe);
            probe.begin = receiveArguments(one, false);
            probe.begin.function = FunctionId::Mprobe;
        }
        std::uint32_t& probes = m_probes[static_cast<std::size_t>(e.to)];
        for (const std::uint32_t handle : {probes + 1, probes}) {
            Op& receive = op(e.to, FunctionId::Mrecv);
            receive.handle = handle;
            receive.begin.comm = m_comms[e.comm].index[static_cast<std::size_t>(e.to)];
        }
        probes += 2;
        break;
    }
    }
}

void Generator::step() {
    const auto rank = static_cast<std::int32_t>(below(m_random, m_program.ranks.size()));
    switch (below(m_random, 16)) {
    case 0:
    case 1:
    case 2:
    case 3: {
        const Envelope e = envelope();
        sendSide(e);
        recvSide(e);
        break;
    }
    case 4:
    case 5: { // several at once, received in another order
        std::vector<Envelope> batch;
        for (std::size_t count = 2 + below(m_random, 3); count > 0; --count) {
            batch.push_back(envelope());
            sendSide(batch.back());
        }
        std::shuffle(batch.begin(), batch.end(), m_random);
        for (const Envelope& e : batch) {
            recvSide(e);
        }
        break;
    }
    case 6:
        exchange();
        break;
    case 7:
        if (const Envelope e = envelope(); e.from != e.to) {
            persistent(e);
        }
        break;
    case 8:
    case 9:
        collective();
        break;
    case 10:
        construct();
        break;
    case 11:
    case 12:
        oddities();
        break;
    default:
        flush(rank, chance(m_random, 10));
        break;
    }
}

} // namespace stopline::replay::test
