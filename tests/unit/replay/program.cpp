#include "program.h"

#include <algorithm>
#include <deque>

namespace stopline::replay::test {

using trace::CommInfo;
using trace::EventDetails;
using trace::FunctionId;

namespace {

constexpr std::uint64_t kEager = 100;

struct Comm {
    std::uint64_t id = 0;
    std::vector<std::int32_t> members;
    std::vector<std::int32_t> remote;
    std::vector<CommIndex> index; ///< by world rank, kNoComm for others
};

class Generator {
  public:
    explicit Generator(Random& random) : m_random(random) {}

    Program make() {
        const std::size_t ranks = 2 + below(m_random, 4);
        m_program.ranks.resize(ranks);
        m_program.rules.eagerLimit = kEager;
        m_created.assign(ranks, 0);
        m_probes.assign(ranks, 0);
        m_pending.resize(ranks);
        std::vector<std::int32_t> world;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            world.push_back(static_cast<std::int32_t>(rank));
        }
        addComm(world, {});
        for (const std::int32_t rank : world) {
            op(rank, FunctionId::Init);
        }
        for (std::size_t steps = 3 + below(m_random, 25); steps > 0; --steps) {
            step();
        }
        if (chance(m_random, 60)) {
            for (const std::int32_t rank : world) {
                flush(rank, true);
                op(rank, FunctionId::Finalize);
            }
        }
        return std::move(m_program);
    }

  private:
    Op& op(std::int32_t rank, FunctionId function) {
        auto& ops = m_program.ranks[static_cast<std::size_t>(rank)].ops;
        ops.emplace_back();
        ops.back().begin.function = function;
        if (trace::createsRequest(trace::functionClass(function))) {
            ++m_created[static_cast<std::size_t>(rank)];
        }
        return ops.back();
    }
    std::uint32_t lastRequest(std::int32_t rank) const { return m_created[static_cast<std::size_t>(rank)]; }
    void pend(std::int32_t rank) { m_pending[static_cast<std::size_t>(rank)].push_back(lastRequest(rank)); }
    template <typename T>
    const T& pick(const std::vector<T>& from) {
        return from[below(m_random, from.size())];
    }
    std::size_t addComm(std::vector<std::int32_t> members, std::vector<std::int32_t> remote) {
        Comm comm;
        comm.id = 100 + m_comms.size();
        comm.index.assign(m_program.ranks.size(), kNoComm);
        for (int side = 0; side < 2; ++side) {
            for (const std::int32_t member : side == 0 ? members : remote) {
                auto& comms = m_program.ranks[static_cast<std::size_t>(member)].comms;
                CommInfo info;
                info.id = comm.id;
                info.members = side == 0 ? members : remote;
                info.remote = side == 0 ? remote : members;
                comms.push_back(info);
                comm.index[static_cast<std::size_t>(member)] =
                    CommIndex{static_cast<std::uint32_t>(comms.size() - 1)};
            }
        }
        comm.members = std::move(members);
        comm.remote = std::move(remote);
        m_comms.push_back(std::move(comm));
        return m_comms.size() - 1;
    }
    static std::int32_t find(const std::vector<std::int32_t>& group, std::int32_t rank) {
        const auto at = std::find(group.begin(), group.end(), rank);
        return at == group.end() ? -1 : static_cast<std::int32_t>(at - group.begin());
    }

    void step();
    struct Envelope {
        std::size_t comm;
        std::int32_t from; ///< world rank
        std::int32_t to;
        std::int32_t tag;
        std::uint64_t bytes;
    };
    Envelope envelope();
    void sendSide(const Envelope& e, FunctionId function);
    void sendSide(const Envelope& e);
    EventDetails receiveArguments(const Envelope& e, bool wildcards);
    void recvSide(const Envelope& e);
    void persistent(const Envelope& e);
    void exchange();
    void collective();
    void construct();
    void flush(std::int32_t rank, bool all);
    void oddities();

    Random& m_random;
    Program m_program;
    std::vector<Comm> m_comms;
    std::vector<std::uint32_t> m_created;
    std::vector<std::uint32_t> m_probes;
    std::vector<std::deque<std::uint32_t>> m_pending;
};

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

} // namespace

Program randomProgram(Random& random) {
    return Generator(random).make();
}

} // namespace stopline::replay::test
