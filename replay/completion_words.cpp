#include "completion_words.h"

#include "request_names.h"
#include "words.h"

#include <QStringList>

#include <algorithm>

namespace stopline::replay {

namespace {

using trace::Completion;
using trace::EventDetails;
using trace::FunctionId;

constexpr std::size_t kMostWhole = 4; ///< completions that are told with their messages
constexpr qsizetype kMostPlaces = 12; ///< runs of places in the list, and requests that failed

QString nameOf(FunctionId function) {
    const std::string_view name = trace::functionName(function);
    return QString::fromLatin1(name.data(), qsizetype(name.size()));
}

bool choosesSome(FunctionId function) {
    return function == FunctionId::Waitany || function == FunctionId::Testany ||
           function == FunctionId::Waitsome || function == FunctionId::Testsome;
}

/// "[3], [0-1], [7]": runs of places as MPI gave them.
QString placesText(const std::vector<Completion>& completions) {
    QStringList runs;
    for (std::size_t i = 0; i < completions.size();) {
        std::size_t end = i + 1;
        while (end < completions.size() && completions[end].index == completions[end - 1].index + 1) {
            ++end;
        }
        if (runs.size() == kMostPlaces) {
            runs << QStringLiteral("… and %1 more").arg(completions.size() - i);
            break;
        }
        runs << (end == i + 1
                     ? QStringLiteral("[%1]").arg(completions[i].index)
                     : QStringLiteral("[%1-%2]").arg(completions[i].index).arg(completions[end - 1].index));
        i = end;
    }
    return runs.join(QStringLiteral(", "));
}

/// What the end of a call tells of: requests that it was asked to complete, and receives that had been freed.
struct Completions {
    std::vector<Completion> own;
    std::vector<Completion> freed;
};

Completions completionsOf(const EventDetails& begin, const EventDetails& end) {
    Completions found;
    const bool listIsCut = begin.truncated && trace::completesRequests(trace::functionClass(begin.function));
    for (const Completion& one : end.completions) {
        const bool operand =
            std::find(begin.requests.begin(), begin.requests.end(), one.request) != begin.requests.end();
        (operand || listIsCut ? found.own : found.freed).push_back(one);
    }
    return found;
}

/// Null where the event is no end.
const EventDetails* beginOf(const Timeline& timeline, RankId rank, EventIndex event,
                            const EventDetails& end) {
    const auto call = timeline.callAt(rank, event);
    return call && end.kind == trace::EventKind::End
               ? &timeline.details(rank, timeline.call(*call).beginDetails)
               : nullptr;
}

class Words {
  public:
    Words(const Timeline& timeline, RankId rank, EventIndex event, const CompletionNames& names)
        : m_timeline(timeline), m_rank(rank), m_event(event), m_names(names),
          m_end(timeline.details(rank, timeline.eventDetails(rank, event))) {}

    QString text() {
        const EventDetails* begin = beginOf(m_timeline, m_rank, m_event, m_end);
        return begin == nullptr ? QString() : text(*begin, completionsOf(*begin, m_end));
    }

  private:
    [[nodiscard]] QString text(const EventDetails& begin, const Completions& completions) const {
        const auto& [own, freed] = completions;
        QStringList parts;
        if (!own.empty()) {
            parts << ownText(own, begin.requests.size() > 1);
        } else if (nothingWasActive(begin)) {
            parts << QStringLiteral("completed none: no request was active");
        }
        if (!freed.empty()) {
            QStringList each;
            for (std::size_t i = 0; i < std::min(freed.size(), kMostWhole); ++i) {
                each << requestText(freed[i]);
            }
            if (freed.size() > kMostWhole) {
                each << QStringLiteral("and %1 more").arg(freed.size() - kMostWhole);
            }
            parts << QStringLiteral("saw the end of freed ") + each.join(QStringLiteral(", "));
        }
        return parts.join(QStringLiteral("; "));
    }

    [[nodiscard]] bool nothingWasActive(const EventDetails& begin) const {
        return trace::completesRequests(trace::functionClass(m_end.function)) && m_end.flag &&
               m_end.error == trace::ErrorClass::Success &&
               m_end.function != FunctionId::Request_get_status &&
               std::all_of(begin.requests.begin(), begin.requests.end(),
                           [](trace::RequestRef ref) { return ref.back == trace::RequestRef::kNull; });
    }

    [[nodiscard]] QString ownText(const std::vector<Completion>& own, bool list) const {
        const QString verb = m_end.function == FunctionId::Request_get_status
                                 ? QStringLiteral("saw the end of ")
                                 : QStringLiteral("completed ");
        const QString more = m_end.truncated ? QStringLiteral(", and more that are not recorded") : QString();
        QStringList parts;
        if (own.size() <= kMostWhole) {
            for (const Completion& one : own) {
                parts << (list ? QStringLiteral("[%1] ").arg(one.index) : QString()) + requestText(one) +
                             errorOf(one);
            }
            return verb + parts.join(QStringLiteral(", ")) + more;
        }
        parts << QStringLiteral("%1: %2").arg(own.size()).arg(placesText(own)) + more;
        qsizetype failed = 0;
        for (const Completion& one : own) {
            if (m_names.errors && one.error != trace::ErrorClass::Success && ++failed <= kMostPlaces) {
                parts << QStringLiteral("[%1] ").arg(one.index) + requestText(one) + errorOf(one);
            }
        }
        if (failed > kMostPlaces) {
            parts << QStringLiteral("and %1 more with an error").arg(failed - kMostPlaces);
        }
        return verb + parts.join(QStringLiteral("; "));
    }

    [[nodiscard]] QString errorOf(const Completion& one) const {
        return one.error == trace::ErrorClass::Success || !m_names.errors
                   ? QString()
                   : QStringLiteral(" error ") + errorText(one.error, one.errorCode);
    }

    [[nodiscard]] QString peer(CommIndex comm, std::int32_t rank) const {
        return rank == kProcNull ? QStringLiteral("nobody (MPI_PROC_NULL)") : m_names.peer(comm, rank);
    }

    /// "MPI_Irecv of event 7 from 3 tag 1 4 B"
    [[nodiscard]] QString requestText(const Completion& one) const {
        const auto by = m_names.maker(m_event, one.request);
        const EventDetails* made =
            by ? &m_timeline.details(m_rank, m_timeline.eventDetails(m_rank, *by)) : nullptr;
        QString text =
            made != nullptr
                ? QStringLiteral("%1 of event %2").arg(nameOf(made->function)).arg(by->value())
                : QStringLiteral("a request made before the start of the history, or by no recorded call");
        // MPI gives one handle to sends that are complete at once.
        text += m_end.shared && made != nullptr && mayShareHandle(*made)
                    ? QStringLiteral(" (or another with its handle)")
                    : QString();
        const CommIndex comm = made != nullptr ? made->comm : kNoComm;
        if (one.status.cancelled) {
            return text + QStringLiteral(" cancelled");
        }
        if (made != nullptr && made->sendPeer != kNoPeer) {
            text += QStringLiteral(" to ") + peer(comm, made->sendPeer);
            text += made->sendTag != kNoTag
                        ? QStringLiteral(" tag %1 %2").arg(made->sendTag).arg(bytesText(made->sendBytes))
                        : QString();
        }
        // A receive: its status says where the message came from, its arguments only where it may come from.
        if (one.status.source != kNoPeer) {
            text += QStringLiteral(" from ") + peer(comm, one.status.source);
            if (one.status.source != kProcNull) {
                text += QStringLiteral(" tag %1 %2").arg(one.status.tag).arg(bytesText(one.status.bytes));
            }
        }
        return text;
    }

    const Timeline& m_timeline;
    RankId m_rank;
    EventIndex m_event;
    const CompletionNames& m_names;
    const EventDetails& m_end;
};

} // namespace

CompletionNames completionNames(const Timeline& timeline, RankId rank) {
    return {[&timeline, rank](EventIndex event, trace::RequestRef ref) {
                return madeBy(timeline, rank, event, ref);
            },
            [](CommIndex, std::int32_t peer) { return QString::number(peer); }, true};
}

RequestMakers::RequestMakers(const Timeline& timeline, RankId rank) {
    for (EventIndex at = timeline.firstEvent(rank); at <= timeline.lastEvent(rank);
         at = EventIndex(at.value() + 1)) {
        const EventDetails& details = timeline.details(rank, timeline.eventDetails(rank, at));
        if (details.kind == trace::EventKind::Begin &&
            trace::createsRequest(trace::functionClass(details.function))) {
            m_makers.push_back(at);
        }
    }
}

std::optional<EventIndex> RequestMakers::maker(EventIndex event, trace::RequestRef ref) const {
    const auto made = static_cast<std::uint64_t>(std::upper_bound(m_makers.begin(), m_makers.end(), event) -
                                                 m_makers.begin());
    return ref.back < made ? std::optional(m_makers[made - 1 - ref.back]) : std::nullopt;
}

QString completedText(const Timeline& timeline, RankId rank, EventIndex end, const CompletionNames& names) {
    return Words(timeline, rank, end, names).text();
}

QString chosenText(const Timeline& timeline, RankId rank, EventIndex event) {
    const EventDetails& end = timeline.details(rank, timeline.eventDetails(rank, event));
    const EventDetails* begin = beginOf(timeline, rank, event, end);
    if (begin == nullptr || !choosesSome(end.function) || !end.flag) {
        return {};
    }
    const Completions found = completionsOf(*begin, end);
    return found.own.empty() ? QString() : QStringLiteral(" that completed ") + placesText(found.own);
}

} // namespace stopline::replay
