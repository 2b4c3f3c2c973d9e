// For tests that drive a session themselves: waiting, and telling where the ranks are.
#pragma once

#include "../../replay/session.h"

#include <QDeadlineTimer>
#include <QEventLoop>
#include <QTextStream>
#include <QTimer>

#include <functional>

namespace stopline::test {

inline QTextStream out(stdout);

/// Lets the session work until `done` or the time is up; true when done.
inline bool waitFor(const std::function<bool()>& done, int seconds) {
    const QDeadlineTimer deadline(seconds * 1000);
    while (!done()) {
        if (deadline.hasExpired()) {
            return false;
        }
        QEventLoop loop;
        QTimer::singleShot(5, &loop, &QEventLoop::quit);
        loop.exec();
    }
    return true;
}

/// One line for each rank: its state and its place.
inline void printStates(const replay::Session& session) {
    for (int i = 0; i < session.rankCount(); ++i) {
        const replay::RankView view = session.rank(RankId(i));
        out << "    rank " << i << ": " << replay::stateText(view) << ", "
            << QString::fromStdString(session.timeline().describe(RankId(i), view.place)) << Qt::endl;
    }
}

/// Prints warnings and errors of the session from here on.
inline void printMessages(replay::Session& session) {
    QObject::connect(&session, &replay::Session::message, &session,
                     [](replay::Severity severity, const QString& text, const QString& remedy) {
                         if (severity != replay::Severity::Info) {
                             out << "    " << text << ' ' << remedy << Qt::endl;
                         }
                     });
}

/// Ends what is left of the job.
inline void endJob(replay::Session& session) {
    session.kill();
    waitFor([&] { return !session.jobExists(); }, 10);
}

} // namespace stopline::test
