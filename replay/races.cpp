#include "races.h"

#include "race_windows.h"
#include "races_impl.h"
#include "timeline_impl.h"

#include <algorithm>

namespace stopline::replay {

RaceAnalysis::RaceAnalysis(Orders orders) : m_impl(std::make_unique<Impl>(orders)) {}
RaceAnalysis::~RaceAnalysis() = default;
RaceAnalysis::RaceAnalysis(RaceAnalysis&&) noexcept = default;
RaceAnalysis& RaceAnalysis::operator=(RaceAnalysis&&) noexcept = default;

void RaceAnalysis::update(const Timeline& timeline) {
    update(timeline, ~std::uint64_t{0});
}

bool RaceAnalysis::update(const Timeline& timeline, std::uint64_t mostEvents) {
    const TimelineData& data = timeline.m_impl->data;
    if (m_impl->data != &data || m_impl->order.overtaken(data)) {
        *m_impl = Impl(m_impl->orders);
        m_impl->data = &data;
    }
    const bool all = m_impl->order.update(data, mostEvents);
    m_impl->windows.update(data, m_impl->order);
    return all;
}

namespace {

MaybeCall callOf(const TimelineData& data, std::int32_t rank, std::uint32_t call) {
    return call == kNone ? MaybeCall() : MaybeCall(data.ref(rank, call));
}

/// A sender as a rank in a communicator, as the receiver sees that.
std::int32_t sourceIn(const TimelineData& data, std::int32_t receiver, std::uint32_t comm, std::int32_t sender) {
    const RankData& own = data.rank(receiver);
    for (std::size_t i = 0; i < own.views.size(); ++i) {
        if (own.views[i].entry != comm) {
            continue;
        }
        const trace::CommInfo& info = own.comms[i];
        const std::vector<std::int32_t>& senders = info.remote.empty() ? info.members : info.remote;
        const auto at = std::find(senders.begin(), senders.end(), sender);
        return at == senders.end() ? -1 : static_cast<std::int32_t>(at - senders.begin());
    }
    return -1;
}

/// How many receives of any source the post of this one has posted before it.
std::uint32_t placeAmong(const TimelineData& data, std::uint32_t id) {
    std::uint32_t place = 0;
    for (std::uint32_t before = id; before-- > 0;) {
        const RecvHalf& recv = data.recvs[before];
        if (recv.rank != data.recvs[id].rank || recv.post != data.recvs[id].post) {
            break; // those of one call are together
        }
        place += data.rank(recv.rank).details[recv.details].recvPeer == kAnySource ? 1 : 0;
    }
    return place;
}

/// The calls that a window has to do with, for finding it by one of them.
bool concerns(const Race& race, CallRef call) {
    return race.call == call || (race.done && *race.done == call);
}

} // namespace

Race RaceAnalysis::Impl::raceOf(WindowRef ref) const {
    const WindowClass& of = windows.classes()[ref.classIndex];
    const Window& window = of.windows[ref.place];
    const Gate& gate = windows.gates()[of.gate];
    Race race;
    race.commId = data->commEntries[gate.comm].id;
    race.tag = of.tag;
    race.alternatives = of.counts[ref.place];
    race.window = window.key;
    std::uint32_t send = kNone;
    std::uint32_t call = kNone;
    if (window.what.kind == Decision::Kind::Receive) {
        const RecvHalf& recv = data->recvs[window.what.id];
        race.kind = recv.cancelled ? RaceKind::CancelledReceive : RaceKind::Receive;
        call = recv.post;
        race.place = placeAmong(*data, window.what.id);
        race.done = callOf(*data, gate.receiver, recv.start != recv.post ? recv.post : recv.done);
        if (!recv.cancelled) {
            race.sender = RankId{data->channels[recv.channel].source};
            send = data->halves[recv.message].send;
        }
    } else if (window.what.kind == Decision::Kind::Probe) {
        const ProbeHalf& probe = data->probes[window.what.id];
        const Channel& channel = data->channels[probe.channel];
        race.kind = RaceKind::Probe;
        race.sender = RankId{channel.source};
        send = probe.position < channel.sends.size() ? channel.sends[probe.position] : kNone;
        call = probe.call;
        race.done = callOf(*data, gate.receiver, call);
    } else {
        race.kind = RaceKind::FailedProbe;
        call = order.failedProbes()[window.what.id].call;
        race.done = callOf(*data, gate.receiver, call);
    }
    race.call = data->ref(gate.receiver, call);
    race.pollFailures = data->rank(gate.receiver).events.pollFailuresOf(call);
    if (send != kNone) {
        race.send = data->ref(data->sends[send].rank, data->sends[send].call);
    }
    return race;
}

template <typename Visit>
void RaceAnalysis::Impl::eachRace(Visit&& visit) const {
    for (std::uint32_t one = 0; one < windows.classes().size(); ++one) {
        const WindowClass& of = windows.classes()[one];
        for (std::uint32_t place = 0; place < of.windows.size(); ++place) {
            if (of.counts[place] != 0) {
                visit(WindowRef{one, place});
            }
        }
    }
}

std::vector<Race> RaceAnalysis::Impl::sorted(std::vector<Race> races) {
    std::stable_sort(races.begin(), races.end(),
                     [](const Race& a, const Race& b) { return a.call < b.call; });
    return races;
}

std::size_t RaceAnalysis::count() const {
    std::size_t found = 0;
    m_impl->eachRace([&](WindowRef) { ++found; });
    return found;
}

std::vector<Race> RaceAnalysis::races() const {
    std::vector<Race> races;
    m_impl->eachRace([&](WindowRef ref) { races.push_back(m_impl->raceOf(ref)); });
    return Impl::sorted(std::move(races));
}

std::vector<CallRef> RaceAnalysis::guarded() const {
    std::vector<CallRef> calls;
    for (std::uint32_t one = 0; one < m_impl->windows.classes().size(); ++one) {
        const WindowClass& of = m_impl->windows.classes()[one];
        for (std::uint32_t place = 0; place < of.windows.size(); ++place) {
            if (of.counts[place] == 0 && of.kept[place] != 0) {
                calls.push_back(m_impl->raceOf({one, place}).call);
            }
        }
    }
    std::sort(calls.begin(), calls.end());
    return calls;
}

std::vector<Race> RaceAnalysis::racesOf(CallRef call) const {
    std::vector<Race> races;
    if (m_impl->data == nullptr || call.rank.value() < 0 || call.rank.value() >= m_impl->data->rankCount() ||
        call.call.value() >= m_impl->data->rank(call.rank.value()).events.callCount()) {
        return races;
    }
    const RankEvents& events = m_impl->data->rank(call.rank.value()).events;
    const Tick begin = tickOfStart(events.beginOf(call.call.value()));
    for (std::uint32_t one = 0; one < m_impl->windows.classes().size(); ++one) {
        const WindowClass& of = m_impl->windows.classes()[one];
        if (m_impl->windows.gates()[of.gate].receiver != call.rank.value()) {
            continue;
        }
        // Windows that were posted after the call began have nothing to do with it; of those before, such as
        // were open then.
        std::size_t at =
            of.unordered ? of.windows.size()
                         : static_cast<std::size_t>(std::partition_point(of.windows.begin(), of.windows.end(),
                                                                         [begin](const Window& window) {
                                                                             return window.posted <= begin;
                                                                         }) -
                                                    of.windows.begin());
        for (; at > 0 && (of.unordered || of.latest[at - 1] >= begin); --at) {
            if (of.counts[at - 1] == 0) {
                continue;
            }
            const Race race = m_impl->raceOf({one, static_cast<std::uint32_t>(at - 1)});
            if (concerns(race, call)) {
                races.push_back(race);
            }
        }
    }
    std::reverse(races.begin(), races.end());
    return Impl::sorted(std::move(races));
}

std::optional<WindowRef> RaceAnalysis::Impl::find(const Race& race) const {
    const std::int32_t rank = race.call.rank.value();
    if (data == nullptr || rank < 0 || rank >= data->rankCount()) {
        return std::nullopt;
    }
    for (std::uint32_t one = 0; one < windows.classes().size(); ++one) {
        const WindowClass& of = windows.classes()[one];
        const Gate& gate = windows.gates()[of.gate];
        if (gate.receiver != rank || of.tag != race.tag || data->commEntries[gate.comm].id != race.commId) {
            continue;
        }
        const auto at =
            std::lower_bound(of.windows.begin(), of.windows.end(), race.window,
                             [](const Window& window, std::uint32_t key) { return window.key < key; });
        for (auto place = at; place != of.windows.end() && place->key == race.window; ++place) {
            const WindowRef ref{one, static_cast<std::uint32_t>(place - of.windows.begin())};
            if (raceOf(ref).call == race.call) {
                return ref;
            }
        }
    }
    return std::nullopt;
}

std::vector<Alternative> RaceAnalysis::alternatives(const Race& race) const {
    std::vector<Alternative> result;
    const std::optional<WindowRef> ref = m_impl->find(race);
    if (!ref) {
        return result;
    }
    const TimelineData& data = *m_impl->data;
    const Window& window = m_impl->windows.classes()[ref->classIndex].windows[ref->place];
    // Decided inside a blocking call: its end is what can be named.
    const RankEvents& events = data.rank(race.call.rank.value()).events;
    const std::uint64_t decided = window.decided == kNever ? 0 : window.decided / 4;
    const EventIndex end{window.decided % 4 == 0 || decided == 0 ? decided : events.endOf(events.callOf(decided))};
    m_impl->windows.eachAlternative(data, m_impl->order, *ref, [&](std::uint32_t id) {
        const SendHalf& send = data.sends[id];
        Alternative one;
        one.send = data.ref(send.rank, send.call);
        one.sender = RankId{send.rank};
        const Channel& channel = data.channels[send.channel];
        one.source = sourceIn(data, channel.destination, channel.comm, channel.source);
        one.tag = channel.tag;
        if (const RecvHalf* recv = recvOf(data, send)) {
            one.receive = data.ref(recv->rank, recv->post);
        }
        one.windowEnd = end;
        one.knows = EventIndex{std::min(m_impl->order.known(id), window.decided) / 4};
        result.push_back(one);
    });
    std::sort(result.begin(), result.end(),
              [](const Alternative& a, const Alternative& b) { return a.send < b.send; });
    return result;
}

std::size_t RaceAnalysis::windows() const {
    std::size_t count = 0;
    for (const WindowClass& of : m_impl->windows.classes()) {
        count += of.windows.size();
    }
    return count;
}

EventIndex RaceAnalysis::analysed(RankId rank) const {
    return EventIndex{rank.value() < 0 ? 0 : m_impl->order.passedEvents(rank.value())};
}

std::size_t RaceAnalysis::memoryBytes() const {
    return m_impl->order.bytes() + m_impl->windows.bytes();
}

MinimalTrace RaceAnalysis::minimalTrace() const {
    return m_impl->data == nullptr ? MinimalTrace{} : m_impl->minimalTrace();
}

} // namespace stopline::replay
