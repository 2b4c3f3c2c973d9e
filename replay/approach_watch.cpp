// Watching ranks on their way: where they are, and who waits for whom.
#include "approach.h"
#include "words.h"

#include <algorithm>

namespace stopline::replay {

namespace {
// How much less often than where they are what ranks have executed is read and compared, which takes processors from
// them. Nothing is decided by time, except that a rank that has not moved for long is reported where it is.
constexpr int kReadEvery = 10;
constexpr int kTellEvery = 20; ///< ticks: once a second
constexpr qint64 kStillMs = 60'000;
constexpr qint64 kBrokenMs = 3000; ///< the same when another rank has ended on its way
constexpr qint64 kSilentMs = 20'000;
constexpr qint64 kReleaseAgainMs = 1000;
} // namespace

void Approach::tick() {
    if (m_finished || m_cancelling) {
        return;
    }
    looked();
    ++m_ticks;
    if (m_ticks % kTellEvery == 0) {
        emit progressed(); // how long it takes
    }
    for (Traveller& traveller : m_travellers) {
        const bool settling = traveller.leg == Leg::Releasing || traveller.leg == Leg::Pausing;
        const bool joining = traveller.leg == Leg::Absent;
        const QElapsedTimer& since = settling ? m_settling : traveller.still;
        if ((settling || joining) && traveller.process != nullptr && since.isValid() && since.elapsed() > kSilentMs && !traveller.warned) {
            traveller.warned = true;
            emit silent(traveller.process->rank());
        }
        // Heard twice is no harm: the library takes it only while it holds.
        if (traveller.leg == Leg::Releasing && traveller.process != nullptr && !traveller.process->ended() &&
            traveller.process->link()->status().state == trace::RankState::Arrived && traveller.still.elapsed() > kReleaseAgainMs) {
            traveller.still.restart();
            traveller.process->release();
        }
        if (traveller.process == nullptr || traveller.process->ended() || traveller.looking ||
            (traveller.leg != Leg::Travelling && traveller.leg != Leg::Inside && traveller.leg != Leg::Stuck)) {
            continue;
        }
        traveller.process->link()->poll();
        if (m_ticks % kReadEvery != 0) {
            continue;
        }
        traveller.looking = true; // one that does not answer keeps nobody else waiting
        traveller.process->look([self = QPointer<Approach>(this), process = traveller.process] {
            if (self && process) {
                self->of(process).looking = false;
            }
        });
    }
}

/// Where a rank on its way is, as its agent last said; one that stands is where it was seen to stop.
Place Approach::placeOf(const RankProcess& process) {
    if (process.stopped() || process.ended()) {
        return process.view().place;
    }
    const agent::RankStatus& status = process.link()->status();
    return {status.event, !status.inHold && (status.insideCall || status.pollOpen)};
}

void Approach::looked() {
    if (m_finished || m_released || m_cancelling) {
        return;
    }
    const Timeline& timeline = m_recording.timeline();
    Cut cut(m_travellers.size());
    for (std::size_t i = 0; i < cut.size(); ++i) {
        const RankProcess* process = m_travellers[i].process.data();
        if (process != nullptr) {
            cut[i] = placeOf(*process);
            // What the recording does not hold yet cannot be asked for.
            cut[i].event = std::min(cut[i].event, timeline.lastEvent(RankId(std::int32_t(i))));
        }
    }
    for (std::size_t i = 0; i < m_travellers.size(); ++i) {
        Traveller& traveller = m_travellers[i];
        if (traveller.leg != Leg::Travelling && traveller.leg != Leg::Inside && traveller.leg != Leg::Stuck) {
            continue;
        }
        const agent::RankStatus& status = traveller.process->link()->status();
        if (status.event != traveller.seen) {
            traveller.seen = status.event;
            traveller.still.restart();
        }
        const Target& target = m_targets[i];
        traveller.leg = Leg::Travelling;
        traveller.reason.clear();
        if (!status.insideCall || status.inHold) {
            continue;
        }
        if (target.runOn.kind == RunOn::Kind::Inside && status.event == target.place.event) {
            traveller.leg = Leg::Inside;
            continue;
        }
        const auto obstacle = timeline.blockedBy(cut, RankId(std::int32_t(i)));
        if (!obstacle) {
            continue;
        }
        const auto& partner = m_travellers[std::size_t(std::max(0, obstacle->waitsFor.rank.value()))];
        if (partner.leg == Leg::Arrived || partner.leg == Leg::There || partner.leg == Leg::Elsewhere) {
            traveller.leg = Leg::Stuck;
            traveller.reason = QString::fromStdString(obstacle->reason);
        }
    }
    const qint64 longest = m_broken ? kBrokenMs : kStillMs;
    for (Traveller& traveller : m_travellers) {
        if (traveller.leg == Leg::Travelling && traveller.still.isValid() && traveller.still.elapsed() > longest) {
            traveller.leg = Leg::Stuck;
            traveller.reason = QStringLiteral("rank %1 has recorded no event for %2 s; it is shown where it is")
                                   .arg(rankText(traveller.process->rank()))
                                   .arg(longest / 1000);
        }
    }
    check();
}

} // namespace stopline::replay
