// Messages and collectives of which a part lies before the start of the history of its rank, and what has to be computed
// anew when an edge comes or goes.
#include "matcher.h"
#include "matcher_collectives.h"

#include <algorithm>
#include <limits>

namespace stopline::replay {

void Matcher::touchProbes(const Channel& ch, std::int64_t receive) {
    for (std::size_t i = ch.probes.size(); i > 0; --i) {
        const ProbeHalf& probe = m_data.probes[ch.probes[i - 1]];
        if (probe.position < receive) {
            break;
        }
        m_data.touch(probe.rank, probe.call);
    }
}

void Matcher::touchMessage(std::uint32_t message) {
    if (message == kNone) {
        return;
    }
    const MessageHalves& halves = m_data.halves[message];
    if (halves.send != kNone) {
        m_data.touch(m_data.sends[halves.send].rank, m_data.sends[halves.send].call);
    }
    if (halves.recv != kNone) {
        m_data.touch(m_data.recvs[halves.recv].rank, m_data.recvs[halves.recv].post);
    }
}

void Matcher::setEarly(std::uint32_t message) {
    setState(message, MessageState::Early);
    const MessageHalves& halves = m_data.halves[message];
    if (halves.send != kNone) {
        m_data.noteMissing(m_data.sends[halves.send].rank, m_data.sends[halves.send].call);
    }
    if (halves.recv != kNone) {
        m_data.noteMissing(m_data.recvs[halves.recv].rank, m_data.recvs[halves.recv].post);
    }
}

void Matcher::addMissing(std::uint32_t comm, std::int32_t source, std::int32_t destination, std::int32_t tag, bool sends,
                         std::int64_t count) {
    Channel& ch = m_data.channels[channel(comm, source, destination, tag)];
    ch.shift += sends ? -count : count;
    repair(ch, std::numeric_limits<std::int32_t>::min());
}

void Matcher::addSeen(std::uint32_t comm, std::int32_t source, std::int32_t destination, std::int32_t tag,
                      std::uint32_t count) {
    Channel& ch = m_data.channels[channel(comm, source, destination, tag)];
    ch.seen = std::max(ch.seen, static_cast<std::uint32_t>(ch.recvs.size()) + count);
    for (std::size_t k = 0; k < ch.sends.size() && ch.receiveAt(k) < std::int64_t{ch.seen}; ++k) {
        m_data.noteMissing(source, m_data.sends[ch.sends[k]].call);
    }
}

void Matcher::missUnknown(std::int32_t rank) {
    for (Channel& ch : m_data.channels) {
        if (ch.source == rank || ch.destination == rank) {
            ch.unknown = true;
            repair(ch, 0);
        }
    }
}

void CollectiveTable::setEarly(std::uint32_t collective) {
    Collective& c = m_data.collectives[collective];
    c.early = true;
    const CollRules& rules = m_data.collRules[collective];
    for (std::size_t member = 0; member < c.members.size(); ++member) {
        if (rules.arrived[member] != kNone) {
            m_data.noteMissing(c.members[member].value(), rules.arrived[member]);
        }
    }
}

void CollectiveTable::missMembers(std::uint32_t commEntry) {
    const CommEntry& entry = m_data.commEntries[commEntry];
    const auto look = [&](std::uint32_t collective) {
        if (!m_data.collectives[collective].early && entry.isMissing(m_data.collRules[collective].ordinal)) {
            setEarly(collective);
        }
    };
    for (const std::uint32_t collective : entry.collectives) {
        look(collective);
    }
    for (const auto& [ordinal, collective] : entry.apart) {
        look(collective);
    }
}

void CollectiveTable::addMissing(std::int32_t rank, CommIndex comm, std::int64_t count) {
    RankData& data = m_data.rank(rank);
    if (comm.value() >= data.views.size() || data.views[comm.value()].position < 0) {
        return;
    }
    CommView& view = data.views[comm.value()];
    view.collectiveCount = static_cast<std::uint32_t>(std::max<std::int64_t>(view.collectiveCount + count, 0));
    CommEntry& entry = m_data.commEntries[view.entry];
    entry.missing.resize(entry.members.size(), 0);
    std::uint32_t& missing = entry.missing[static_cast<std::size_t>(view.position)];
    missing = static_cast<std::uint32_t>(std::max<std::int64_t>(missing + count, 0));
    missMembers(view.entry);
}

/// Which collectives of the communicator the rank has taken part in is not known.
void CollectiveTable::missAll(const CommView& view) {
    CommEntry& entry = m_data.commEntries[view.entry];
    if (view.position >= 0) {
        entry.missing.resize(entry.members.size(), 0);
        entry.missing[static_cast<std::size_t>(view.position)] = kNone;
        missMembers(view.entry);
    }
}

void CollectiveTable::missUnknown(std::int32_t rank) {
    for (const CommView& view : m_data.rank(rank).views) {
        missAll(view);
    }
}

void CollectiveTable::addMissingCreated(std::int32_t rank, std::uint32_t comms) {
    RankData& data = m_data.rank(rank);
    for (std::size_t i = 0; i < std::min<std::size_t>(comms, data.views.size()); ++i) {
        const auto known = m_data.createdComms.find(m_data.commEntries[data.views[i].entry].id);
        if (known != m_data.createdComms.end()) {
            setEarly(known->second);
            std::erase(data.awaited, known->second);
        }
    }
}

void CollectiveTable::addMissingWorld(std::int32_t rank, bool finalize, std::uint32_t count) {
    RankData& data = m_data.rank(rank);
    (finalize ? data.finalizeCount : data.initCount) += count;
    CommEntry& entry = m_data.commEntries[finalize ? 1 : 0];
    entry.missing.resize(entry.members.size(), 0);
    entry.missing[static_cast<std::size_t>(rank)] += count;
    missMembers(finalize ? 1 : 0);
}

} // namespace stopline::replay
