// Races: found as the recording grows, stopped at, and made to go the other way.
#include "session_impl.h"
#include "race_choice.h"
#include "words.h"

#include "../tracelib/mapping.h"
#include "../tracelib/values.h"

#include <algorithm>

namespace stopline::replay {

namespace {

/// Events of the recording that are looked at in one turn of the event loop: some milliseconds.
constexpr std::uint64_t kPiece = 50'000;

/// Times and random numbers of a rank as recorded, without what is said of the data that it sent behind an event, and of where
/// its memory was: they may be others.
QByteArray withoutFoundBehind(const QByteArray& values, EventIndex last) {
    trace::ValueReader reader(reinterpret_cast<const std::byte*>(values.constData()), std::size_t(values.size()));
    trace::ValueWriter writer;
    QByteArray kept;
    kept.reserve(values.size());
    std::vector<std::byte> item;
    for (; reader.kind() != trace::ValueKind::None; reader.next()) {
        if ((reader.kind() == trace::ValueKind::Sent || trace::isWrittenWhole(reader.kind())) && reader.event() > last.value()) {
            continue;
        }
        const bool random = reader.kind() == trace::ValueKind::Random && reader.value() > 0;
        item.resize(trace::ValueWriter::kItemBytes + (random ? std::size_t(reader.value()) : 0));
        const std::size_t used = writer.put(item.data(), reader.kind(), reader.event(), reader.value(), reader.bytes());
        kept.append(reinterpret_cast<const char*>(item.data()), qsizetype(used));
    }
    return kept;
}

} // namespace

const RaceAnalysis& Session::races() const {
    return m_impl->recording->races();
}

const std::vector<Race>& Session::foundRaces() const {
    return m_impl->foundRaces;
}

void Session::lookForRaces() {
    m_impl->findRacesSoon();
}

/// There is somebody to go on; not so when all ranks have ended and the launcher has not.
bool Session::Impl::anyoneLives() const {
    const std::vector<RankProcess*> all = processes();
    return alive() && (!job->complete() || std::any_of(all.begin(), all.end(), [](const RankProcess* rank) { return !rank->ended(); }));
}

/// The timeline has grown, or is another.
void Session::Impl::findRacesSoon() {
    if (!racesDue) {
        racesDue = true;
        QTimer::singleShot(0, q, [this] { findRaces(); });
    }
}

void Session::Impl::findRaces() {
    racesDue = false;
    if (logMaking != nullptr) {
        racesWait = true; // it looks for them itself, and then they must stay as they are
        return;
    }
    if (!recording->findRaces(kPiece)) {
        findRacesSoon();
        return; // told when all is known: what is known of half of the events may be taken back
    }
    foundRaces = recording->races().races();
    emit q->racesChanged();
    walkOn();
}

QString raceText(const Session& session, const Race& race) {
    const Timeline& timeline = session.timeline();
    const Call call = timeline.call(race.call);
    const SourceLocation where = session.sourceOf(race.call);
    QString place = QStringLiteral("rank %1's %2 at event %3")
                        .arg(rankText(race.call.rank), functionText(timeline.details(race.call.rank, call.beginDetails).function))
                        .arg(call.begin.value());
    if (where.known()) {
        place += QStringLiteral(" (%1:%2)").arg(where.file.section(u'/', -1)).arg(where.line);
    }
    const bool nothing = race.kind == RaceKind::FailedProbe || race.kind == RaceKind::CancelledReceive;
    return race.alternatives == 1
               ? QStringLiteral("%1 raced: %2 message could have come").arg(place, nothing ? QStringLiteral("a") : QStringLiteral("another"))
               : QStringLiteral("%1 raced: %2 %3messages could have come")
                     .arg(place)
                     .arg(race.alternatives)
                     .arg(nothing ? QString() : QStringLiteral("other "));
}

QString Session::whyNotNextRace() const {
    const Impl& d = *m_impl;
    if (d.onTheWay()) {
        return d.whyNot(Verb::Replay);
    }
    if (d.raceWalk.on) {
        return tr("the job is on its way to the next race; Pause ends that");
    }
    if (d.nextRecordedRace()) {
        return d.whyNotOpened(Verb::Go);
    }
    if (d.opened != nullptr) {
        return noRacesText();
    }
    return d.anyoneLives() ? d.whyNot(Verb::Continue) : d.recordedEvents() ? noRacesText() : d.whyNot(Verb::Run);
}

bool Session::runsToNextRace() const {
    return m_impl->raceWalk.on;
}

QString Session::noRacesText() const {
    return !m_impl->recordedEvents() ? tr("nothing raced: nothing is recorded")
           : races().windows() == 0 ? tr("nothing raced: the program has no receive or probe of any source")
                                  : tr("nothing raced: each receive of any source could only get the message that it got");
}

/// Of the races that are recorded, of the ranks of the focus, the first one that lies before the ranks.
std::optional<Race> Session::Impl::nextRecordedRace() const {
    const Timeline& timeline = recording->timeline();
    const bool lives = anyoneLives();
    std::optional<Race> next;
    TimeNs nextTime = 0;
    for (int i = 0; i < timeline.rankCount(); ++i) {
        const RankId rank(i);
        if (!focus.contains(rank)) {
            continue;
        }
        const Place now = lives ? q->rank(rank).place : Place{};
        // Asked for with each change of a rank: by bisection.
        const auto at = std::partition_point(foundRaces.begin(), foundRaces.end(), [&](const Race& race) {
            return race.call.rank < rank || (race.call.rank == rank && Place{timeline.call(race.call).begin, false} <= now);
        });
        if (at == foundRaces.end() || at->call.rank != rank) {
            continue;
        }
        const TimeNs time = timeline.axisTime(rank, timeline.call(at->call).begin);
        if (!next || time < nextTime) {
            next = *at;
            nextTime = time;
        }
    }
    return next;
}

void Session::stopAtNextRace() {
    Impl& d = *m_impl;
    if (const QString why = whyNotNextRace(); !why.isEmpty()) {
        d.refuse(why);
        return;
    }
    if (const auto race = d.nextRecordedRace()) {
        setPoint(Point{race->call, false});
        setStopline(Frontier::Past);
        d.say(Severity::Info, tr("Next race: %1.").arg(raceText(*this, *race)));
        emit raceReached(race->call);
        go();
        return;
    }
    std::set<CallRef> known;
    const bool lives = d.anyoneLives();
    for (const Race& race : d.foundRaces) {
        if (lives) {
            known.insert(race.call);
        }
    }
    if (lives) {
        continueRun();
    } else {
        run();
    }
    d.raceWalk = {true, false, std::move(known), {}, {}};
    d.follower->setWatching(true);
    emit verbsChanged();
}

/// What has been recorded while the job runs to the next race has been looked at.
void Session::Impl::walkOn() {
    if (!raceWalk.on) {
        return;
    }
    for (const Race& race : foundRaces) {
        if (raceWalk.known.count(race.call) == 0 && focus.contains(race.call.rank)) {
            const bool stands = raceWalk.over;
            endRaceWalk();
            if (!stands) {
                q->pause();
            }
            say(Severity::Info, QStringLiteral("A race: %1.").arg(raceText(*q, race)),
                QStringLiteral("It shows only when the other message is sent, so the ranks have gone further: Go to stopline takes them to it."));
            q->setPoint(Point{race.call, false});
            q->setStopline(Frontier::Past);
            emit q->raceReached(race.call);
            return;
        }
    }
    if (raceWalk.over) {
        endRaceWalk();
        if (!anyoneLives()) {
            say(Severity::Info, QStringLiteral("The job has ended, and %1.").arg(q->noRacesText()));
        }
    }
}

/// While the job runs to the next race: whether its ranks can go on at all, where others are not to.
void Session::Impl::watchWalk() {
    constexpr qint64 kStandsMs = 2000; // what a rank waits for may be on its way
    if (!raceWalk.on || focus.all() || !alive()) {
        return;
    }
    std::vector<EventIndex> where;
    QVector<RankId> waiting;
    QVector<RankId> stopped;
    for (const RankProcess* rank : processes()) {
        const agent::RankStatus& status = rank->link()->status();
        where.push_back(status.event);
        if (rank->ended()) {
            continue;
        }
        if (rank->stopped()) {
            stopped << rank->rank();
        } else if (rank->view().phase == RankPhase::Running && status.insideCall && !status.inHold) {
            waiting << rank->rank();
        } else {
            where.clear(); // this one may do anything
            break;
        }
    }
    if (where.empty() || where != raceWalk.where || !raceWalk.since.isValid()) {
        raceWalk.where = where;
        raceWalk.since.start();
        return;
    }
    if (waiting.isEmpty() || stopped.isEmpty() || raceWalk.since.elapsed() < kStandsMs) {
        return;
    }
    QStringList calls;
    for (const RankId rank : waiting) {
        const RankView view = q->live(rank);
        calls << QStringLiteral("rank %1 waits in %2 (event %3)")
                     .arg(rankText(rank), view.callName.isEmpty() ? QStringLiteral("MPI") : view.callName)
                     .arg(view.place.event.value());
    }
    const QString why = QStringLiteral("No race was found: %1, while %2 %3 stopped, outside of the focus")
                            .arg(calls.join(QStringLiteral(", ")), rankListText(stopped), stopped.size() == 1 ? QStringLiteral("is") : QStringLiteral("are"));
    q->pause(); // which ends it
    refuse(why, QStringLiteral("Set the focus to all ranks, and give the command again."));
}

/// All ranks have stopped, or ended: if there was a race, it is found in what has been recorded by now.
void Session::Impl::walkOver() {
    if (raceWalk.on) {
        follower->refresh([this] {
            raceWalk.over = raceWalk.on;
            findRacesSoon();
        });
    }
}

void Session::Impl::endRaceWalk() {
    if (raceWalk.on) {
        raceWalk = {};
        follower->setWatching(false);
        emit q->verbsChanged();
    }
}

void Session::takeInstead(CallRef call, CallRef send, MaybeCall insteadOf) {
    Impl& d = *m_impl;
    d.stayHere(tr("the job was started again"));
    if (d.onTheWay() || !d.whyNotOpened(Verb::Replay).isEmpty()) {
        d.refuse(d.whyNot(Verb::Replay));
        return;
    }
    std::optional<Choice> choice;
    std::string why = "no such race is known";
    for (const Race& race : races().racesOf(call)) {
        if (choice || (insteadOf && race.send != insteadOf)) {
            continue;
        }
        if (race.send && *race.send == send) {
            why = "it is the one that came";
        }
        for (const Alternative& one : races().alternatives(race)) {
            if (one.send != send) {
                continue;
            }
            why.clear();
            if (Choice made = choiceOf(timeline(), race, one, why); why.empty()) {
                choice = std::move(made);
            }
        }
    }
    if (!choice) {
        d.refuse(tr("This message cannot be taken instead: %1").arg(QString::fromStdString(why)));
        return;
    }
    const Impl::Chosen wanted{call.rank, timeline().call(call).begin, send.rank, timeline().call(send).begin, choice->race.send};
    for (const Impl::KeptExecution& kept : d.keptExecutions) {
        if (kept.head.from == d.execution.number && kept.head.chosen == wanted) {
            d.say(Severity::Warning, tr("Execution %1 took that message there already: it is shown, and nothing is run.").arg(kept.head.number),
                  tr("Replay run executes it again."));
            showExecution(kept.head.number);
            return;
        }
    }
    d.setOut([this, choice = *choice] { m_impl->startChosen(choice); });
}

void Session::Impl::startChosen(const Choice& choice) {
    const Timeline& timeline = recording->timeline();
    const Call taken = timeline.call(choice.race.call);
    const EventIndex raceBegin = taken.begin;
    const QString who = QStringLiteral("rank %1's %2 at event %3")
                            .arg(rankText(choice.race.call.rank), functionText(timeline.details(choice.race.call.rank, taken.beginDetails).function))
                            .arg(taken.begin.value());
    const bool probe = choice.race.kind == RaceKind::Probe || choice.race.kind == RaceKind::FailedProbe;
    QString text = QStringLiteral("%1 %2 rank %3's message").arg(who, probe ? QStringLiteral("sees") : QStringLiteral("takes"), rankText(choice.sender));
    if (q->races().racesOf(choice.race.call).size() > 1 && choice.race.send) { // which of them
        text += QStringLiteral(" instead of rank %1's of event %2").arg(rankText(choice.race.send->rank)).arg(timeline.call(*choice.race.send).begin.value());
    }
    const bool sentLater = choice.sendBegin > choice.upTo[std::size_t(choice.sender.value())];
    std::vector<OrderEntries> planned;
    for (int i = 0; i < timeline.rankCount(); ++i) {
        planned.push_back(plannedOrder(timeline, RankId(i), choice));
    }
    Command made;
    made.shown.verb = Verb::Run;
    made.shown.focus = focus;
    made.shown.before = q->places();
    made.stood = anyoneLives();
    made.before = presentTargets();
    made.hits = hitCounts();
    made.execution = execution.number;
    noteOutcome();
    endJob();
    follower->forget();
    if (opened != nullptr) {
        executeOpened();
    }
    std::unique_ptr<Recording> next = recording->upTo(choice.upTo, std::move(planned), choice.race.call);
    keepExecution(nullptr);
    execution.text = text;
    execution.chosen = Chosen{choice.race.call.rank, raceBegin, choice.sender, choice.sendBegin, choice.race.send};
    streams.clear(); // what it prints has nothing to be compared with
    besides.streams.clear();
    besides.sent.clear();
    for (auto& [rank, values] : besides.values) {
        if ((recordedSpec.alsoNoted & trace::kNoteSent) != 0) { // else nothing is said of data
            values = withoutFoundBehind(values, choice.upTo[std::size_t(rank)]);
        }
    }
    recording = std::move(next);
    recordingReplaced();
    emit q->timelineChanged();
    say(Severity::Info, QStringLiteral("Execution %1: %2 instead of what it got. What does not depend on it is replayed, the rest runs live.")
                            .arg(execution.number)
                            .arg(text));
    if (sentLater) {
        sayOfExecution(Severity::Warning,
            QStringLiteral("Rank %1 sent that message only after something that MPI itself held it back with until the %2 was over.")
                .arg(rankText(choice.sender), probe ? QStringLiteral("probe") : QStringLiteral("receive")),
            QStringLiteral("MPI does not promise to do so, but if this one does, the message never comes: Pause shows who waits, "
                           "and Executions lead back."));
    }
    startJob(nullptr, true);
    made.shown.note = text;
    commands.push_back(std::move(made));
    redoList.clear();
    commandOpen = true;
    emit q->historyChanged();
    if (const auto race = recording->timeline().callAt(choice.race.call.rank, raceBegin)) {
        emit q->raceReached(*race); // what it got before is not shown any more
    }
    emit q->executionsChanged(); // last: the whole of the new one is what is looked at
}

} // namespace stopline::replay
