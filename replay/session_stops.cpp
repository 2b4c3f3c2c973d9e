// Stops and ends of ranks: where they stand, what is told of it.
#include "session_impl.h"

#include "../gdbmi/agent_guard.h"
#include "../tracelib/functions.h"
#include "../tracelib/mapping.h"
#include "words.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

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

/// What has been read of a rank ends with a fault, or it does not.
void Session::Impl::traceFault(RankProcess* rank, const QString& error) {
    if (!error.isEmpty() && faultsSaid.insert(QStringLiteral("trace %1").arg(rankText(rank->rank()))).second) {
        say(Severity::Warning, QStringLiteral("The trace of rank %1 cannot be read further: %2").arg(rankText(rank->rank())).arg(error),
            QStringLiteral("What came before stays; Restart records anew."));
    }
    const int off = rank->link()->status().recordingOff;
    recording->noteEnd(rank->rank(), !error.isEmpty() || off != 0);
    // That it was overwritten the agent tells, which has seen how.
    if (off != 0 && off != static_cast<int>(agent::kOverwritten) &&
        faultsSaid.insert(QStringLiteral("recording %1").arg(rankText(rank->rank()))).second) {
        const bool full = off == EFBIG;
        say(Severity::Warning,
            QStringLiteral("The recording of rank %1 has stopped at event %2: %3. The rank goes on, and what came before stays.")
                .arg(rankText(rank->rank()))
                .arg(recording->executed(rank->rank()).value())
                .arg(full ? QStringLiteral("an event takes more than a rank may keep")
                          : QString::fromLocal8Bit(std::strerror(off))),
            full ? QStringLiteral("Start it with a larger --keep; Restart records anew.")
            : installation.mapDirectory.isEmpty()
                ? QStringLiteral("Free memory, or set STOPLINE_MAP_DIRECTORY to a directory that has space, and Restart.")
                : QStringLiteral("Free space in %1 (STOPLINE_MAP_DIRECTORY), and Restart.").arg(installation.mapDirectory));
    }
}

/// Takes in a piece of what the rank's image holds; `grown` is set when the timeline has grown. Returns whether that was
/// all of it.
bool Session::Impl::takeTrace(RankProcess* rank, std::size_t most, std::chrono::microseconds budget, bool& grown) {
    const EventIndex before = recording->timeline().lastEvent(rank->rank());
    const QString error = recording->read(rank->rank(), rank->link()->image(), most);
    rank->link()->releaseBlocks(recording->blocksRead(rank->rank()));
    const Recording::Taken taken = recording->take(rank->rank(), budget);
    const bool all = taken.all && (!recording->behind(rank->rank()) || !error.isEmpty());
    if (all) {
        traceFault(rank, error);
    }
    grown = grown || recording->timeline().lastEvent(rank->rank()) != before;
    if (taken.difference) {
        onDifference(*taken.difference);
    }
    keepValues(rank);
    sayLive();
    if (recording->outside()) {
        sayOutside(*recording->outside());
    }
    sayStart(rank->rank());
    return all;
}

void Session::Impl::sayOutside(const Recording::Outside& call) {
    const bool starts = call.function == trace::FunctionId::Comm_spawn || call.function == trace::FunctionId::Comm_spawn_multiple;
    if (!faultsSaid.insert(kOutside).second) {
        return;
    }
    const QString name = functionText(call.function);
    say(Severity::Warning,
        starts ? QStringLiteral("The program starts processes by %1; they run without Stopline.").arg(name)
               : QStringLiteral("The program joins processes of another job by %1; Stopline does not see them.").arg(name),
        starts ? QStringLiteral("They have no rows, are not recorded and cannot be stopped; messages to and from them are shown "
                                "without their other end, and whenever the job runs again they are started again.")
               : QStringLiteral("They have no rows here; messages to and from them are shown without their other end, and the "
                                "job cannot be run again without them."));
}

QString Session::Impl::whyUnreachable(const Cut& cut) const {
    const Timeline& timeline = recording->timeline();
    if (QString why = whyBeforeStart(cut); !why.isEmpty()) {
        return why;
    }
    std::vector<bool> brokenOff(cut.size());
    for (std::size_t i = 0; i < cut.size(); ++i) {
        brokenOff[i] = timeline.brokenOff(RankId(int(i)));
    }
    if (std::find(brokenOff.begin(), brokenOff.end(), true) == brokenOff.end()) {
        return {};
    }
    const auto isBrokenOff = [&brokenOff](RankId rank) {
        return rank.value() >= 0 && std::size_t(rank.value()) < brokenOff.size() && brokenOff[std::size_t(rank.value())];
    };
    const auto behind = [&timeline, &cut](const MaybeCall& call) {
        const EventIndex end = call ? timeline.call(*call).end : EventIndex(0);
        const auto rank = call ? std::size_t(call->rank.value()) : cut.size();
        return end.value() != 0 && rank < cut.size() && cut[rank].event >= end;
    };
    const auto text = [&timeline](CallRef call, const QString& what) {
        return QStringLiteral("rank %1 cannot be taken beyond its event %2: %3 behind the end of its recording; choose an earlier point")
            .arg(rankText(call.rank))
            .arg(timeline.call(call).end.value())
            .arg(what);
    };
    for (const Message& message : timeline.messages()) {
        if (!message.send && isBrokenOff(message.sender) && behind(message.done)) {
            return text(*message.done, QStringLiteral("it receives there what rank %1 sends").arg(rankText(message.sender)));
        }
    }
    for (const Collective& collective : timeline.collectives()) {
        for (std::size_t other = 0; other < collective.members.size(); ++other) {
            if (collective.arrived[other] || !isBrokenOff(collective.members[other])) {
                continue;
            }
            for (const MaybeCall call : collective.finished) {
                if (behind(call)) {
                    const std::string_view name = trace::functionName(collective.function);
                    return text(*call, QStringLiteral("it ends there an %1 that rank %2 comes to")
                                           .arg(QString::fromUtf8(name.data(), qsizetype(name.size())))
                                           .arg(collective.members[other].value()));
                }
            }
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
    if (const LoadedRecording* file = opened != nullptr ? opened.get() : origin.get(); file != nullptr) {
        const SiteText found = file->sites.of(rank, address);
        location.file = QString::fromStdString(found.file);
        location.line = found.line;
        location.function = QString::fromStdString(found.function);
        if (opened != nullptr || location.line != 0 || !location.function.isEmpty()) {
            sites[key] = location;
            return location;
        }
    }
    const auto program = programOf.find(rank.value());
    if (program != programOf.end()) {
        const auto lines = symbols.find(program->second);
        if (lines != symbols.end() && lines->second && lines->second->loaded()) {
            const SourceLine found = lines->second->ofReturnAddress(address);
            location.file = found.file;
            location.line = found.line;
            location.function = found.function;
            location.module = found.module;
            sites[key] = location;
        }
    }
    return location;
}

void Session::Impl::onStopped(RankProcess* rank) {
    countHit(rank);
    leaveRunTo(rank);
    keepValues(rank); // only now it is known to stand where it is
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
    const SourceLocation site =
        recorded ? siteOf(rank->rank(), timeline.details(rank->rank(), timeline.eventDetails(rank->rank(), place.event)).site)
                 : SourceLocation{};
    if (!rank->view().location.known() && recorded && !site.known() && faultsSaid.insert(program).second) {
        const bool library = !site.module.isEmpty() && site.module != program.section(u'/', -1);
        say(Severity::Warning,
            library ? QStringLiteral("Rank %1 calls MPI from %2, which has no line information.").arg(rankText(rank->rank())).arg(site.module)
                    : QStringLiteral("%1 has no line information where rank %2 stands.").arg(program).arg(rankText(rank->rank())),
            library ? QStringLiteral("Lines of Python are not known; a library of your own needs -g. Messages and stoplines work without.")
                    : QStringLiteral("Compile it with -g to see source lines and variables; messages and stoplines work without."));
    }
    rememberTarget(rank);
    emit q->rankChanged(rank->rank());
    emit q->verbsChanged();
    if (approach != nullptr) {
        approach->stopped(rank);
        return;
    }
    const StopWhy why = rank->view().why;
    if (bringsDown(rank)) {
        // The job has come to its end here: keep everything as it is at this moment, to be looked at.
        for (RankProcess* other : processes()) {
            if (other != rank && !other->stopped()) {
                other->pause();
            }
        }
    }
    if (why == StopWhy::ExitNoFinalize) {
        onLeaving(rank);
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
    finishStartingAnew(); // who waits for its end is to see all of it
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
            QStringLiteral("Rank %1 %2 without calling MPI_Init.").arg(rankText(rank->rank())).arg(stateText(view)),
            rank->link()->status().mpiLinked
                ? QStringLiteral("Nothing was recorded: look at its output for why it stopped early.")
                : QStringLiteral("The program is not linked with MPI, or statically: Stopline records calls of a shared "
                                 "MPI library only."));
    }
    if (approach != nullptr) {
        approach->ended(rank);
        return;
    }
    onLeft(rank);
    noteStop();
}

} // namespace stopline::replay
