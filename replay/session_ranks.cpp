// Ranks of a job as they come: who listens to them, and what is done before they go.
#include "session_impl.h"
#include "words.h"

namespace stopline::replay {

void Session::Impl::onRankAdded(RankProcess* rank) {
    programOf[rank->rank().value()] = rank->link()->hello().program;
    if (approach != nullptr) {
        approach->add(rank);
    } else if (pauseComing) {
        rank->pause();
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
        firstToGo.check();
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
    QObject::connect(rank, &RankProcess::programReplaced, q, [this, rank](const QString& path, bool recorded) {
        if (process(rank->rank()) == rank) {
            onProgramReplaced(rank->rank(), path, recorded);
        }
    });
    listen(&RankProcess::rejoined, [this, rank] { loadLines(rank); });
    rank->setTaker([this, rank](std::function<void()> done) {
        if (process(rank->rank()) == rank) {
            follower->takeIn(rank, std::move(done));
        } else {
            done();
        }
    });
    QObject::connect(rank, &RankProcess::fault, q, [this, rank](const QString& text, const QString& remedy) {
        // What is wrong with the program or the machine is wrong for every rank, and said once.
        if (process(rank->rank()) == rank && faultsSaid.insert(text).second) {
            say(Severity::Error, text, remedy);
        }
    });
    QObject::connect(rank->gdb(), &mi::GdbSession::conditionFailed, q, [this, rank](int number, const QString& why) {
        if (process(rank->rank()) == rank) {
            onConditionFailed(rank, number, why);
        }
    });
    QObject::connect(rank->link(), &agent::AgentLink::output, q, [this, rank](int stream, const QByteArray& bytes) {
        if (process(rank->rank()) == rank) {
            onOutput(rank->rank(), stream, bytes);
        }
    });
    firstToGo.onCome();
    emit q->rankChanged(rank->rank());
}

void Session::Impl::onProgramReplaced(RankId rank, const QString& path, bool recorded) {
    if (!recorded) { // else the recording's call sites are the old program's
        programOf[rank.value()] = path;
        sites.erase(sites.lower_bound({int(rank.value()), 0}), sites.lower_bound({int(rank.value()) + 1, 0}));
    }
    if (recorded && faultsSaid.insert(path).second) {
        say(Severity::Warning,
            QStringLiteral("Rank %1 has replaced its program by %2 after it had called MPI.").arg(rankText(rank)).arg(path),
            QStringLiteral("Breakpoints work in the new program; its messages are not recorded."));
    }
}

void Session::Impl::loadLines(RankProcess* rank) {
    auto& lines = symbols[programOf[rank->rank().value()]];
    if (!lines) {
        lines = std::make_shared<SourceLines>();
    }
    if (!lines->loaded()) {
        lines->loadProcess(rank->view().pid);
    }
}

void Session::Impl::onJoined(RankProcess* rank) {
    loadLines(rank);
    if (approach != nullptr) {
        approach->joined(rank);
        return;
    }
    if (forJourney) { // which was cancelled before this one had come: nobody has asked for a run
        rank->keep();
        noteStop();
        return;
    }
    rank->gdb()->loadUserLibraries([](Status) {}); // first, so that breakpoints in them bind
    applyBreakpoints(rank, [this, guarded = QPointer<RankProcess>(rank)] {
        if (!guarded || guarded->ended()) {
            return;
        }
        if (guarded->stopped()) {
            return; // paused meanwhile
        }
        // Who asks for a start is to see the beginning of the run; what is spawned in it stops where there are breakpoints.
        const bool first = guarded->rank().value() < firstRanks();
        if (!holdsAtStart(guarded) && !(stopAtStart && first)) {
            if (first) {
                firstToGo.add(guarded);
            } else {
                guarded->letGo();
            }
        } else if (guarded->link()->status().mpiLinked) {
            guarded->runToMain();
        } else { // one that loads MPI late has long been in main: it is known from MPI_Init on
            guarded->look([this, guarded] {
                if (guarded && !guarded->ended() && !guarded->stopped()) {
                    guarded->keep();
                    noteStop();
                }
            });
        }
    });
}

} // namespace stopline::replay
