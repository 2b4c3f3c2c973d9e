// Which members of a collective give data to which.
#include "data_order.h"

#include "causality_edges.h"

#include "../tracelib/data_flow.h"
#include "../tracelib/function_forms.h"

#include <algorithm>

namespace stopline::replay {

using trace::CallClass;
using trace::EventDetails;
using trace::FunctionId;

namespace {

/// Which starts an end gets data from, if every member has some.
Pattern dataPattern(const TimelineData& data, std::uint32_t collective) {
    const Collective& c = data.collectives[collective];
    const CollRules& rules = data.collRules[collective];
    if (c.mismatch) {
        return Pattern::None;
    }
    const Pattern exchange = rules.inter ? Pattern::OtherGroup : Pattern::All;
    const FunctionId function = trace::plainFunction(c.function);
    if (function == FunctionId::Win_fence) {
        return Pattern::All;
    }
    switch (trace::dataFlow(function)) {
    case trace::DataFlow::All:
        return Pattern::All;
    case trace::DataFlow::Exchange:
        return exchange;
    case trace::DataFlow::FromRoot:
        return rules.rootPosition < 0 ? Pattern::None
               : rules.inter          ? Pattern::RootToOther
                                      : Pattern::RootToAll;
    case trace::DataFlow::ToRoot:
        return rules.rootPosition < 0 ? Pattern::None
               : rules.inter          ? Pattern::OtherToRoot
                                      : Pattern::AllToRoot;
    case trace::DataFlow::Prefix:
        return Pattern::Prefix;
    case trace::DataFlow::None:
        break;
    }
    return Pattern::None;
}

/// The member has something to give. Of a persistent collective the bytes are not in the call that starts it.
bool gives(const TimelineData& data, const Collective& c, std::int32_t rank, std::uint32_t call) {
    const FunctionId function = trace::plainFunction(c.function);
    if (trace::givesWithoutBytes(function) || function == FunctionId::Win_fence) {
        return true;
    }
    const EventDetails& begin = data.beginDetails(rank, call);
    return begin.sendBytes > 0 || trace::functionClass(begin.function) == CallClass::Start;
}

/// The member gets something, as far as its own counts say.
bool gets(const TimelineData& data, const Collective& c, std::int32_t rank, std::uint32_t call) {
    if (!trace::getsByOwnCount(trace::plainFunction(c.function))) {
        return true;
    }
    const EventDetails& begin = data.beginDetails(rank, call);
    return begin.recvBytes > 0 || trace::functionClass(begin.function) == CallClass::Start;
}

} // namespace

void DataOrder::arrive(const TimelineData& data, std::int32_t rank, std::uint32_t call, std::uint32_t part) {
    const CollPart where = data.parts[part];
    const CollRules& rules = data.collRules[where.collective];
    const Pattern pattern = dataPattern(data, where.collective);
    if (rules.arrived[where.position] != call || pattern == Pattern::None) {
        return;
    }
    const Collective& c = data.collectives[where.collective];
    Instance& instance = m_instances[where.collective];
    ++instance.arrived;
    if (trace::plainFunction(c.function) == FunctionId::Win_fence &&
        data.beginDetails(rank, call).mode != 0) {
        instance.loose = true;
    }
    const bool rooted = pattern == Pattern::RootToAll || pattern == Pattern::RootToOther;
    if (!gives(data, c, rank, call) ||
        (rooted && static_cast<std::int32_t>(where.position) != rules.rootPosition)) {
        return;
    }
    if (pattern == Pattern::Prefix) {
        instance.prefix.resize(c.members.size(), kNone);
        instance.prefix[where.position] = copyOf(rank);
        return;
    }
    std::uint32_t& joined =
        instance.joined[static_cast<std::int32_t>(where.position) < rules.localCount ? 0 : 1];
    if (joined == kNone) {
        joined = copyOf(rank);
    } else {
        join(slot(joined), clock(rank));
    }
}

bool DataOrder::canLeave(const TimelineData& data, std::int32_t rank, std::uint32_t part) {
    const CollPart where = data.parts[part];
    const Collective& c = data.collectives[where.collective];
    const CollRules& rules = data.collRules[where.collective];
    const Pattern pattern = dataPattern(data, where.collective);
    const auto instance = m_instances.find(where.collective);
    if (pattern == Pattern::None ||
        (instance != m_instances.end() && instance->second.arrived == c.members.size())) {
        return true;
    }
    const Range range = waitsFor(pattern, rules, c.members.size(), where.position);
    for (std::uint32_t member = range.from; member < range.to; ++member) {
        const std::int32_t other = c.members[member].value();
        if (other == rank || other < 0 || other >= data.rankCount()) {
            continue;
        }
        if (rules.arrived[member] == kNone) {
            if (mayGrow(data, other)) {
                return false; // its part has not been recorded yet
            }
            continue;
        }
        const std::uint64_t event = data.rank(other).events.beginOf(rules.arrived[member]);
        if (state(other).passed < event) {
            block(rank, other, event);
            return false;
        }
    }
    return true;
}

void DataOrder::joinPrefix(Instance& instance, std::uint32_t to) {
    for (; instance.prefixed < to; ++instance.prefixed) {
        const std::uint32_t at = instance.prefixed;
        if (at == 0 || instance.prefix[at - 1] == kNone) {
            continue;
        }
        if (instance.prefix[at] == kNone) { // it gives nothing itself
            instance.prefix[at] = copyOf(0);
            std::copy_n(slot(instance.prefix[at - 1]), m_width, slot(instance.prefix[at]));
        } else {
            join(slot(instance.prefix[at]), slot(instance.prefix[at - 1]));
        }
    }
}

void DataOrder::leave(const TimelineData& data, std::int32_t rank, std::uint32_t part) {
    const CollPart where = data.parts[part];
    const auto found = m_instances.find(where.collective);
    if (found == m_instances.end()) {
        return;
    }
    Instance& instance = found->second;
    const Collective& c = data.collectives[where.collective];
    const CollRules& rules = data.collRules[where.collective];
    const Pattern pattern = dataPattern(data, where.collective);
    const MaybeCall begun = c.arrived[where.position];
    if (!instance.loose && begun && gets(data, c, rank, begun->call.value())) {
        if (pattern == Pattern::Prefix) {
            instance.prefix.resize(c.members.size(), kNone);
            joinPrefix(instance, where.position + 1);
            if (instance.prefix[where.position] != kNone) {
                join(clock(rank), slot(instance.prefix[where.position]));
            }
        } else {
            const Range range = waitsFor(pattern, rules, c.members.size(), where.position);
            const auto local = static_cast<std::uint32_t>(rules.localCount);
            for (const int group : {0, 1}) {
                const std::uint32_t from = group == 0 ? 0 : local;
                const std::uint32_t to = group == 0 ? local : static_cast<std::uint32_t>(c.members.size());
                if (instance.joined[group] != kNone && range.from < to && range.to > from) {
                    join(clock(rank), slot(instance.joined[group]));
                }
            }
        }
    }
    if (++instance.ended == c.members.size()) {
        for (std::uint32_t& one : instance.joined) {
            release(one);
        }
        for (std::uint32_t& one : instance.prefix) {
            release(one);
        }
        m_instances.erase(found);
    }
}

} // namespace stopline::replay
