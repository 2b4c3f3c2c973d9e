// Symbols of libraries, and the stack, which needs them; gdb's printers for C++'s library, which come with
// them.
#include "gdb_session_impl.h"
#include "gdb_values.h"

#include <QLoggingCategory>
#include <QSet>

#include <algorithm>
#include <utility>

Q_DECLARE_LOGGING_CATEGORY(gdbmiLog)

namespace stopline::mi {

namespace {

constexpr int kMostRounds = 100; ///< libraries loaded for one stack

/// The console command that reads a library's symbols.
QByteArray loadCommand(const QString& path) {
    const QByteArray load = "sharedlibrary " + libraryPattern(path);
    // gdb's printers for vectors, strings and maps are a script that comes with libstdc++, in gdb's own
    // directory or beside the library. No other script is run.
    return isCxxLibrary(path) ? "with auto-load safe-path / -- with auto-load python-scripts on -- " + load
                              : load;
}

} // namespace

struct GdbSession::Impl::StackJob {
    int threadId = 0;
    int limit = 0;
    int asked = 0; ///< frames in this round; fewer than `limit` where gdb fails beyond
    int rounds = 0;
    quint64 resumes = 0;
    QSet<QString> tried;
    GdbSession::Handler<QVector<Frame>> handler;
};

void GdbSession::loadSymbols(const QString& libraryPattern, Handler<Unit> handler) {
    m_impl->request(Command{.text = Impl::consoleCommand("sharedlibrary " + libraryPattern.toUtf8()),
                            .deadline = m_impl->longDeadline()},
                    std::move(handler));
}

void GdbSession::stack(int threadId, int limit, Handler<QVector<Frame>> handler) {
    auto job = std::make_shared<Impl::StackJob>();
    job->threadId = threadId;
    job->limit = std::max(limit, 1);
    job->asked = job->limit;
    job->resumes = m_impl->resumes;
    job->handler = std::move(handler);
    m_impl->stackRound(job);
}

// gdb cannot unwind through a library whose symbols it has not read: there its frames are invented. So the
// library of the first frame without a name is loaded and the stack listed again.
void GdbSession::Impl::stackRound(const std::shared_ptr<StackJob>& job) {
    Command command{.text = "-stack-list-frames" + context(job->threadId, -1) + " 0 " +
                            QByteArray::number(job->asked - 1),
                    .kind = Command::Kind::Refresh,
                    .needsStopped = true};
    command.handler = [this, job](const Result<Answer>& answer) {
        if (answer) {
            stackAnswered(job, answer.value().record);
        } else if (answer.error().code == ErrorCode::GdbError && job->asked > 1) {
            job->asked /= 2; // a frame that cannot be read spoils the whole answer
            stackRound(job);
        } else {
            job->handler(answer.error());
        }
    };
    if (job->rounds == 0 && job->asked == job->limit) {
        queue.post(std::move(command));
    } else {
        queue.postFirst(std::move(command));
    }
}

void GdbSession::Impl::stackAnswered(const std::shared_ptr<StackJob>& job, const Record& record) {
    QVector<Frame> frames;
    for (const Value& value : record["stack"].children()) {
        frames.append(toFrame(value));
    }
    const auto blind = std::find_if(frames.begin(), frames.end(), [&](const Frame& frame) {
        return frame.function == QLatin1StringView("??") && !frame.from.isEmpty() &&
               !libraries.symbolsLoaded(frame.from) && !job->tried.contains(frame.from);
    });
    if (blind == frames.end() || ++job->rounds > kMostRounds) {
        job->handler(frames);
        return;
    }
    if (job->resumes != resumes) {
        job->handler(Error{ErrorCode::Cancelled, tr("The program was resumed.")});
        return;
    }
    const QString path = blind->from;
    job->tried.insert(path);
    Command load{
        .text = consoleCommand(loadCommand(path)), .kind = Command::Kind::Refresh, .needsStopped = true,
        .deadline = longDeadline()};
    load.handler = [this, job, path](const Result<Answer>& answer) {
        if (answer) {
            libraries.setSymbolsLoaded(path);
        } else if (answer.error().code != ErrorCode::GdbError) {
            job->handler(answer.error());
            return;
        }
        job->asked = job->limit;
        stackRound(job);
    };
    queue.postFirst(std::move(load));
}

void GdbSession::watchExec(Handler<Unit> handler) {
    // MI has no command for this catchpoint; the console's answer is not needed, as its number serves nobody.
    m_impl->request(Impl::consoleCommand("catch exec"), std::move(handler));
}

void GdbSession::loadUserLibraries(Handler<Unit> handler) {
    Impl& d = *m_impl;
    d.followLibraries = Impl::Follow::On;
    if (d.loadCatchpoint != 0) {
        d.loadUserLibrariesNow(std::move(handler));
        return;
    }
    Command command{.text =
                        "-catch-load " + QByteArray::fromStdString(quote(notSystemPattern().toStdString()))};
    command.handler = [&d, handler = std::move(handler)](const Result<Answer>& answer) {
        if (answer) {
            d.loadCatchpoint = answer.value().record["bkpt"]["number"].toInt();
            d.catchpointOn = d.loadCatchpoint != 0;
        } else if (answer.error().code != ErrorCode::GdbError) {
            if (handler) {
                handler(answer.error());
            }
            return;
        } else {
            qCWarning(gdbmiLog).noquote() << "no stop at loads:" << answer.error().text;
        }
        d.loadUserLibrariesNow(handler);
    };
    d.queue.post(std::move(command));
}

void GdbSession::Impl::loadUserLibrariesNow(GdbSession::Handler<Unit> handler) {
    loadNext(libraries.usersWithoutSymbols(), std::move(handler));
}

void GdbSession::Impl::loadNext(QStringList paths, GdbSession::Handler<Unit> handler) {
    if (paths.isEmpty()) {
        if (handler) {
            failLater([handler = std::move(handler)] { handler(Unit{}); });
        }
        return;
    }
    const QString path = paths.takeFirst();
    Command command{.text = consoleCommand(loadCommand(path)), .deadline = longDeadline()};
    command.handler = [this, path, paths,
                       handler = std::move(handler)](const Result<Answer>& answer) mutable {
        if (!answer && answer.error().code != ErrorCode::GdbError) {
            if (handler) {
                handler(answer.error());
            }
            return;
        }
        if (!answer) {
            qCWarning(gdbmiLog).noquote() << "symbols of" << path << "not read:" << answer.error().text;
        }
        libraries.setSymbolsLoaded(path); // or tried in vain: not again
        loadNext(std::move(paths), std::move(handler));
    };
    queue.postFirst(std::move(command));
}

// The program has just mapped a library of the user's and run none of its code. The outside world does not
// see this stop: load the symbols, so that breakpoints bind, and go on.
void GdbSession::Impl::userLibraryStop(const StopEvent& event) {
    hiddenStop = true;
    interruptWanted = false;
    loadUserLibrariesNow([this, event](const Status&) {
        if (!hiddenStop || state != GdbState::Running) {
            return;
        }
        if (interruptWanted) {
            interruptedBetween(event);
            return;
        }
        Command command{.text = "-exec-continue", .kind = Command::Kind::Resume};
        command.handler = [this, event](const Result<Answer>& answer) {
            hiddenStop = false;
            if (!answer && state == GdbState::Running) {
                interruptedBetween(event);
            } else if (std::exchange(interruptWanted, false)) {
                // It may have reached gdb before this resume and so have done nothing.
                request(Command{.text = "-exec-interrupt", .kind = Command::Kind::Urgent}, {});
            }
        };
        queue.postFirst(std::move(command));
    });
}

void GdbSession::Impl::interruptedBetween(const StopEvent& event) {
    hiddenStop = false;
    interruptWanted = false;
    const QPointer<GdbSession> alive(q);
    setState(GdbState::Stopped);
    if (alive) {
        emit q->stopped(event);
    }
}

void GdbSession::Impl::loadPrinters() {
    if (const QString path = libraries.cxxWithoutSymbols(); !path.isEmpty()) {
        libraries.setSymbolsLoaded(path); // or tried in vain: not again
        request(Command{.text = consoleCommand(loadCommand(path)), .deadline = longDeadline()}, [path](const Status& status) {
            if (!status) {
                qCInfo(gdbmiLog).noquote() << "no printers with" << path << ":" << status.error().text;
            }
        });
    }
}

void GdbSession::loadLibcDebug(Handler<Unit> handler) {
    Impl& d = *m_impl;
    QStringList again;
    for (const Library& library : d.libraries.all()) {
        if (library.symbolsLoaded) {
            again.append(library.path);
        }
    }
    d.request(QByteArray("-gdb-set debug-file-directory /usr/lib/debug"), {});
    d.request(Impl::consoleCommand("nosharedlibrary"),
              [&d, again, handler = std::move(handler)](const Status& status) mutable {
                  if (!status) {
                      if (handler) {
                          handler(status);
                      }
                      return;
                  }
                  d.loadNext(again, std::move(handler));
              });
}

} // namespace stopline::mi
