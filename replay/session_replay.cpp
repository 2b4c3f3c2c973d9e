// The recorded execution once more: replaying it from its start, and what is said of how far it was the same.
#include "heap_evidence.h"
#include "order_marks.h"
#include "session_impl.h"
#include "words.h"

#include "../tracelib/values.h"

#include <QMap>

#include <algorithm>

namespace stopline::replay {

namespace {

/// "28 on rank 0, 12 on ranks 1-3"; long lists are cut.
QString eventsText(const QVector<EventIndex>& events) {
    QMap<quint64, QVector<RankId>> ranksAt;
    for (qsizetype i = 0; i < events.size(); ++i) {
        ranksAt[events[i].value()] << RankId(std::int32_t(i));
    }
    constexpr int kMost = 6;
    QStringList parts;
    for (auto it = ranksAt.cbegin(); it != ranksAt.cend() && parts.size() < kMost; ++it) {
        parts << QStringLiteral("%1 on %2").arg(it.key()).arg(rankListText(it.value()));
    }
    return ranksAt.size() == 1 ? QStringLiteral("%1 on all ranks").arg(ranksAt.firstKey())
                               : parts.join(QStringLiteral(", ")) + (ranksAt.size() > kMost ? QStringLiteral(", …") : QString());
}

} // namespace

bool Session::Impl::recordedEvents() const {
    const Timeline& timeline = recording->timeline();
    for (int i = 0; i < timeline.rankCount(); ++i) {
        if (timeline.lastEvent(RankId(i)).value() > 0) {
            return true;
        }
    }
    return false;
}

bool Session::Impl::replaying() const {
    const std::vector<RankProcess*> all = processes();
    return again && std::any_of(all.begin(), all.end(), [this](const RankProcess* rank) { return recording->replaying(rank->rank()); });
}

void Session::replay() {
    m_impl->stayHere(tr("the job was started again"));
    if (const QString why = m_impl->whyNot(Verb::Replay); !why.isEmpty()) {
        m_impl->refuse(why);
        return;
    }
    m_impl->setOut([this] {
        m_impl->beginCommand(Verb::Replay);
        m_impl->startJob(nullptr, true, [this] {
            m_impl->sayUnforced();
            m_impl->sayMarks();
        });
    });
}

void Session::setReplayBy(ReplayBy how) {
    m_impl->replayBy = how;
}

const OrderMarks* Session::orderMarks() const {
    return m_impl->rerun.logs != nullptr ? m_impl->rerun.logs->marks.get() : nullptr;
}

/// What of this execution is forced, and how, where that is not the usual way.
void Session::Impl::sayMarks() {
    if (const OrderMarks* marks = q->orderMarks()) {
        say(Severity::Info,
            QStringLiteral("Replayed by tag: of %1 messages %2 are marked, as others could have come before them; of %3 receives and probes of any source %4 are left to MPI.")
                .arg(marks->messages)
                .arg(marks->marked)
                .arg(marks->windows)
                .arg(marks->open) +
                (rerun.controls.empty() ? QString() : QStringLiteral(" Control messages that bound buffering: %1.").arg(rerun.controls.size())));
    }
}

Session::Comparison Session::comparison() const {
    Comparison result;
    result.again = m_impl->again;
    result.equal = !m_impl->rerun.departure;
    if (!result.again) {
        return result;
    }
    if (!m_impl->rerun.comparedAtDeparture.isEmpty()) { // the recording is that of this execution since
        result.compared = m_impl->rerun.comparedAtDeparture;
        return result;
    }
    const Recording& recording = *m_impl->recording;
    for (int i = 0; i < recording.timeline().rankCount(); ++i) {
        const RankId rank(i);
        result.compared << recording.comparedEqual(rank);
        if (result.equal && recording.recordedBefore(rank).value() > 0 && recording.executed(rank) > recording.recordedBefore(rank)) {
            result.live << rank;
        }
    }
    return result;
}

namespace {

/// The last event by which what a rank had sent was put down, before `event`.
EventIndex lastMark(const QByteArray& values, EventIndex event) {
    trace::ValueReader reader(reinterpret_cast<const std::byte*>(values.constData()), std::size_t(values.size()));
    EventIndex mark{0};
    for (; reader.kind() != trace::ValueKind::None && reader.event() < event.value(); reader.next()) {
        if (reader.kind() == trace::ValueKind::Sent) {
            mark = EventIndex(reader.event());
        }
    }
    return mark;
}

} // namespace

/// What a rank has sent so far, by the library's comparison and, where it stands now, with what it had sent there before.
void Session::Impl::compareSent(const RankProcess* rank, const trace::MappingHeader& header) {
    if (rerun.departure) {
        return;
    }
    EventIndex at(header.sentDiffers.load(std::memory_order_relaxed));
    const std::uint64_t count = header.sentCount.load(std::memory_order_relaxed);
    const std::uint64_t hash = header.sentHash.load(std::memory_order_relaxed);
    const bool together = (count & ~trace::kSentCount) == hash << trace::kSentCountBits;
    if (rank->stopped() && together) {
        const auto [it, added] = besides.sent.try_emplace({int(rank->rank().value()), count & trace::kSentCount}, hash);
        if (!added && it->second != hash && at.value() == 0) {
            at = EventIndex(header.eventCount.load(std::memory_order_relaxed));
        }
    }
    if (at.value() == 0 || !again) {
        return;
    }
    const Timeline& timeline = recording->timeline();
    Departure found;
    found.rank = rank->rank();
    found.event = at;
    found.recorded = QStringLiteral("other data");
    found.executed = found.recorded;
    const auto call = timeline.callAt(found.rank, at);
    if (call) {
        const trace::EventDetails& begin = timeline.details(found.rank, timeline.call(*call).beginDetails);
        found.recorded = detailsText(begin);
        found.executed = found.recorded + QStringLiteral(" with other data, or one before it");
        found.where = siteOf(found.rank, begin.site);
    }
    const EventIndex mark = lastMark(besides.values[int(found.rank.value())], at);
    const HeapEvidence heap = heapEvidence(rerun.givenValues[found.rank.value()], rank->link()->values(), EventIndex(at.value() + 1));
    found.memory = movedText(heap);
    departFrom(found,
                   QStringLiteral("What rank %1 sends is not what it sent in the recording: it differs at event %2%3; %4%5")
                       .arg(rankText(found.rank))
                       .arg(at.value())
                       .arg(found.where.known() ? QStringLiteral(" (%1:%2)").arg(found.where.file.section(u'/', -1)).arg(found.where.line) : QString(),
                            mark.value() > 0 ? QStringLiteral("up to event %1 it was the same").arg(mark.value())
                                             : QStringLiteral("from when on is not known"),
                            found.memoryPart()),
                   causesText(heap,
                              QStringLiteral("The calls are the same, their data are not: %1a random number, the number of a process, memory that was "
                                             "never set."),
                              QStringLiteral("a pointer")) +
                       QStringLiteral(" The diagram now shows this execution; you can go on from here."));
}

/// Of two executions of the recording the longer one tells more.
void Session::Impl::keepValues(const RankProcess* rank) {
    QByteArray& kept = besides.values[rank->rank().value()];
    if (!rerun.departure && rank->link()->values().size() > kept.size()) {
        kept = rank->link()->values();
    }
    const std::vector<std::byte>& bytes = rank->link()->image().header;
    if (bytes.size() < sizeof(trace::MappingHeader)) {
        return;
    }
    const auto* header = reinterpret_cast<const trace::MappingHeader*>(bytes.data());
    if ((header->alsoNoted.load(std::memory_order_relaxed) & trace::kNoteSent) != 0) {
        compareSent(rank, *header);
    }
    if (header->valuesWanted.load(std::memory_order_relaxed) == 2 && faultsSaid.insert(QStringLiteral("values")).second) {
        say(Severity::Warning,
            QStringLiteral("Rank %1 has asked for the time, or for random bytes, so often that no more of it is kept (%2 MiB a rank).")
                .arg(rankText(rank->rank()))
                .arg(trace::kValueBytes >> 20),
            QStringLiteral("Another execution is given what is kept, and true times behind it; from there on it may differ, which is said."));
    }
}

/// Says once in an execution that ranks have gone on behind what was recorded.
void Session::Impl::sayLive() {
    if (!again || rerun.liveSaid || rerun.departure) {
        return;
    }
    const Comparison now = q->comparison();
    if (now.live.isEmpty()) {
        return;
    }
    rerun.liveSaid = true;
    const RankId first = now.live.first();
    say(Severity::Info,
        QStringLiteral("From event %1 of rank %2 on the job runs live: the recording ends there, identical so far.")
            .arg(recording->recordedBefore(first).value())
            .arg(rankText(first)));
}

/// Says how far this execution was the recorded one, if it is another execution.
void Session::Impl::sayCompared() {
    const Comparison now = q->comparison();
    if (!now.again || !now.equal || now.compared.isEmpty()) {
        return;
    }
    say(Severity::Info, QStringLiteral("Identical to the recording through event %1.").arg(eventsText(now.compared)));
}

/// Says once for a recording what of it another execution may do differently.
QString Session::Impl::unforcedFrom(RankId rank) const {
    const auto index = std::size_t(rank.value());
    if (rerun.logs == nullptr || index >= rerun.logs->ranks.size() || !rerun.logs->ranks[index].unforced) {
        return {};
    }
    const Unforced& unforced = *rerun.logs->ranks[index].unforced;
    const Timeline& timeline = recording->timeline();
    const auto call = timeline.callAt(rank, unforced.event);
    return QStringLiteral("%1 of rank %2 (event %3) on: %4.")
        .arg(call ? functionText(timeline.details(rank, timeline.call(*call).beginDetails).function) : QString())
        .arg(rankText(rank))
        .arg(unforced.event.value())
        .arg(QString::fromUtf8(unforcedReason(unforced.why)));
}

QString Session::Impl::unforcedBefore(const Departure& found) const {
    const auto index = std::size_t(found.rank.value());
    if (rerun.logs == nullptr) {
        return {};
    }
    if (index < rerun.logs->ranks.size() && rerun.logs->ranks[index].unforced) {
        return found.event >= rerun.logs->ranks[index].unforced->event ? unforcedFrom(found.rank) : QString();
    }
    for (int i = 0; i < int(rerun.logs->ranks.size()); ++i) { // what others did may have come to it
        if (const QString from = unforcedFrom(RankId(i)); !from.isEmpty()) {
            return from;
        }
    }
    return {};
}

void Session::Impl::sayUnforced() {
    for (int i = 0; i < int(rerun.logs->ranks.size()); ++i) {
        const QString from = unforcedFrom(RankId(i));
        if (from.isEmpty()) {
            continue;
        }
        const QString text = QStringLiteral("Another execution may differ from ") + from;
        if (unforcedSaid.insert(text).second) {
            say(Severity::Info, text, QStringLiteral("A difference is found and said when it happens."));
        }
        return;
    }
}

} // namespace stopline::replay
