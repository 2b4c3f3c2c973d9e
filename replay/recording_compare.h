// What two executions of an event have to have in common. Inside of the recording.
#pragma once

#include "../tracelib/event.h"

#include <utility>
#include <vector>

namespace stopline::replay {

/// An event without what is chance: in which call a freed receive was seen to be complete, what stands in an error
/// code beside its class (MPICH numbers the errors of a run there), how long a message was that was cut off (MPICH
/// tells that only of some), and whether requests share a handle.
[[nodiscard]] inline trace::EventDetails comparable(trace::EventDetails event) {
    event.errorCode = 0;
    event.shared = false;
    if (event.error == trace::ErrorClass::Truncate) {
        event.status.bytes = 0;
    }
    if (!trace::completesRequests(trace::functionClass(event.function))) {
        event.completions.clear();
    }
    for (trace::Completion& completion : event.completions) {
        completion.errorCode = 0;
        if (completion.error == trace::ErrorClass::Truncate) {
            completion.status.bytes = 0;
        }
    }
    return event;
}

/// What must be equal when an event is executed again. Poll failures and times may differ, and so may call sites' line
/// tables, but not the addresses: the address layout is fixed.
[[nodiscard]] inline bool sameEvent(const trace::EventDetails& a, const trace::EventDetails& b) {
    return a == b || comparable(a) == comparable(b);
}

/// Completions of freed receives that one execution has told of and the other not, or not yet. References count from
/// the latest request backwards: they are moved on with each event.
class FreedCompletions {
  public:
    void clear() {
        m_executed.clear();
        m_recorded.clear();
    }
    [[nodiscard]] bool empty() const { return m_executed.empty() && m_recorded.empty(); }
    /// The next event of both.
    void pass(const trace::EventDetails& event) {
        if (event.kind == trace::EventKind::Begin && trace::createsRequest(trace::functionClass(event.function))) {
            for (auto* list : {&m_executed, &m_recorded}) {
                for (trace::Completion& completion : *list) {
                    ++completion.request.back;
                }
            }
        }
    }
    void compare(const trace::EventDetails& executed, const trace::EventDetails& recorded) {
        note(executed, m_executed, m_recorded);
        note(recorded, m_recorded, m_executed);
    }
    /// What the recording is to say of an event behind its end: what it has not got yet, and nothing twice.
    [[nodiscard]] trace::EventDetails told(trace::EventDetails event) {
        std::vector<trace::Completion> fresh;
        std::swap(fresh, m_executed);
        for (const trace::Completion& completion : event.completions) {
            if (!take(m_recorded, completion)) {
                fresh.push_back(completion);
            }
        }
        event.completions = std::move(fresh);
        return event;
    }

  private:
    using List = std::vector<trace::Completion>;
    static bool take(List& from, const trace::Completion& completion) {
        return std::erase_if(from, [&](const auto& other) { return other.request == completion.request; }) > 0;
    }
    static void note(const trace::EventDetails& event, List& own, List& others) {
        for (const trace::Completion& completion : event.completions) {
            if (!take(others, completion)) {
                own.push_back(completion);
            }
        }
    }

    List m_executed; ///< seen now, not in the recording
    List m_recorded; ///< in the recording, not seen now
};

[[nodiscard]] inline bool tellsOfFreed(const trace::EventDetails& event) {
    return event.kind == trace::EventKind::End && !trace::completesRequests(trace::functionClass(event.function));
}

} // namespace stopline::replay
