// Stops and ends of ranks: where they stand, what is told of it.
#include "session_impl.h"

namespace stopline::replay {

namespace {

SourceLocation locationOf(const mi::Frame& frame) {
    SourceLocation location;
    location.file = frame.fullName.isEmpty() ? frame.file : frame.fullName;
    location.line = frame.line;
    location.function = frame.function;
    return location;
}

} // namespace

void Session::Impl::onTraceRead(RankProcess* rank) {
    QString error;
    const EventIndex before = recording->timeline().lastEvent(rank->rank());
    const auto difference = recording->feed(rank->rank(), rank->link()->image(), error);
    if (!error.isEmpty() && faultsSaid.insert(QStringLiteral("trace %1").arg(rank->rank().value())).second) {
        say(Severity::Warning, QStringLiteral("The trace of rank %1 cannot be read further: %2").arg(rank->rank().value()).arg(error),
            QStringLiteral("What came before stays; Restart records anew."));
    }
    if (!error.isEmpty() || rank->link()->status().recordingOff != 0) {
        cutShort.insert(rank->rank().value());
    }
    if (difference) {
        onDifference(*difference);
    }
    if (recording->timeline().lastEvent(rank->rank()) != before) {
        emit q->timelineChanged();
    }
}

QString Session::Impl::whyUnreachable(const Cut& cut) const {
    if (cutShort.empty()) {
        return {};
    }
    const Timeline& timeline = recording->timeline();
    for (const Message& message : timeline.messages()) {
        if (message.send || !message.done || !cutShort.contains(message.sender.value())) {
            continue;
        }
        const EventIndex got = timeline.call(*message.done).end;
        const auto receiver = static_cast<std::size_t>(message.done->rank.value());
        if (got.value() != 0 && receiver < cut.size() && cut[receiver].event >= got) {
            return QStringLiteral("rank %1 cannot be taken beyond its event %2: it receives there what rank %3 sends behind the "
                                  "end of its recording; choose an earlier point")
                .arg(receiver)
                .arg(got.value())
                .arg(message.sender.value());
        }
    }
    return {};
}

/// Finds the user's line of a stop, then calls `done`: at once, or when the stack has been unwound.
void Session::Impl::locate(RankProcess* rank, std::function<void()> done) {
    const RankView& view = rank->view();
    // Where gdb gave a frame with a line the stop is in the user's code; else the trace knows the call's line.
    const mi::Frame& frame = rank->lastStop().frame;
    if (view.why != StopWhy::Stopline && !view.insideMpi && frame.line > 0 && !Session::isInternalFrame(frame)) {
        rank->setLocation(locationOf(frame), 0);
        done();
        return;
    }
    const Timeline& timeline = recording->timeline();
    const bool known = view.place.event.value() > 0 && view.place.event <= timeline.lastEvent(rank->rank());
    const bool inLibrary = view.why == StopWhy::Stopline || view.insideMpi || view.why == StopWhy::Abort ||
                           view.why == StopWhy::MpiError;
    if (known && inLibrary && rank->insideCall()) { // an error may come from a call that is not recorded
        const trace::EventDetails& details =
            timeline.details(rank->rank(), timeline.eventDetails(rank->rank(), view.place.event));
        const SourceLocation site = siteOf(rank->rank(), details.site);
        if (site.known()) {
            rank->setLocation(site, -1);
            done();
            return;
        }
    }
    rank->setLocation({}, -1);
    rank->gdb()->stack(rank->thread(), 64, [guarded = QPointer<RankProcess>(rank), done = std::move(done)](Result<QVector<mi::Frame>> frames) {
        if (!guarded) {
            return;
        }
        const mi::Frame* user = frames && guarded->stopped() ? Session::userFrame(frames.value()) : nullptr;
        if (user != nullptr) {
            guarded->setLocation(locationOf(*user), user->level);
        }
        done();
    });
}

SourceLocation Session::Impl::siteOf(RankId rank, CodeAddress address) const {
    if (address.value() == 0) {
        return {};
    }
    const auto key = std::make_pair(int(rank.value()), address.value());
    if (const auto it = sites.find(key); it != sites.end()) {
        return it->second;
    }
    SourceLocation location;
    const auto program = programOf.find(rank.value());
    if (program != programOf.end()) {
        const auto lines = symbols.find(program->second);
        if (lines != symbols.end() && lines->second && lines->second->loaded()) {
            const SourceLine found = lines->second->ofReturnAddress(address);
            location.file = found.file;
            location.line = found.line;
            location.function = found.function;
            sites[key] = location;
        }
    }
    return location;
}

void Session::Impl::onStopped(RankProcess* rank) {
    countHit(rank);
    leaveRunTo(rank);
    locating.insert(rank->rank().value());
    locate(rank, [this, guarded = QPointer<RankProcess>(rank)] {
        if (guarded && process(guarded->rank()) == guarded) {
            locating.erase(guarded->rank().value());
            if (guarded->stopped()) { // else it has been resumed meanwhile, which ends the looking
                onLocated(guarded);
            }
            checkLocated();
        }
    });
}

/// Who hears that a journey is over may look at every rank at once: none of them is still shown as running then.
void Session::Impl::onceLocated(std::function<void()> then) {
    whenLocated = std::move(then);
    checkLocated();
}

void Session::Impl::checkLocated() {
    if (locating.empty() && whenLocated) {
        std::exchange(whenLocated, nullptr)();
    }
}

void Session::Impl::onLocated(RankProcess* rank) {
    const QString program = programOf[rank->rank().value()];
    const Timeline& timeline = recording->timeline();
    const Place place = rank->view().place;
    const bool recorded = place.event.value() > 0 && place.event <= timeline.lastEvent(rank->rank());
    // Standing where there is no line is no news when the program's own calls have lines (exit handlers, for one).
    const bool lines = rank->view().location.known() || !recorded ||
                       siteOf(rank->rank(), timeline.details(rank->rank(), timeline.eventDetails(rank->rank(), place.event)).site).known();
    if (!lines && faultsSaid.insert(program).second) {
        say(Severity::Warning, QStringLiteral("%1 has no line information where rank %2 stands.").arg(program).arg(rank->rank().value()),
            QStringLiteral("Compile it with -g to see source lines and variables; messages and stoplines work without."));
    }
    rememberTarget(rank);
    emit q->rankChanged(rank->rank());
    emit q->verbsChanged();
    if (approach != nullptr) {
        approach->stopped(rank);
        return;
    }
    const StopWhy why = rank->view().why;
    if (why == StopWhy::Signal || why == StopWhy::Abort || why == StopWhy::MpiError || why == StopWhy::ExitNoFinalize) {
        // The job has come to its end here: keep everything as it is at this moment, to be looked at.
        for (RankProcess* other : processes()) {
            if (other != rank && !other->stopped()) {
                other->pause();
            }
        }
    }
    lookSoon();
    noteStop();
}

/// The others have gone on meanwhile: what is shown of them follows every stop, once for stops that come together.
void Session::Impl::lookSoon() {
    if (lookPending) {
        return;
    }
    lookPending = true;
    QTimer::singleShot(20, q, [this] {
        lookPending = false;
        for (RankProcess* rank : processes()) {
            if (rank->view().phase == RankPhase::Running && approach == nullptr) {
                rank->look([this, guarded = QPointer<RankProcess>(rank)] {
                    if (guarded) {
                        emit q->rankChanged(guarded->rank());
                    }
                });
            }
        }
    });
}

void Session::Impl::onEnded(RankProcess* rank) {
    locating.erase(rank->rank().value());
    checkLocated();
    leaveRunTo(rank);
    rememberTarget(rank);
    emit q->rankChanged(rank->rank());
    emit q->verbsChanged();
    const RankView& view = rank->view();
    const bool byItself = view.phase == RankPhase::Exited && view.exitSignal == 0;
    if (byItself && view.place.event.value() == 0 && approach == nullptr) {
        say(Severity::Warning,
            QStringLiteral("Rank %1 %2 without calling MPI_Init.").arg(rank->rank().value()).arg(stateText(view)),
            rank->link()->status().mpiLinked
                ? QStringLiteral("Nothing was recorded: look at its output for why it stopped early.")
                : QStringLiteral("The program is not linked with MPI, or statically: Stopline records calls of a shared "
                                 "MPI library only."));
    }
    if (approach != nullptr) {
        approach->ended(rank);
        return;
    }
    noteStop();
}

} // namespace stopline::replay
