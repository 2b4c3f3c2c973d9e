#include "launch_plan.h"
#include "session_impl.h"

#include <algorithm>

namespace stopline::replay {

Session::Session(QObject* parent) : QObject(parent), m_impl(std::make_unique<Impl>(this)) {}

Session::~Session() {
    delete m_impl->approach;
    m_impl->approach = nullptr;
    m_impl->endJob();
    if (m_impl->incarnations > 0) {
        qDeleteAll(findChildren<Job*>(Qt::FindDirectChildrenOnly)); // they end with what they have started
        removeLaunchersParent();
    }
}

void Session::setLaunch(const LaunchSpec& spec) {
    m_impl->spec = spec;
    m_impl->leaveRecording();
    emit verbsChanged();
}

const LaunchSpec& Session::launch() const {
    return m_impl->spec;
}

int Session::rankCount() const {
    return m_impl->ranks;
}

RankProcess* Session::Impl::process(RankId rank) const {
    return job ? job->rank(rank) : nullptr;
}

std::vector<RankProcess*> Session::Impl::processes() const {
    std::vector<RankProcess*> all;
    for (int i = 0; i < ranks; ++i) {
        if (RankProcess* one = process(RankId(i)); one != nullptr) {
            all.push_back(one);
        }
    }
    return all;
}

std::vector<RankProcess*> Session::Impl::focusRanks() const {
    std::vector<RankProcess*> chosen;
    for (RankProcess* rank : processes()) {
        if (focus.contains(rank->rank())) {
            chosen.push_back(rank);
        }
    }
    return chosen;
}

/// A rank that undo or redo has brought back is held as at a stopline; what it is shown to stand for is what it stood
/// there for before.
StopWhy Session::Impl::shownWhy(const RankView& view) const {
    const auto index = std::size_t(view.rank.value());
    const bool held = view.phase == RankPhase::Stopped && view.why == StopWhy::Stopline && approach == nullptr;
    return held && index < targets.size() && targets[index].place == view.place ? targets[index].why : view.why;
}

RankView Session::rank(RankId rank) const {
    RankView view;
    if (const RankProcess* process = m_impl->process(rank); process != nullptr) {
        view = process->view();
    } else if (rank.value() >= 0 && std::size_t(rank.value()) < m_impl->lastViews.size()) {
        view = m_impl->lastViews[std::size_t(rank.value())];
    }
    view.rank = rank;
    if (view.phase == RankPhase::Stopped && m_impl->locating.count(rank.value()) != 0) {
        view.phase = RankPhase::Running;
    }
    const Timeline& timeline = m_impl->recording->timeline();
    if (rank.value() < timeline.rankCount() && view.place.event.value() > 0 &&
        view.place.event <= timeline.lastEvent(rank)) {
        const trace::EventDetails& details = timeline.details(rank, timeline.eventDetails(rank, view.place.event));
        const bool begin = details.kind == trace::EventKind::Begin;
        if (begin) {
            view.callName = functionText(details.function);
        }
        const bool shows = view.phase == RankPhase::Stopped || view.phase == RankPhase::Holding ||
                           (view.phase == RankPhase::Running && view.insideMpi) || m_impl->opened != nullptr;
        if (begin && view.phase == RankPhase::Running && view.insideMpi) {
            view.location = {}; // of its last stop, which it has left
        }
        if (!view.location.known() && shows && (begin || view.why == StopWhy::Stopline)) {
            view.location = m_impl->siteOf(rank, details.site);
        }
    }
    view.why = m_impl->shownWhy(view);
    return view;
}

bool Session::jobExists() const {
    return m_impl->alive();
}

std::uint32_t Session::launches() const {
    return m_impl->incarnations;
}

bool Session::allStopped() const {
    for (RankProcess* rank : m_impl->processes()) {
        const bool settled = rank->stopped() && m_impl->locating.count(rank->rank().value()) == 0;
        if (!settled && !rank->ended() && rank->view().phase != RankPhase::Failed) {
            return false;
        }
    }
    return m_impl->alive();
}

Cut Session::places() const {
    Cut cut(std::size_t(m_impl->ranks));
    for (int i = 0; i < m_impl->ranks; ++i) {
        cut[std::size_t(i)] = rank(RankId(i)).place;
    }
    return cut;
}

void Session::setFocus(Focus focus) {
    if (focus.rank) {
        m_impl->shown = *focus.rank;
    }
    if (!(m_impl->focus == focus)) {
        m_impl->focus = focus;
        emit focusChanged();
        emit verbsChanged();
    } else {
        emit focusChanged();
    }
}

Focus Session::focus() const {
    return m_impl->focus;
}

RankId Session::shownRank() const {
    return m_impl->shown;
}

void Session::setShownRank(RankId rank) {
    m_impl->shown = rank;
    emit focusChanged();
}

void Session::setStopAtStart(bool stop) {
    m_impl->stopAtStart = stop;
}

const Timeline& Session::timeline() const {
    return m_impl->recording->timeline();
}

const QVector<Session::StopSummary>& Session::stops() const {
    return m_impl->stopList;
}

} // namespace stopline::replay
