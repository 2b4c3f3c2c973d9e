// Waiting in benchmarks that drive a session: the event loop turns meanwhile.
#pragma once

#include <QDeadlineTimer>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QTimer>

#include <algorithm>
#include <functional>

namespace stopline::bench {

/// False when the time runs out. The longest time between two turns of the event loop, in ms, goes into `longest`.
inline bool waitFor(const std::function<bool()>& done, int seconds, double* longest = nullptr) {
    const QDeadlineTimer deadline(seconds * 1000);
    QElapsedTimer turn;
    turn.start();
    while (!done()) {
        if (deadline.hasExpired()) {
            return false;
        }
        QEventLoop loop;
        QTimer::singleShot(1, &loop, &QEventLoop::quit);
        loop.exec();
        const double took = double(turn.nsecsElapsed()) * 1e-6;
        turn.restart();
        if (longest != nullptr) {
            *longest = std::max(*longest, took);
        }
    }
    return true;
}

} // namespace stopline::bench
