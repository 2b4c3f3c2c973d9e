#include "record_main.h"

#include "batch.h"

#include "../replay/recording_job.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QSocketNotifier>
#include <QTimer>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

namespace stopline::app {

namespace {

std::array<int, 2> channel{-1, -1}; ///< a handler may only write; the event loop reads

struct Caught {
    int signal;
    bool fromTerminal; ///< then the launcher, which is in the same group, has got it as well
};

void onSignal(int number, siginfo_t* info, void*) {
    const Caught caught{number, info->si_code == SI_KERNEL};
    if (::write(channel[0], &caught, sizeof caught) != static_cast<ssize_t>(sizeof caught)) {
        ::_exit(128 + number);
    }
}

/// Signals end the job and not the recorder, which then writes what there is.
void passSignals(replay::RecordingJob* job, bool* interrupted) {
    for (int& end : channel) { // of the run before
        if (end >= 0) {
            ::close(end);
            end = -1;
        }
    }
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel.data()) != 0) {
        return; // signals then do what they always do
    }
    auto* notifier = new QSocketNotifier(channel[1], QSocketNotifier::Read, job);
    QObject::connect(notifier, &QSocketNotifier::activated, job, [job, interrupted] {
        Caught caught{};
        if (::read(channel[1], &caught, sizeof caught) == static_cast<ssize_t>(sizeof caught)) {
            *interrupted = true;
            job->setEndedBy(QStringLiteral("killed when stopline was interrupted by signal %1 (%2)")
                                .arg(caught.signal)
                                .arg(QString::fromLocal8Bit(::strsignal(caught.signal))));
            if (!caught.fromTerminal) {
                job->signalLauncher(caught.signal);
            }
        }
    });
    struct sigaction action {};
    action.sa_sigaction = onSignal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (const int number : {SIGTERM, SIGHUP, SIGINT, SIGQUIT}) {
        struct sigaction before {};
        // One that was ignored when the program was started (nohup) stays so.
        if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
            ::sigaction(number, &action, nullptr);
        }
    }
}

void say(const QString& text) {
    std::fprintf(stderr, "stopline: %s\n", qPrintable(text));
}

} // namespace

namespace {

/// How one run ended.
struct RunEnd {
    int code = kScriptFailed;
    bool hung = false;
    bool interrupted = false; ///< by a signal to us
    bool started = false;
    bool recorded = false; ///< a rank has called MPI
    QString failure;
};

RunEnd runOnce(const CommandLine& line, const QString& file, quint64 jitter) {
    RunEnd end;
    replay::RecordingJob job(line.launch, replay::Installation::find(), file);
    QObject::connect(&job, &replay::RecordingJob::said, &say);
    QObject::connect(&job, &replay::RecordingJob::finished, &job, [&end](int exitCode) {
        end.code = exitCode;
        QCoreApplication::quit();
    });
    passSignals(&job, &end.interrupted);
    job.setJitter(jitter);
    job.setFindRaces(line.findRaces);
    job.setFixedAddresses(line.fixedAddresses);
    if (const QString wrong = job.start(); !wrong.isEmpty()) {
        say(wrong);
        end.code = kScriptWrong;
        return end;
    }
    end.started = true;
    QTimer watch;
    QElapsedTimer still;
    quint64 seen = 0;
    if (line.untilFail > 0) {
        still.start();
        QObject::connect(&watch, &QTimer::timeout, &job, [&] {
            if (const quint64 now = job.eventsSeen(); now != seen) {
                seen = now;
                still.start();
            } else if (still.hasExpired(qint64(line.hangSeconds) * 1000)) {
                job.setEndedBy(QStringLiteral("killed by stopline after %1 s without a new call").arg(line.hangSeconds));
                // Asked first; a launcher that does not listen is ended.
                job.signalLauncher(end.hung ? SIGKILL : SIGTERM);
                end.hung = true;
                still.start();
            }
        });
        watch.start(500);
    }
    QCoreApplication::exec();
    end.recorded = job.eventsSeen() != 0;
    end.failure = end.hung ? QStringLiteral("no rank has begun or ended an MPI call for %1 s (polls that find nothing do not count)").arg(line.hangSeconds) : job.failure();
    if (end.failure.isEmpty() && end.code != 0) {
        end.failure = QStringLiteral("the launcher ended with code %1").arg(end.code);
    }
    return end;
}

QString seedText(quint64 jitter) {
    return jitter == 0 ? QString() : QStringLiteral(" (--jitter %1)").arg(jitter);
}

/// Runs until one fails. What a run that went well has recorded is not kept.
int runUntilFail(const CommandLine& line) {
    const QString trial = line.recordFile + QStringLiteral(".trial");
    for (int run = 1; run <= line.untilFail; ++run) {
        const quint64 jitter = line.jitter == 0 ? 0 : line.jitter + quint64(run - 1);
        const RunEnd end = runOnce(line, trial, jitter);
        if (!end.started) {
            return end.code;
        }
        if (!end.interrupted && end.failure.isEmpty()) {
            QFile::remove(trial);
            continue;
        }
        const bool other = QFile::exists(line.recordFile);
        if (!end.recorded) {
            QFile::remove(trial);
            say(QStringLiteral("Run %1: no rank has called MPI: nothing is recorded%2.")
                    .arg(run)
                    .arg(other ? QStringLiteral(", and %1 stays as it was").arg(line.recordFile) : QString()));
            return end.code != 0 ? end.code : kScriptFailed;
        }
        if (other) {
            QFile::remove(line.recordFile);
        }
        if (!QFile::rename(trial, line.recordFile)) {
            say(QStringLiteral("The recording could not be given its name %1; it is %2.").arg(line.recordFile, trial));
        }
        if (end.interrupted) {
            say(QStringLiteral("Interrupted in run %1 of %2%3: its recording is kept. stopline open %4 shows how far it was.")
                    .arg(run)
                    .arg(line.untilFail)
                    .arg(seedText(jitter), line.recordFile));
        } else {
            say(QStringLiteral("Run %1 of %2 failed%3: %4. stopline open %5 shows it; Replay run there executes it again.")
                    .arg(run)
                    .arg(line.untilFail)
                    .arg(seedText(jitter), end.failure, line.recordFile));
        }
        return end.code != 0 ? end.code : kScriptFailed;
    }
    say(line.untilFail == 1 ? QStringLiteral("One run, and it did not fail: nothing is kept.")
                            : QStringLiteral("%1 runs, and none of them failed: nothing is kept.").arg(line.untilFail));
    return 0;
}

} // namespace

int runRecord(const CommandLine& line) {
    if (line.untilFail > 0) {
        return runUntilFail(line);
    }
    if (line.jitter != 0) {
        say(QStringLiteral("Calls are delayed at random, one in eight by up to 4 ms: --jitter %1.").arg(line.jitter));
    }
    return runOnce(line, line.recordFile, line.jitter).code;
}

} // namespace stopline::app
