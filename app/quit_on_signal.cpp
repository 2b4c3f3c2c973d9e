#include "quit_on_signal.h"

#include "../replay/session.h"

#include <QPointer>
#include <QSocketNotifier>
#include <QTimer>

#include <array>
#include <csignal>
#include <cstdio>
#include <sys/socket.h>
#include <unistd.h>

namespace stopline::app {

namespace {

constexpr int kPatienceMs = 10'000;
std::array<int, 2> channel{-1, -1}; ///< a handler may only write; the event loop reads

void onSignal(int number) {
    std::signal(number, SIG_DFL); // the next one is obeyed at once
    const char byte = static_cast<char>(number);
    if (::write(channel[0], &byte, 1) != 1) {
        ::_exit(128 + number);
    }
}

[[noreturn]] void leave(int number) {
    std::fflush(nullptr);
    ::_exit(128 + number);
}

} // namespace

void quitOnSignals(replay::Session* session) {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel.data()) != 0) {
        return; // signals then do what they always do
    }
    auto* notifier = new QSocketNotifier(channel[1], QSocketNotifier::Read, session);
    QObject::connect(notifier, &QSocketNotifier::activated, session, [session = QPointer<replay::Session>(session)] {
        char number = 0;
        if (::read(channel[1], &number, 1) != 1) {
            return;
        }
        if (session.isNull() || !session->jobExists()) {
            leave(number);
        }
        QObject::connect(session, &replay::Session::jobEnded, session, [number] { leave(number); });
        QTimer::singleShot(kPatienceMs, session, [number] { leave(number); });
        session->kill();
    });
    for (const int number : {SIGTERM, SIGHUP, SIGINT}) {
        // One that was ignored when the program was started (nohup) stays so.
        if (std::signal(number, onSignal) == SIG_IGN) {
            std::signal(number, SIG_IGN);
        }
    }
}

} // namespace stopline::app
