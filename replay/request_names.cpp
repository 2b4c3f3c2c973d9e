#include "request_names.h"

#include "recording_compare.h"

#include <algorithm>

namespace stopline::replay {

namespace {

bool namesOne(trace::RequestRef ref) {
    return ref.back != trace::RequestRef::kNull && ref.back != trace::RequestRef::kUnknown;
}

/// The status of a send, or of a receive from MPI_PROC_NULL.
bool tellsOfNoMessage(const trace::Status& status) {
    return (status.source == kNoPeer || status.source == kProcNull) && status.bytes == 0 && !status.cancelled;
}

} // namespace

std::optional<EventIndex> madeBy(const Timeline& timeline, RankId rank, EventIndex event,
                                 trace::RequestRef ref) {
    if (!namesOne(ref)) {
        return std::nullopt;
    }
    std::uint32_t back = 0;
    for (EventIndex at = std::min(event, timeline.lastEvent(rank));
         at.value() != 0 && at >= timeline.firstEvent(rank); at = EventIndex(at.value() - 1)) {
        const trace::EventDetails& details = timeline.details(rank, timeline.eventDetails(rank, at));
        if (details.kind == trace::EventKind::Begin &&
            trace::createsRequest(trace::functionClass(details.function)) && back++ == ref.back) {
            return at;
        }
    }
    return std::nullopt;
}

bool mayShareHandle(const trace::EventDetails& begin) {
    switch (trace::functionClass(begin.function)) {
    case trace::CallClass::SendInit:
    case trace::CallClass::RecvInit:
    case trace::CallClass::CollectiveInit:
    case trace::CallClass::NeighborInit:
        return false;
    default:
        return begin.recvPeer == kNoPeer || begin.recvPeer == kProcNull;
    }
}

void RequestNames::clear() {
    m_recorded.clear();
    m_executed.clear();
    m_made = 0;
}

void RequestNames::pass(const trace::EventDetails& event) {
    if (event.kind == trace::EventKind::Begin &&
        trace::createsRequest(trace::functionClass(event.function))) {
        ++m_made;
    }
}

RequestNames::Serial RequestNames::recordedOf(Serial executed) const {
    const auto it = m_recorded.find(executed);
    return it == m_recorded.end() ? executed : it->second;
}

trace::RequestRef RequestNames::named(trace::RequestRef executed) const {
    return namesOne(executed)
               ? trace::RequestRef{static_cast<std::uint32_t>(m_made - recordedOf(serialOf(executed)))}
               : executed;
}

void RequestNames::set(Serial executed, Serial recorded) {
    if (executed == recorded) {
        m_recorded.erase(executed);
        m_executed.erase(recorded);
    } else {
        m_recorded[executed] = recorded;
        m_executed[recorded] = executed;
    }
}

void RequestNames::exchange(Serial one, Serial other) {
    const Serial name = recordedOf(one);
    const Serial otherName = recordedOf(other);
    set(one, otherName);
    set(other, name);
}

trace::EventDetails RequestNames::named(trace::EventDetails executed) const {
    if (empty()) {
        return executed;
    }
    for (trace::RequestRef& ref : executed.requests) {
        ref = named(ref);
    }
    for (trace::Completion& completion : executed.completions) {
        completion.request = named(completion.request);
    }
    return executed;
}

trace::EventDetails RequestNames::told(trace::EventDetails executed) {
    trace::EventDetails result = named(executed);
    forgetEnded(executed);
    return result;
}

void RequestNames::forgetEnded(const trace::EventDetails& executed) {
    const auto forget = [this](trace::RequestRef ref) {
        if (const auto it = m_recorded.find(serialOf(ref)); namesOne(ref) && it != m_recorded.end()) {
            m_executed.erase(it->second);
            m_recorded.erase(it);
        }
    };
    if (empty()) {
        return;
    }
    if (executed.kind == trace::EventKind::End &&
        executed.function != trace::FunctionId::Request_get_status) {
        for (const trace::Completion& completion : executed.completions) {
            forget(completion.request);
        }
    } else if (executed.function == trace::FunctionId::Request_free) {
        for (const trace::RequestRef ref : executed.requests) {
            forget(ref);
        }
    }
}

bool RequestNames::same(const trace::EventDetails& executed, const trace::EventDetails& recorded,
                        const std::function<bool(trace::RequestRef)>& shares) {
    if (executed.requests.empty() && executed.completions.empty()) {
        return sameEvent(executed, recorded);
    }
    std::vector<std::pair<Serial, Serial>> exchanged;
    const bool unsure = executed.shared || recorded.shared;
    const auto adopt = [&](trace::RequestRef now, trace::RequestRef then) {
        if (unsure && namesOne(now) && namesOne(then) && named(now) != then && shares(now) && shares(then)) {
            const auto other = m_executed.find(serialOf(then));
            exchanged.emplace_back(serialOf(now), other == m_executed.end() ? serialOf(then) : other->second);
            exchange(exchanged.back().first, exchanged.back().second);
        }
    };
    for (std::size_t i = 0; i < std::min(executed.requests.size(), recorded.requests.size()); ++i) {
        adopt(executed.requests[i], recorded.requests[i]);
    }
    if (trace::completesRequests(trace::functionClass(executed.function))) {
        for (std::size_t i = 0; i < std::min(executed.completions.size(), recorded.completions.size()); ++i) {
            adopt(executed.completions[i].request, recorded.completions[i].request);
        }
    }
    trace::EventDetails now = named(executed);
    for (std::size_t i = 0; i < std::min(now.completions.size(), recorded.completions.size()); ++i) {
        const trace::Status& status = recorded.completions[i].status;
        if (now.completions[i].request != executed.completions[i].request &&
            tellsOfNoMessage(now.completions[i].status) && tellsOfNoMessage(status)) {
            now.completions[i].status = status;
        }
    }
    if (sameEvent(now, recorded)) {
        forgetEnded(executed);
        return true;
    }
    for (auto it = exchanged.rbegin(); it != exchanged.rend(); ++it) {
        exchange(it->first, it->second);
    }
    return false;
}

} // namespace stopline::replay
