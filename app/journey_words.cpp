#include "journey_words.h"

#include "text.h"

#include <algorithm>

namespace stopline::app {

using namespace replay;

namespace {

constexpr qsizetype kMostPlaces = 4; ///< beyond these it is no sentence any more

} // namespace

JourneyWords::JourneyWords(Session* session, QObject* parent) : QObject(parent), m_session(session) {
    // Where ranks that ran are is known only when they have been asked, with which the operation begins.
    connect(session, &Session::operationChanged, this, [this] {
        if (m_verb && !m_begun && !m_session->operation().isEmpty()) {
            m_begun = true;
            m_before = stands();
        }
    });
}

QVector<JourneyWords::Stand> JourneyWords::stands() const {
    QVector<Stand> all;
    for (int rank = 0; rank < m_session->rankCount(); ++rank) {
        const RankView view = m_session->rank(RankId{rank});
        all.append({view.phase, view.place, view.location.file, view.location.line});
    }
    return all;
}

void JourneyWords::begin(Verb verb) {
    m_verb.reset();
    std::optional<HistoryEntry> entry;
    switch (verb) {
    case Verb::Undo:
        entry = m_session->nextUndo();
        break;
    case Verb::Redo:
        entry = m_session->nextRedo();
        break;
    case Verb::Rollback:
    case Verb::Forward:
    case Verb::Go:
        break;
    default:
        return;
    }
    m_verb = verb;
    // Of a choice its note says more than that the job ran.
    m_command = !entry ? QString() : entry->verb == Verb::Run && !entry->note.isEmpty() ? entry->note : verbName(entry->verb);
    m_execution = shownExecution();
    m_before = stands();
    m_begun = false;
}

int JourneyWords::shownExecution() const {
    const QVector<Session::Execution> all = m_session->executions();
    const auto shown = std::find_if(all.begin(), all.end(), [](const Session::Execution& one) { return one.shown; });
    return shown == all.end() ? 0 : shown->number;
}

/// Where the rank is now; empty when it has stayed where it was.
QString JourneyWords::where(int rank, const Stand& before) const {
    const RankView view = m_session->rank(RankId{rank});
    if (view.phase == RankPhase::Exited || view.phase == RankPhase::Failed || view.phase == RankPhase::Lost) {
        return before.phase == view.phase ? QString() : stateText(view);
    }
    if (view.place != before.place || before.phase == RankPhase::NotStarted) {
        return placeText(m_session->timeline(), view);
    }
    const bool moved =
        view.location.known() && (view.location.line != before.line || view.location.file != before.file);
    return moved ? tr("at %1").arg(locationText(view.location)) : QString();
}

QString JourneyWords::end() {
    if (!m_verb) {
        return {};
    }
    const Verb verb = *std::exchange(m_verb, std::nullopt);
    QString text = verb == Verb::Undo       ? tr("Undone")
                   : verb == Verb::Redo     ? tr("Done again")
                   : verb == Verb::Rollback ? tr("Rolled back")
                   : verb == Verb::Forward  ? tr("Gone forward")
                                            : tr("At the stopline");
    if (!m_command.isEmpty()) {
        text += QStringLiteral(" (%1)").arg(m_command);
    }
    if (const int now = shownExecution(); now != m_execution) {
        return tr("%1: execution %2 is on show").arg(text).arg(now); // its ranks are not those that were
    }
    QVector<int> stayed;
    QVector<QPair<QString, QVector<int>>> moved; // by where they are now
    bool started = false;
    for (int rank = 0; rank < m_session->rankCount(); ++rank) {
        started = started || m_session->rank(RankId{rank}).phase != RankPhase::NotStarted;
        const QString now = where(rank, m_before.value(rank));
        if (now.isEmpty()) {
            stayed << rank;
            continue;
        }
        auto same =
            std::find_if(moved.begin(), moved.end(), [&](const auto& group) { return group.first == now; });
        if (same == moved.end()) {
            same = moved.insert(moved.end(), {now, {}});
        }
        same->second << rank;
    }
    if (!started) {
        return tr("%1: the job is not started").arg(text);
    }
    // The shown rank is the one that was meant.
    const int shown = m_session->shownRank().value();
    std::stable_partition(moved.begin(), moved.end(),
                          [shown](const auto& group) { return group.second.contains(shown); });
    const auto who = [](const QVector<int>& ranks) {
        return ranks.size() == 1 ? tr("rank %1").arg(ranks.first()) : tr("ranks %1").arg(rankSetText(ranks));
    };
    QStringList parts;
    qsizetype more = 0;
    for (const auto& [now, ranks] : std::as_const(moved)) {
        if (parts.size() == kMostPlaces) {
            more += ranks.size();
            continue;
        }
        parts << (ranks.size() == 1 ? tr("%1 is %2") : tr("%1 are %2")).arg(who(ranks), now);
    }
    if (more > 0) {
        parts << (more == 1 ? tr("1 more rank moved") : tr("%1 more ranks moved").arg(more));
    }
    if (!stayed.isEmpty()) {
        parts << tr("%1 stayed").arg(who(stayed));
    }
    return QStringLiteral("%1: %2").arg(text, parts.join(QStringLiteral("; ")));
}

} // namespace stopline::app
