// An execution that turns out not to be the recorded one: it does something else, or waits for what does not come.
#include "difference_words.h"
#include "heap_evidence.h"
#include "order_marks.h"
#include "session_impl.h"
#include "words.h"

#include <algorithm>

namespace stopline::replay {

namespace {

/// So long a rank has to have been where it is before it counts as waiting: what it waits for may be on its way, and what is
/// known of it is a tenth of a second old.
constexpr qint64 kSettledMs = 2000;
/// So long, and four times as long as it took in the recording, a rank has to have made no call before that is said.
constexpr qint64 kSilentMs = 10'000;

QString sentence(const std::string& text) {
    QString result = QString::fromStdString(text);
    if (!result.isEmpty()) {
        result[0] = result[0].toUpper();
    }
    return result + u'.';
}

} // namespace

void Session::Impl::onDifference(const Difference& difference) {
    if (rerun.departure) {
        return;
    }
    Departure found;
    found.rank = difference.rank;
    found.event = difference.event;
    found.recorded = difference.communicator ? QStringLiteral("another communicator") : detailsText(difference.recorded);
    found.executed = difference.communicator ? QStringLiteral("a communicator of other members") : detailsText(difference.executed);
    if (!difference.communicator && found.recorded == found.executed) {
        const auto site = [&](CodeAddress address) { return lineText(siteOf(difference.rank, address)); };
        const auto request = [&](trace::RequestRef ref) {
            return requestText(recording->timeline(), difference.rank, difference.event, ref);
        };
        found.executed += whatDiffers(difference.recorded, difference.executed, {request, site, site, difference.sitesMayBeOne});
    }
    found.where = siteOf(difference.rank, difference.executed.site);
    const RankProcess* rank = process(found.rank);
    const HeapEvidence heap = heapEvidence(rerun.givenValues[found.rank.value()], rank != nullptr ? rank->link()->values() : QByteArray(), found.event);
    found.memory = movedText(heap);
    const QString unforced = unforcedBefore(found);
    const QString cause =
        unforced.isEmpty()
            ? causesText(heap,
                         QStringLiteral("What MPI decides was replayed: so %1a file, a time or number from elsewhere, the order of threads or "
                                        "of one-sided accesses decides there."),
                         QStringLiteral("an address that malloc gave"))
            : QStringLiteral("What MPI decides was not all replayed, from ") + unforced;
    departFrom(found,
                   QStringLiteral("The re-execution departs from the recording: rank %1, event %2%3: recorded %4, now %5%6")
                       .arg(rankText(found.rank))
                       .arg(found.event.value())
                       .arg(found.where.known() ? QStringLiteral(" (%1)").arg(lineText(found.where)) : QString(),
                            found.recorded, found.executed, found.memoryPart()),
                   cause + QStringLiteral(" The diagram now shows this execution; you can go on from here."));
}

/// Everybody stops; what has been executed this time becomes the recording, and MPI decides again.
void Session::Impl::departFrom(const Departure& found, const QString& text, const QString& remedy) {
    rerun.departure = found;
    if (approach == nullptr) {
        for (RankProcess* rank : processes()) {
            rank->pause();
        }
    }
    // Not from inside the reading of a trace: the timeline is replaced.
    QMetaObject::invokeMethod(q, [this, found, text, remedy] {
        follower->forget();
        if (rebuilt.empty()) {
            say(Severity::Error, text, remedy);
        } else {
            say(Severity::Error, text,
                QStringLiteral("%1 has been built anew since the run was recorded, which may be all there is to it: Restart records the "
                               "new program. The diagram now shows this execution; you can go on from here.")
                    .arg(QStringList(rebuilt.begin(), rebuilt.end()).join(QStringLiteral(" and "))));
        }
        sayWaitingFor(found);
        sayBound();
        rerun.comparedAtDeparture = q->comparison().compared;
        EventIndex& own = rerun.comparedAtDeparture[found.rank.value()];
        own = std::min(own, EventIndex(found.event.value() - 1));
        keepExecution(recording->branch());
        execution.text = QStringLiteral("departed at event %1 of rank %2").arg(found.event.value()).arg(rankText(found.rank));
        for (const RankProcess* rank : processes()) {
            besides.values[rank->rank().value()] = rank->link()->values();
            rank->link()->leaveOrder();
            if (approach == nullptr) {
                rank->link()->setThreshold(kNoThreshold); // its data may have differed as well, just now
            }
        }
        commands.clear();
        redoList.clear();
        line.reset();
        past.reset();
        future.reset();
        point.reset();
        emit q->timelineReplaced();
        emit q->stoplineChanged();
        emit q->historyChanged();
        emit q->executionsChanged();
        emit q->departed(found);
        if (approach != nullptr) {
            approach->cancel(text);
        } else {
            emit q->operationFinished(false, text);
        }
    }, Qt::QueuedConnection);
}

std::optional<Departure> Session::departure() const {
    return m_impl->rerun.departure;
}

std::vector<Doing> Session::Impl::whatRanksDo() const {
    std::vector<Doing> doing(std::size_t(recording->timeline().rankCount()));
    for (const RankProcess* rank : processes()) {
        const auto at = std::size_t(rank->rank().value());
        if (at >= doing.size()) {
            continue;
        }
        const agent::RankStatus& status = rank->link()->status();
        Doing& one = doing[at];
        one.place = {std::max(status.event, recording->executed(rank->rank())), false};
        if (rank->ended()) {
            one.what = Doing::What::Ended;
        } else if (rank->view().phase == RankPhase::Running && !status.inHold) {
            one.what = status.insideCall ? Doing::What::InCall : Doing::What::Runs;
        }
    }
    return doing;
}

/// Finds ranks on recorded ground that wait for what does not come again.
void Session::Impl::watchStandstill() {
    if (!again || rerun.departure || approach != nullptr || !alive() || job->killed()) { // whoever is killed does not come any more
        return;
    }
    const Timeline& timeline = recording->timeline();
    const std::vector<Doing> doing = whatRanksDo();
    const auto stillFor = [this](RankId rank) -> qint64 {
        const auto it = rerun.still.find(rank.value());
        return it == rerun.still.end() || !it->second.since.isValid() ? 0 : it->second.since.elapsed();
    };
    std::vector<Doing> settled = doing;
    for (std::size_t i = 0; i < doing.size(); ++i) {
        Rerun::Still& one = rerun.still[int(i)];
        const bool inCall = doing[i].what == Doing::What::InCall;
        if (!one.since.isValid() || one.event != doing[i].place.event || one.inCall != inCall) {
            one.event = doing[i].place.event;
            one.inCall = inCall;
            one.since.start();
        }
        if (inCall && one.since.elapsed() < kSettledMs) {
            settled[i].what = Doing::What::Held; // it may come out of its call at any moment
        }
    }
    for (std::size_t i = 0; i < settled.size(); ++i) {
        const RankId rank{std::int32_t(i)};
        if (settled[i].what != Doing::What::InCall || !recording->replaying(rank) ||
            recording->executed(rank) != settled[i].place.event) {
            continue;
        }
        const auto found = standstillOf(timeline, settled, rank);
        if (!found || (recording->replaying(found->last) && recording->executed(found->last) != doing[std::size_t(found->last.value())].place.event)) {
            continue; // nothing is known, or not yet all that the last one has done
        }
        const EventIndex event = found->event;
        if (found->certain) {
            Departure left;
            left.rank = rank;
            left.event = EventIndex(event.value() + 1);
            left.recorded = detailsText(timeline.details(rank, timeline.eventDetails(rank, left.event)));
            left.executed = QStringLiteral("it cannot end");
            left.where = siteOf(rank, timeline.details(rank, timeline.eventDetails(rank, event)).site);
            departFrom(left, QStringLiteral("The re-execution cannot go on as it was recorded: ") + QString::fromStdString(found->text),
                           QStringLiteral("The diagram now shows this execution; when you go on from here, MPI decides."));
            return;
        }
        const EventIndex last = doing[std::size_t(found->last.value())].place.event;
        const EventIndex next(last.value() + 1);
        const TimeNs recorded = last.value() > 0 && next <= timeline.lastEvent(found->last)
                                    ? timeline.axisTime(found->last, next) - timeline.axisTime(found->last, last)
                                    : 0;
        if (stillFor(found->last) > kSilentMs + 4 * (recorded / 1'000'000) && rerun.standstillSaid.emplace(rank.value(), event.value()).second) {
            say(Severity::Warning, sentence(found->text),
                QStringLiteral("In the recording its next call came after %1 s. It may still come; Pause shows where rank %2 is.")
                    .arg(double(recorded) / 1e9, 0, 'g', 2)
                    .arg(rankText(found->last)));
        }
    }
}

/// Who waits for what the departed rank sent in the recording.
void Session::Impl::sayWaitingFor(const Departure& found) {
    std::vector<Doing> doing = whatRanksDo();
    const auto at = std::size_t(found.rank.value());
    if (at >= doing.size()) {
        return;
    }
    for (const RankProcess* rank : processes()) { // those that have been stopped by now are in their calls all the same
        const agent::RankStatus& status = rank->link()->status();
        const auto i = std::size_t(rank->rank().value());
        if (i < doing.size() && !rank->ended() && status.insideCall && !status.inHold) {
            doing[i].what = Doing::What::InCall;
        }
    }
    doing[at] = {Doing::What::Departed, {found.event, false}};
    for (std::size_t i = 0; i < doing.size(); ++i) {
        const RankId rank{std::int32_t(i)};
        if (i == at || doing[i].what != Doing::What::InCall || !recording->replaying(rank) ||
            recording->executed(rank) != doing[i].place.event) {
            continue;
        }
        const auto waits = standstillOf(recording->timeline(), doing, rank);
        if (waits && waits->certain && waits->last == found.rank) {
            say(Severity::Info, sentence(waits->text), QStringLiteral("When you go on, it gets what MPI gives it."));
        }
    }
}

/// Receives that have been posted with the source that they had in the recording cannot be given back to MPI.
void Session::Impl::sayBound() {
    const Timeline& timeline = recording->timeline();
    QStringList bound;
    for (const Message& message : timeline.messages()) {
        if (!message.wildcardSource || !message.post || !message.done || message.sender.value() < 0) {
            continue;
        }
        const RankId rank = message.post->rank;
        const Call post = timeline.call(*message.post);
        const bool stays = trace::createsRequest(trace::functionClass(timeline.details(rank, post.beginDetails).function)) ||
                           trace::functionClass(timeline.details(rank, post.beginDetails).function) == trace::CallClass::Start;
        const EventIndex executed = recording->executed(rank);
        if (const OrderMarks* marks = q->orderMarks(); marks != nullptr && marks->leavesOpen(rank, post.begin)) {
            continue;
        }
        if (stays && process(rank) != nullptr && !process(rank)->ended() && post.begin <= executed && timeline.call(*message.done).end > executed) {
            bound << QStringLiteral("rank %1's of event %2, from rank %3").arg(rankText(rank)).arg(post.begin.value()).arg(rankText(message.sender));
        }
    }
    if (bound.isEmpty()) {
        return;
    }
    constexpr int kMost = 6;
    const auto more = bound.size() - kMost;
    say(Severity::Info,
        QStringLiteral("Receives that have been posted from any source keep the one that they had in the recording: %1%2.")
            .arg(bound.mid(0, kMost).join(QStringLiteral("; ")), more > 0 ? QStringLiteral("; %1 more").arg(more) : QString()),
        QStringLiteral("Replay run executes again what the diagram now shows, and leaves them to MPI."));
}

} // namespace stopline::replay
