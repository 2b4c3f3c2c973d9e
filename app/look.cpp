#include "look.h"

#include <QPointer>

#include <algorithm>

namespace stopline::app {

using namespace replay;

namespace {
constexpr int kDecisionMs = 200;
}

bool isErrorStop(StopWhy why) {
    switch (why) {
    case StopWhy::Signal:
    case StopWhy::Abort:
    case StopWhy::MpiError:
    case StopWhy::ExitNoFinalize:
    case StopWhy::Departure:
        return true;
    default:
        return false;
    }
}

bool isOwnStop(StopWhy why) {
    return isErrorStop(why) || why == StopWhy::Breakpoint || why == StopWhy::Watchpoint ||
           why == StopWhy::Step;
}

Look::Look(Session* session, QObject* parent) : QObject(parent), m_session(session) {
    m_decision.setSingleShot(true);
    m_decision.setInterval(kDecisionMs);
    connect(&m_decision, &QTimer::timeout, this, &Look::follow);
    connect(session, &Session::rankChanged, this, [this](RankId rank) {
        noteStop(rank);
        if (rank == m_session->shownRank()) {
            refresh();
        }
    });
    connect(session, &Session::ranksChanged, this, [this] {
        for (int rank = 0; rank < m_session->rankCount(); ++rank) {
            noteStop(RankId{rank});
        }
        refresh();
    });
    connect(session, &Session::focusChanged, this, &Look::refresh);
    connect(session, &Session::stopped, this, [this] {
        ++m_stop;
        follow();
        refresh();
    });
    // A rank that is brought back to its breakpoint has not run into it: on a journey the shown rank stays
    // the user's.
    connect(session, &Session::operationChanged, this, [this] {
        const bool travels = !m_session->operation().isEmpty();
        if (m_travels && !travels) {
            for (int rank = 0; rank < m_session->rankCount(); ++rank) {
                noteStop(RankId{rank}); // as they stand now is how they are known
            }
        }
        if (m_travels != travels) {
            m_travels = travels;
            m_asked = false;
            refresh();
        }
    });
    connect(session, &Session::timelineReplaced, this, [this] { selectCall(std::nullopt); });
}

/// A rank that stops anew at a breakpoint or because something went wrong may become the shown one. The
/// decision waits a moment: ranks that run into the same breakpoint do so within milliseconds, and the shown
/// one then stays.
void Look::noteStop(RankId rank) {
    const RankView view = m_session->rank(rank);
    if (view.phase != RankPhase::Stopped) {
        m_stopped.remove(rank.value());
        m_candidates.remove(rank.value());
        return;
    }
    const auto before = m_stopped.constFind(rank.value());
    const bool anew = before == m_stopped.cend() || *before != view.why;
    m_stopped.insert(rank.value(), view.why);
    if (anew && !m_travels && isOwnStop(view.why) && view.why != StopWhy::Step) {
        m_candidates.insert(rank.value());
        m_decision.start();
    }
}

void Look::showRank(RankId rank) {
    if (m_session->focus().rank && *m_session->focus().rank != rank) {
        m_session->setFocus({rank});
    }
    m_asked = true;
    m_session->setShownRank(rank);
    refresh();
}

/// Which rank to show after a stop: one that went wrong first, then one at a breakpoint, as long as the shown
/// rank has no such reason itself.
void Look::follow() {
    m_decision.stop();
    QVector<int> candidates(m_candidates.cbegin(), m_candidates.cend());
    m_candidates.clear();
    std::sort(candidates.begin(), candidates.end());
    const RankView shown = m_session->rank(m_session->shownRank());
    const bool shownHasReason = shown.phase == RankPhase::Stopped && isOwnStop(shown.why);
    const bool shownIsError = shownHasReason && isErrorStop(shown.why);
    std::optional<RankId> best;
    bool bestIsError = false;
    for (const int rank : candidates) {
        const RankView view = m_session->rank(RankId{rank});
        if (view.rank != shown.rank && (!best || (isErrorStop(view.why) && !bestIsError))) {
            best = view.rank;
            bestIsError = isErrorStop(view.why);
        }
    }
    if (!best || shownIsError || (shownHasReason && !bestIsError)) {
        return;
    }
    if (!m_session->focus().contains(*best)) {
        emit otherRankStopped(*best);
        return;
    }
    m_session->setShownRank(*best);
}

/// Where a rank stops on the way of a journey is not where it was to be taken: it is shown when all are
/// there, unless the user asks for a rank meanwhile.
void Look::refresh() {
    const RankView view = m_session->rank(m_session->shownRank());
    const bool stopped = view.phase == RankPhase::Stopped && (!m_travels || m_asked);
    const Standing now{
        view.rank,           stopped, view.pid, view.place, view.why, view.location.file, view.location.line,
        stopped ? m_stop : 0};
    if (now == m_standing) {
        return;
    }
    const bool otherRank = now.rank != m_standing.rank;
    m_standing = now;
    if (!now.stopped) {
        ++m_request; // answers under way are about a stop that is over
        const bool gone = otherRank || view.phase != RankPhase::Running;
        if (gone) {
            m_frames.clear();
            m_frame = -1;
        }
        m_stale = !m_frames.isEmpty();
        m_reading = false;
        m_problem.clear();
        emit stackChanged();
        emit frameChanged();
        emit executionGone();
        return;
    }
    if (view.location.known()) {
        emit executionAt(view.location, true); // at once; the stack takes gdb a moment
    }
    if (otherRank) { // nothing of the one shown before may be taken for this one's
        m_frames.clear();
        m_frame = -1;
        m_problem.clear();
    }
    loadStack();
    if (otherRank) {
        emit stackChanged();
        emit frameChanged();
    }
    emit readingStarted();
}

void Look::loadStack() {
    const quint64 request = ++m_request;
    m_stale = true;
    m_reading = true;
    m_session->stack(m_standing.rank, [self = QPointer(this), request](Result<QVector<mi::Frame>> answer) {
        if (!self || self->m_request != request) {
            return;
        }
        self->m_stale = false;
        self->m_reading = false;
        self->m_frames = answer ? answer.value() : QVector<mi::Frame>{};
        self->m_problem = answer ? QString() : answer.error().text;
        const int user = self->m_session->rank(self->m_standing.rank).userFrame;
        self->m_frame = user;
        if (user < 0 || user >= self->m_frames.size()) {
            const auto first = std::find_if(self->m_frames.begin(), self->m_frames.end(),
                                            [](const mi::Frame& f) { return !Session::isInternalFrame(f); });
            self->m_frame = self->m_frames.isEmpty() ? -1
                            : first == self->m_frames.end()
                                ? 0
                                : static_cast<int>(first - self->m_frames.begin());
        }
        emit self->stackChanged();
        self->announceFrame();
    });
}

void Look::selectFrame(int level) {
    if (level < 0 || level >= m_frames.size() || level == m_frame) {
        return;
    }
    m_frame = level;
    announceFrame();
}

void Look::announceFrame() {
    emit frameChanged();
    if (m_frame < 0 || m_stale) {
        return;
    }
    const mi::Frame& frame = m_frames.at(m_frame);
    if (frame.line <= 0) {
        return;
    }
    const bool innermost = std::all_of(m_frames.begin(), m_frames.begin() + m_frame,
                                       [](const mi::Frame& f) { return Session::isInternalFrame(f); });
    emit executionAt({frame.fullName.isEmpty() ? frame.file : frame.fullName, frame.line, frame.function, {}},
                     innermost);
}

void Look::selectCall(std::optional<CallRef> call, bool showSource) {
    if (call != m_call) {
        m_call = call;
        emit callChanged();
    }
    if (call && showSource) {
        const SourceLocation location = m_session->sourceOf(*call);
        if (location.known()) {
            emit callSourceWanted(location);
        }
    }
}

} // namespace stopline::app
