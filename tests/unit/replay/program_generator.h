// What makes the random programs: a step at a time, all ranks in turn. Only for program*.cpp.
#pragma once

#include "program.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace stopline::replay::test {

using trace::CommInfo;
using trace::EventDetails;
using trace::FunctionId;

inline constexpr std::uint64_t kEager = 100;

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

} // namespace stopline::replay::test
