#include "session_impl.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QLoggingCategory>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace stopline::replay {

Q_LOGGING_CATEGORY(logSession, "stopline.session", QtWarningMsg)

namespace {
constexpr qsizetype kKeptOutput = 16 << 20;    ///< bytes of a rank's output that can be looked at
constexpr qsizetype kComparedOutput = 1 << 20; ///< bytes from the start that a replay is compared with
} // namespace

Session::Session(QObject* parent) : QObject(parent), m_impl(std::make_unique<Impl>(this)) {}

Session::~Session() {
    delete m_impl->approach;
    m_impl->approach = nullptr;
    m_impl->endJob();
}

void Session::setLaunch(const LaunchSpec& spec) {
    m_impl->spec = spec;
    emit verbsChanged();
}

const LaunchSpec& Session::launch() const {
    return m_impl->spec;
}

int Session::rankCount() const {
    return m_impl->ranks;
}

RankProcess* Session::Impl::process(RankId rank) const {
    return job ? job->rank(rank) : nullptr;
}

std::vector<RankProcess*> Session::Impl::processes() const {
    std::vector<RankProcess*> all;
    for (int i = 0; i < ranks; ++i) {
        if (RankProcess* one = process(RankId(i)); one != nullptr) {
            all.push_back(one);
        }
    }
    return all;
}

std::vector<RankProcess*> Session::Impl::focusRanks() const {
    if (!focus.rank) {
        return processes();
    }
    RankProcess* one = process(*focus.rank);
    return one != nullptr ? std::vector<RankProcess*>{one} : std::vector<RankProcess*>{};
}

RankView Session::rank(RankId rank) const {
    RankView view;
    if (const RankProcess* process = m_impl->process(rank); process != nullptr) {
        view = process->view();
    } else if (rank.value() >= 0 && std::size_t(rank.value()) < m_impl->lastViews.size()) {
        view = m_impl->lastViews[std::size_t(rank.value())];
    }
    view.rank = rank;
    if (view.phase == RankPhase::Stopped && m_impl->locating.count(rank.value()) != 0) {
        view.phase = RankPhase::Running;
    }
    const Timeline& timeline = m_impl->recording->timeline();
    if (rank.value() < timeline.rankCount() && view.place.event.value() > 0 &&
        view.place.event <= timeline.lastEvent(rank)) {
        const trace::EventDetails& details = timeline.details(rank, timeline.eventDetails(rank, view.place.event));
        const bool begin = details.kind == trace::EventKind::Begin;
        if (begin) {
            view.callName = functionText(details.function);
        }
        const bool shows = view.phase == RankPhase::Stopped || view.phase == RankPhase::Holding ||
                           (view.phase == RankPhase::Running && view.insideMpi);
        if (!view.location.known() && shows && (begin || view.why == StopWhy::Stopline)) {
            view.location = m_impl->siteOf(rank, details.site);
        }
    }
    return view;
}

bool Session::jobExists() const {
    return m_impl->alive();
}

bool Session::allStopped() const {
    for (RankProcess* rank : m_impl->processes()) {
        const bool settled = rank->stopped() && m_impl->locating.count(rank->rank().value()) == 0;
        if (!settled && !rank->ended() && rank->view().phase != RankPhase::Failed) {
            return false;
        }
    }
    return m_impl->alive();
}

Cut Session::places() const {
    Cut cut(std::size_t(m_impl->ranks));
    for (int i = 0; i < m_impl->ranks; ++i) {
        cut[std::size_t(i)] = rank(RankId(i)).place;
    }
    return cut;
}

void Session::setFocus(Focus focus) {
    if (focus.rank) {
        m_impl->shown = *focus.rank;
    }
    if (!(m_impl->focus == focus)) {
        m_impl->focus = focus;
        emit focusChanged();
        emit verbsChanged();
    } else {
        emit focusChanged();
    }
}

Focus Session::focus() const {
    return m_impl->focus;
}

RankId Session::shownRank() const {
    return m_impl->shown;
}

void Session::setShownRank(RankId rank) {
    m_impl->shown = rank;
    emit focusChanged();
}

void Session::setStopAtStart(bool stop) {
    m_impl->stopAtStart = stop;
}

// --- The life of a job ---

void Session::Impl::resize(int count) {
    if (ranks == count) {
        return;
    }
    ranks = count;
    lastViews.assign(std::size_t(count), {});
    recording = std::make_unique<Recording>(count);
    sites.clear();
    // The Run that has just told the size is the only command of this job.
    commands.erase(commands.begin(), commands.end() - (commandOpen && !commands.empty() ? 1 : 0));
    for (Command& command : commands) {
        command.before.assign(std::size_t(count), {});
        command.shown.before.assign(std::size_t(count), {});
    }
    redoList.clear();
    stopList.clear();
    point.reset();
    past.reset();
    future.reset();
    line.reset();
    if (shown.value() >= count) {
        shown = RankId(0);
    }
    if (focus.rank && focus.rank->value() >= count) {
        focus = {};
    }
    emit q->timelineReplaced();
    emit q->ranksChanged();
    emit q->stoplineChanged();
    emit q->historyChanged();
}

void Session::Impl::startJob(Approach* with) {
    const QPointer<Job> old = job;
    endJob();
    for (RankView& view : lastViews) { // nothing of the old job is shown any more
        view = {};
        view.phase = RankPhase::Starting;
    }
    ++incarnations;
    visits.clear();
    locating.clear();
    faultsSaid.clear();
    departure.reset();
    outputs.clear();
    if (with != nullptr) {
        for (auto& [key, bytes] : streams) {
            // The longer one is kept: what has not been printed again yet is still what the program prints there.
            QByteArray& kept = recordedStreams[key];
            kept = bytes.size() > kept.size() ? bytes : kept;
        }
        checkFiles();
    } else {
        recordedStreams.clear();
        input.clear();
        noteFiles();
    }
    streams.clear();
    streamsDiffer.clear();
    emit q->outputCleared();
    for (BreakpointState& state : breakpoints) {
        state.numbers.clear();
        state.hits.clear();
    }
    recording->beginExecution();
    // A journey is through what was recorded, whatever has been chosen for the next run.
    auto* started = new Job(with != nullptr ? recordedSpec : spec, installation, Incarnation(incarnations),
        [with, this](RankId rank, agent::RankConfig& config) {
            config.gate = trace::Gate::Constructor;
            if (with != nullptr && with == approach) {
                with->configure(rank, config);
            }
        }, q);
    job = started;
    QObject::connect(started, &Job::sized, q, [this, started](int count) {
        if (job != started) {
            return;
        }
        if (ranks != count && approach != nullptr) {
            approach->cancel(QStringLiteral("the job now has %1 ranks; the recording has %2").arg(count).arg(ranks));
            return;
        }
        resize(count);
    });
    QObject::connect(started, &Job::rankAdded, q, [this, started](RankProcess* rank) {
        if (job == started) {
            onRankAdded(rank);
        }
    });
    QObject::connect(started, &Job::launcherOutput, q, [this, started](int stream, const QByteArray& bytes) {
        if (job == started) {
            outputs[-1] += bytes;
            emit q->outputAdded(RankId(-1), stream, bytes);
        }
    });
    QObject::connect(started, &Job::failed, q, [this, started](const QString& text, const QString& remedy) {
        if (job == started) {
            say(Severity::Error, text, remedy);
            if (approach != nullptr) {
                approach->cancel(text);
            }
        }
    });
    QObject::connect(started, &Job::over_, q, [this, started](const QString& summary) {
        if (job == started) {
            onJobOver(summary);
        }
        started->deleteLater();
    });
    auto launch = [this, started] {
        if (job == started) {
            started->start();
            if (!input.isEmpty()) {
                started->writeInput(input);
            }
        }
    };
    if (old) {
        // No rank of the old job may live beside one of the new: they would use the same files and sockets.
        QObject::connect(old, &Job::ranksGone, started, launch);
    } else {
        launch();
    }
    emit q->ranksChanged();
    emit q->verbsChanged();
}

void Session::Impl::endJob() {
    if (!job) {
        return;
    }
    Job* old = job;
    for (int i = 0; i < ranks; ++i) {
        if (const RankProcess* rank = old->rank(RankId(i)); rank != nullptr && std::size_t(i) < lastViews.size()) {
            lastViews[std::size_t(i)] = rank->view();
        }
    }
    job = nullptr;
    if (old->over()) {
        old->deleteLater();
        return;
    }
    // Its over_() deletes it; nothing of it is listened to any more.
    old->kill();
}

void Session::Impl::onJobOver(const QString& summary) {
    for (int i = 0; i < ranks; ++i) {
        if (const RankProcess* rank = process(RankId(i)); rank != nullptr) {
            lastViews[std::size_t(i)] = rank->view();
            RankView& view = lastViews[std::size_t(i)];
            if (view.phase != RankPhase::Exited) {
                view.phase = RankPhase::Exited;
                view.why = StopWhy::None;
                view.exitSignal = SIGTERM;
                view.detail = QStringLiteral("ended with the job");
            }
        }
    }
    job = nullptr;
    if (approach != nullptr) {
        approach->cancel(QStringLiteral("the job has ended: %1").arg(summary));
    }
    commandOpen = false;
    emit q->ranksChanged();
    emit q->verbsChanged();
    emit q->jobEnded(summary);
    emit q->stopped();
}

void Session::Impl::onRankAdded(RankProcess* rank) {
    programOf[rank->rank().value()] = rank->link()->hello().program;
    if (approach != nullptr) {
        approach->add(rank);
    }
    // Ranks of a job that has been replaced still say that they end; nobody listens to them any more.
    auto listen = [this, rank](auto signal, auto what) {
        QObject::connect(rank, signal, q, [this, rank, what] {
            if (process(rank->rank()) == rank) {
                what();
            }
        });
    };
    listen(&RankProcess::phaseChanged, [this, rank] {
        emit q->rankChanged(rank->rank());
        emit q->verbsChanged();
    });
    listen(&RankProcess::joined, [this, rank] { onJoined(rank); });
    listen(&RankProcess::arrived, [this, rank] {
        rank->look([this, guarded = QPointer<RankProcess>(rank)] {
            if (!guarded || process(guarded->rank()) != guarded) {
                return;
            }
            if (approach != nullptr) {
                approach->arrived(guarded);
            } else {
                guarded->release();
            }
        });
    });
    listen(&RankProcess::stoppedNow, [this, rank] { onStopped(rank); });
    listen(&RankProcess::ended_, [this, rank] { onEnded(rank); });
    listen(&RankProcess::traceRead, [this, rank] { onTraceRead(rank); });
    QObject::connect(rank, &RankProcess::fault, q, [this, rank](const QString& text, const QString& remedy) {
        // What is wrong with the program or the machine is wrong for every rank, and said once.
        if (process(rank->rank()) == rank && faultsSaid.insert(text).second) {
            say(Severity::Error, text, remedy);
        }
    });
    QObject::connect(rank->link(), &agent::AgentLink::output, q, [this, rank](int stream, const QByteArray& bytes) {
        if (process(rank->rank()) == rank) {
            onOutput(rank->rank(), stream, bytes);
        }
    });
    emit q->rankChanged(rank->rank());
}

void Session::Impl::onOutput(RankId rank, int stream, const QByteArray& bytes) {
    QByteArray& text = outputs[rank.value()];
    text += bytes;
    if (text.size() > kKeptOutput) {
        text.remove(0, text.size() - kKeptOutput / 2);
    }
    const auto key = std::make_pair(int(rank.value()), stream);
    QByteArray& now = streams[key];
    if (now.size() > kComparedOutput) {
        emit q->outputAdded(rank, stream, bytes);
        return;
    }
    now += bytes;
    if (const auto then = recordedStreams.find(key); then != recordedStreams.end() && streamsDiffer.count(key) == 0) {
        const qsizetype common = std::min(now.size(), then->second.size());
        const qsizetype from = std::max<qsizetype>(0, std::min(common, now.size() - bytes.size()));
        if (std::memcmp(now.constData() + from, then->second.constData() + from, std::size_t(common - from)) != 0) {
            streamsDiffer.insert(key);
            say(Severity::Warning,
                QStringLiteral("Rank %1 writes something else than before to its standard %2.").arg(rank.value()).arg(
                    stream == 1 ? QStringLiteral("output") : QStringLiteral("error")),
                QStringLiteral("Its messages are still compared one by one; a time, a process number or an address in the "
                               "text is harmless."));
        }
    }
    emit q->outputAdded(rank, stream, bytes);
}

void Session::Impl::noteFiles() {
    files.clear();
    const QDir folder(spec.workingDirectory.isEmpty() ? QDir::currentPath() : spec.workingDirectory);
    QStringList names = spec.command + spec.arguments;
    names << spec.program << spec.inputFile;
    for (const QString& name : names) {
        const QFileInfo file(folder, name);
        if (!name.isEmpty() && !name.startsWith(u'-') && file.isFile()) {
            files[file.absoluteFilePath()] = {file.size(), file.lastModified().toMSecsSinceEpoch()};
        }
    }
}

void Session::Impl::checkFiles() {
    for (auto& [name, was] : files) {
        const QFileInfo file(name);
        const auto now = std::make_pair(file.size(), file.lastModified().toMSecsSinceEpoch());
        if (now != was) {
            say(Severity::Warning, QStringLiteral("%1 has changed since the run that is replayed.").arg(name),
                QStringLiteral("The replay may differ; Restart records anew."));
            was = now;
        }
    }
}

void Session::Impl::onJoined(RankProcess* rank) {
    auto& lines = symbols[programOf[rank->rank().value()]];
    if (!lines) {
        lines = std::make_shared<SourceLines>();
    }
    if (!lines->loaded()) {
        lines->loadProcess(rank->view().pid);
    }
    if (approach != nullptr) {
        approach->joined(rank);
        return;
    }
    rank->gdb()->loadUserLibraries([](Status) {}); // first, so that breakpoints in them bind
    applyBreakpoints(rank, [this, guarded = QPointer<RankProcess>(rank)] {
        if (!guarded || guarded->ended()) {
            return;
        }
        if (!stopAtStart) {
            guarded->letGo();
            return;
        }
        // Fortran's own main program first: its C main is nothing the user has written.
        guarded->gdb()->insertBreakpoint(QStringLiteral("MAIN__"), {}, true, [this, guarded](Result<mi::Breakpoint> bp) {
            if (!guarded || guarded->ended()) {
                return;
            }
            if (bp && !bp.value().pending) {
                guarded->setStartBreakpoint(bp.value().number);
                guarded->letGo();
                return;
            }
            auto go = [guarded](Result<mi::Breakpoint> main) {
                if (guarded && !guarded->ended()) {
                    guarded->setStartBreakpoint(main ? main.value().number : 0);
                    guarded->letGo();
                }
            };
            if (bp) {
                guarded->gdb()->deleteBreakpoint(bp.value().number, [guarded, go](Status) {
                    if (guarded) {
                        guarded->gdb()->insertBreakpoint(QStringLiteral("main"), {}, true, go);
                    }
                });
            } else {
                guarded->gdb()->insertBreakpoint(QStringLiteral("main"), {}, true, go);
            }
        });
    });
}

void Session::Impl::onTraceRead(RankProcess* rank) {
    QString error;
    const EventIndex before = recording->timeline().lastEvent(rank->rank());
    const auto difference = recording->feed(rank->rank(), rank->link()->image(), error);
    if (!error.isEmpty()) {
        say(Severity::Warning, QStringLiteral("The trace of rank %1 cannot be read further: %2").arg(rank->rank().value()).arg(error),
            QStringLiteral("What came before stays; Restart records anew."));
    }
    if (difference) {
        onDifference(*difference);
    }
    if (recording->timeline().lastEvent(rank->rank()) != before) {
        emit q->timelineChanged();
    }
}

/// Finds the user's line of a stop, then calls `done`: at once, or when the stack has been unwound.
void Session::Impl::locate(RankProcess* rank, std::function<void()> done) {
    const RankView& view = rank->view();
    // Where gdb gave a frame with a line the stop is in the user's code; else the trace knows the call's line.
    const mi::Frame& frame = rank->lastStop().frame;
    if (view.why != StopWhy::Stopline && !view.insideMpi && frame.line > 0 && !Session::isInternalFrame(frame)) {
        SourceLocation location;
        location.file = frame.fullName.isEmpty() ? frame.file : frame.fullName;
        location.line = frame.line;
        location.function = frame.function;
        rank->setLocation(location, 0);
        done();
        return;
    }
    const Timeline& timeline = recording->timeline();
    const bool known = view.place.event.value() > 0 && view.place.event <= timeline.lastEvent(rank->rank());
    const bool inLibrary = view.why == StopWhy::Stopline || view.insideMpi || view.why == StopWhy::Abort ||
                           view.why == StopWhy::MpiError;
    if (known && inLibrary) {
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
        for (const mi::Frame& one : frames && guarded->stopped() ? frames.value() : QVector<mi::Frame>()) {
            if (!Session::isInternalFrame(one)) {
                SourceLocation location;
                location.file = one.fullName.isEmpty() ? one.file : one.fullName;
                location.line = one.line;
                location.function = one.function;
                guarded->setLocation(location, one.level);
                break;
            }
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
    locating.insert(rank->rank().value());
    locate(rank, [this, guarded = QPointer<RankProcess>(rank)] {
        if (guarded && process(guarded->rank()) == guarded) {
            locating.erase(guarded->rank().value());
            if (guarded->stopped()) { // else it has been resumed meanwhile, which ends the looking
                onLocated(guarded);
            }
        }
    });
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

// --- Looking ---

/// Unwinds to the user's innermost frame, once a stop; 0 where there is none.
void Session::Impl::findUserFrame(RankProcess* rank, std::function<void(int)> handler) {
    rank->gdb()->stack(rank->thread(), 64, [this, handler, guarded = QPointer<RankProcess>(rank)](Result<QVector<mi::Frame>> frames) {
        int user = 0;
        if (frames) {
            for (const mi::Frame& frame : frames.value()) {
                if (!Session::isInternalFrame(frame)) {
                    user = frame.level;
                    break;
                }
            }
        }
        if (guarded && guarded->stopped()) {
            guarded->setLocation(guarded->view().location, user);
        }
        handler(user);
    });
}

const Timeline& Session::timeline() const {
    return m_impl->recording->timeline();
}

void Session::refreshTimeline() {
    for (RankProcess* rank : m_impl->processes()) {
        if (!rank->ended()) {
            rank->look([this, rank] { emit rankChanged(rank->rank()); });
        }
    }
}

SourceLocation Session::sourceOf(CallRef call) const {
    const Timeline& timeline = m_impl->recording->timeline();
    if (call.rank.value() >= timeline.rankCount() || call.call.value() >= timeline.callCount(call.rank)) {
        return {};
    }
    const Call& one = timeline.call(call);
    return m_impl->siteOf(call.rank, timeline.details(call.rank, one.beginDetails).site);
}

void Session::stack(RankId rank, Handler<QVector<mi::Frame>> handler) {
    RankProcess* process = m_impl->process(rank);
    if (process == nullptr || !process->stopped()) {
        QMetaObject::invokeMethod(this, [handler] { handler(Error{ErrorCode::NotStopped, tr("the rank is not stopped")}); }, Qt::QueuedConnection);
        return;
    }
    process->gdb()->stack(process->thread(), 256, std::move(handler));
}

void Session::variables(RankId rank, int frame, Handler<QVector<mi::Variable>> handler) {
    RankProcess* process = m_impl->process(rank);
    if (process == nullptr || !process->stopped()) {
        QMetaObject::invokeMethod(this, [handler] { handler(Error{ErrorCode::NotStopped, tr("the rank is not stopped")}); }, Qt::QueuedConnection);
        return;
    }
    if (frame >= 0) {
        process->gdb()->variables(process->thread(), frame, std::move(handler));
        return;
    }
    m_impl->findUserFrame(process, [guarded = QPointer<RankProcess>(process), handler](int user) {
        if (!guarded || !guarded->stopped()) {
            handler(Error{ErrorCode::NotStopped, tr("the rank is not stopped")});
            return;
        }
        guarded->gdb()->variables(guarded->thread(), user, handler);
    });
}

void Session::evaluate(RankId rank, int frame, const QString& expression, Handler<QString> handler) {
    RankProcess* process = m_impl->process(rank);
    if (process == nullptr || !process->stopped()) {
        QMetaObject::invokeMethod(this, [handler] { handler(Error{ErrorCode::NotStopped, tr("the rank is not stopped")}); }, Qt::QueuedConnection);
        return;
    }
    if (frame >= 0) {
        process->gdb()->evaluate(expression, process->thread(), frame, std::move(handler));
        return;
    }
    m_impl->findUserFrame(process, [guarded = QPointer<RankProcess>(process), expression, handler](int user) {
        if (!guarded || !guarded->stopped()) {
            handler(Error{ErrorCode::NotStopped, tr("the rank is not stopped")});
            return;
        }
        guarded->gdb()->evaluate(expression, guarded->thread(), user, handler);
    });
}

void Session::gdbCommand(RankId rank, const QString& command, Handler<QString> handler) {
    RankProcess* process = m_impl->process(rank);
    if (process == nullptr || !process->attached()) {
        QMetaObject::invokeMethod(this, [handler] { handler(Error{ErrorCode::Unavailable, tr("the rank has no gdb")}); }, Qt::QueuedConnection);
        return;
    }
    process->gdb()->console(command, std::move(handler));
}

QByteArray Session::output(RankId rank) const {
    const auto it = m_impl->outputs.find(rank.value());
    return it == m_impl->outputs.end() ? QByteArray() : it->second;
}

void Session::writeInput(const QByteArray& bytes) {
    if (m_impl->job) {
        m_impl->input += bytes;
        m_impl->job->writeInput(bytes);
    }
}

const QVector<Session::StopSummary>& Session::stops() const {
    return m_impl->stopList;
}

} // namespace stopline::replay
