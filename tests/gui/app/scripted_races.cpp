// What a scripted session says of races and of executions.
#include "scripted_session_impl.h"

namespace stopline::replay {

const RaceAnalysis& Session::races() const {
    m_impl->analysis.update(*m_impl->timeline);
    return m_impl->analysis;
}

void Session::lookForRaces() {
    emit racesChanged();
}

const std::vector<Race>& Session::foundRaces() const {
    m_impl->found = races().races();
    return m_impl->found;
}

QString Session::noRacesText() const {
    return QStringLiteral("nothing raced");
}

QString Session::whyNotNextRace() const {
    return m_impl->noNextRace;
}

bool Session::runsToNextRace() const {
    return false;
}

void Session::stopAtNextRace() {
    m_impl->calls << QStringLiteral("next race");
    const std::vector<Race> all = races().races();
    if (!all.empty()) {
        emit raceReached(all.front().call);
    }
}

void Session::takeInstead(CallRef call, CallRef send, MaybeCall) {
    m_impl->calls << QStringLiteral("take %1.%2 %3.%4")
                         .arg(call.rank.value())
                         .arg(call.call.value())
                         .arg(send.rank.value())
                         .arg(send.call.value());
    m_impl->countLaunch();
}

QVector<Session::Execution> Session::executions() const {
    return m_impl->executions;
}

void Session::showExecution(int number) {
    m_impl->calls << QStringLiteral("execution %1").arg(number);
    emit operationFinished(true, {});
}

QVector<Session::ExecutionDifference> Session::differences(int number) const {
    return m_impl->differences.value(number);
}

} // namespace stopline::replay
