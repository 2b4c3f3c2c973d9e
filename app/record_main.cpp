#include "record_main.h"

#include "batch.h"

#include "../replay/recording_job.h"

#include <QCoreApplication>
#include <QSocketNotifier>

#include <array>
#include <csignal>
#include <cstdio>
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
void passSignals(replay::RecordingJob* job) {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel.data()) != 0) {
        return; // signals then do what they always do
    }
    auto* notifier = new QSocketNotifier(channel[1], QSocketNotifier::Read, job);
    QObject::connect(notifier, &QSocketNotifier::activated, job, [job] {
        Caught caught{};
        if (::read(channel[1], &caught, sizeof caught) == static_cast<ssize_t>(sizeof caught) &&
            !caught.fromTerminal) {
            job->signalLauncher(caught.signal);
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

int runRecord(const CommandLine& line) {
    replay::RecordingJob job(line.launch, replay::Installation::find(), line.recordFile);
    QObject::connect(&job, &replay::RecordingJob::said, &say);
    int code = kScriptFailed;
    QObject::connect(&job, &replay::RecordingJob::finished, &job, [&code](int exitCode) {
        code = exitCode;
        QCoreApplication::quit();
    });
    passSignals(&job);
    if (const QString wrong = job.start(); !wrong.isEmpty()) {
        say(wrong);
        return kScriptWrong;
    }
    QCoreApplication::exec();
    return code;
}

} // namespace stopline::app
