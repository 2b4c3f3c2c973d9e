// The life of a job: its start, its end.
#include "session_impl.h"
#include "signals.h"
#include "words.h"

#include <csignal>

namespace stopline::replay {

void Session::Impl::resize(int count) {
    if (firstRanks() == count) {
        return;
    }
    jobs = JobTable(count);
    nameRanks(jobs);
    ranks = count;
    lastViews.assign(std::size_t(count), {});
    endLogs();
    recording = std::make_unique<Recording>(count);
    recording->setMostEvents(historyEvents);
    forgetExecutions();
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
    if ((focus.rank && focus.rank->value() >= count) || (!focus.group.isEmpty() && focus.group.last().value() >= count)) {
        focus = {};
    }
    emit q->timelineReplaced();
    emit q->ranksChanged();
    emit q->stoplineChanged();
    emit q->historyChanged();
}

/// Rows for a job that has not been seen before. Nothing that was known is about it: its ranks had not been started.
void Session::Impl::onSpawned(JobKey key, int count, const Spawner& spawner) {
    if (jobs.find(key) != nullptr) {
        return;
    }
    jobs.add(key, count, spawner);
    nameRanks(jobs);
    ranks = jobs.rankCount();
    const auto all = std::size_t(ranks);
    lastViews.resize(all);
    targets.resize(all);
    recording->addJobs(jobs);
    for (std::vector<Command>* list : {&commands, &redoList}) {
        for (Command& command : *list) {
            command.before.resize(all);
            command.shown.before.resize(all);
            command.shown.after.resize(command.shown.after.empty() ? 0 : all);
        }
    }
    for (StopSummary& stop : stopList) {
        stop.places.resize(all);
        stop.why.resize(qsizetype(all));
    }
    for (std::optional<Line>* drawn : {&past, &future, &line}) {
        if (*drawn) {
            (*drawn)->cut.resize(all);
        }
    }
    if (approach != nullptr) {
        approach->addRanks(ranks);
    }
    emit q->timelineChanged();
    emit q->ranksChanged();
}

void Session::Impl::startJob(Approach* with, bool throughRecording, std::function<void()> ready) {
    const QPointer<Job> old = job;
    endRaceWalk();
    endJob();
    if (opened != nullptr) {
        executeOpened();
    }
    for (RankView& view : lastViews) { // nothing of the old job is shown any more
        const bool first = &view - lastViews.data() < firstRanks();
        view = {};
        view.phase = first ? RankPhase::Starting : RankPhase::NotStarted;
    }
    ++incarnations;
    firstToGo.reset();
    visits.clear();
    pauseComing = false;
    remembering.clear();
    QMetaObject::invokeMethod(q, [this] { checkRemembered(); }, Qt::QueuedConnection);
    locating.clear();
    whenLocated = nullptr;
    arriving = false;
    const bool outsideSaid = throughRecording && faultsSaid.contains(kOutside); // a journey brings nothing new there
    faultsSaid.clear();
    if (outsideSaid) {
        faultsSaid.insert(kOutside);
    }
    runTo = {};
    heldAtStart = false;
    forJourney = with != nullptr;
    again = throughRecording;
    rerun = {};
    execution.outcome.clear();
    leaving.clear();
    leftNow.clear();
    outputs.clear();
    if (throughRecording) {
        for (auto& [key, bytes] : streams) {
            // The longer one is kept: what has not been printed again yet is still what the program prints there.
            QByteArray& kept = besides.streams[key];
            kept = bytes.size() > kept.size() ? bytes : kept;
        }
        checkFiles();
    } else {
        besides = {};
        input.clear();
        inputEnded = false;
        noteFiles();
    }
    streams.clear();
    emit q->outputCleared();
    for (BreakpointState& state : breakpoints) {
        state.numbers.clear();
        state.refused.clear();
        state.hits.clear();
    }
    follower->forget();
    if (throughRecording) {
        finishStartingAnew(); // what is made of the timeline next is to be of all that is known
    }
    recording->beginExecution();
    follower->setComparing(throughRecording);
    // What was recorded is gone through again, whatever has been chosen for the next run.
    auto* started = new Job(throughRecording ? recordedSpec : spec, installation, Incarnation(incarnations), jobs, configureRanks(with), q);
    job = started;
    QObject::connect(started, &Job::sized, q, [this, started](int count) {
        if (job != started) {
            return;
        }
        if (firstRanks() != count && approach != nullptr) {
            approach->cancel(QStringLiteral("the job now has %1 ranks; the recording has %2").arg(count).arg(firstRanks()));
            return;
        }
        resize(count);
        checkBreakpointRanks();
    });
    QObject::connect(started, &Job::spawned, q, [this, started](JobKey key, int count, const Spawner& spawner) {
        if (job == started) {
            onSpawned(key, count, spawner);
        }
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
        if (job != started) {
            started->deleteLater();
            return;
        }
        follower->whenTaken([this, summary, guarded = QPointer<Job>(started)] { // what the last ranks did belongs to it
            if (guarded) {
                if (job == guarded) {
                    onJobOver(summary);
                }
                guarded->deleteLater();
            }
        });
    });
    auto launch = [this, started] {
        if (job == started) {
            started->start();
            if (!input.isEmpty()) {
                started->writeInput(input);
            }
            if (inputEnded) {
                started->endInput();
            }
        }
    };
    const Countdown due(launch);
    if (old) {
        // No rank of the old job may live beside one of the new: they would use the same files and sockets.
        due.begin();
        QObject::connect(old, &Job::ranksGone, started, due);
    }
    if (throughRecording) {
        due.begin();
        makeLogs(with, [ready = std::move(ready), due] {
            if (ready) {
                ready();
            }
            due();
        });
    }
    due();
    emit q->ranksChanged();
    emit q->verbsChanged();
}

void Session::Impl::endJob() {
    if (!job) {
        return;
    }
    endLogs();
    firstToGo.reset();
    follower->forget();
    Job* old = job;
    const bool lived = anyoneLives();
    for (int i = 0; i < ranks; ++i) {
        if (const RankProcess* rank = old->rank(RankId(i)); rank != nullptr && std::size_t(i) < lastViews.size()) {
            lastViews[std::size_t(i)] = rank->view();
        }
    }
    job = nullptr;
    if (!lived) {
        noteEnd();
    }
    if (old->over()) {
        old->deleteLater();
        return;
    }
    // Its over_() deletes it; nothing of it is listened to any more.
    old->kill(LastSteps::Leave);
}

void Session::Impl::onJobOver(const QString& summary) {
    endLogs();
    for (int i = 0; i < ranks; ++i) {
        if (const RankProcess* rank = process(RankId(i)); rank != nullptr) {
            lastViews[std::size_t(i)] = rank->view();
            RankView& view = lastViews[std::size_t(i)];
            if (view.phase != RankPhase::Exited) {
                view.phase = RankPhase::Exited;
                view.why = StopWhy::None;
                view.exitSignal = SIGTERM;
                view.endedWithJob = true;
                view.detail = endedWithJobText();
            }
        }
    }
    job = nullptr;
    noteEnd();
    finishStartingAnew(); // who waits for the end is to see all of it
    sayCompared();
    if (approach != nullptr) {
        approach->cancel(QStringLiteral("the job has ended: %1").arg(summary));
    }
    commandOpen = false;
    emit q->ranksChanged();
    emit q->verbsChanged();
    emit q->jobEnded(summary);
    emit q->stopped();
}

} // namespace stopline::replay
