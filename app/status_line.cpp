#include "status_line.h"

#include "text.h"
#include "../replay/words.h"

#include <QAction>
#include <QLabel>
#include <QLocale>
#include <QStatusBar>
#include <QToolButton>

namespace stopline::app {

using namespace replay;

StatusLine::StatusLine(Session* session, QStatusBar* bar, QAction* cancel)
    : QObject(bar), m_session(session), m_operation(new QLabel(bar)), m_cancel(new QToolButton(bar)),
      m_rank(new QLabel(bar)), m_stop(new QLabel(bar)), m_events(new QLabel(bar)), m_gdb(new QLabel(bar)) {
    m_cancel->setDefaultAction(cancel);
    m_cancel->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_cancel->setAutoRaise(true);
    bar->addPermanentWidget(m_operation);
    bar->addPermanentWidget(m_cancel);
    for (QLabel* label : {m_rank, m_stop, m_events, m_gdb}) {
        label->setContentsMargins(6, 0, 6, 0);
        bar->addPermanentWidget(label);
    }
    for (const auto signal :
         {&Session::ranksChanged, &Session::focusChanged, &Session::stopped, &Session::timelineChanged,
          &Session::timelineReplaced, &Session::operationChanged, &Session::historyChanged}) {
        connect(session, signal, this, &StatusLine::update);
    }
    connect(session, &Session::rankChanged, this, &StatusLine::update);
    update();
}

QString StatusLine::text() const {
    QStringList parts;
    for (const QLabel* label : {m_operation, m_rank, m_stop, m_events, m_gdb}) {
        if (!label->text().isEmpty()) {
            parts << label->text();
        }
    }
    return parts.join(QStringLiteral(" | "));
}

void StatusLine::update() {
    const int count = m_session->rankCount();
    const QString operation = m_session->operation();
    m_operation->setText(operation);
    m_operation->setVisible(!operation.isEmpty());
    m_cancel->setVisible(!operation.isEmpty());
    for (QLabel* label : {m_rank, m_stop, m_events, m_gdb}) {
        label->setVisible(count > 0);
    }
    if (count == 0) {
        for (QLabel* label : {m_rank, m_stop, m_events, m_gdb}) {
            label->clear();
        }
        return;
    }
    const RankId shown = m_session->shownRank();
    m_rank->setText(
        tr("rank %1 @ event %2").arg(rankText(shown)).arg(eventCountText(m_session->live(shown).place.event)));
    const auto& stops = m_session->stops();
    m_stop->setText(stops.isEmpty() ? tr("no stop yet") : tr("stop #%1").arg(stops.last().number));
    const Timeline& timeline = m_session->timeline();
    quint64 events = 0;
    for (int rank = 0; rank < count; ++rank) {
        // Of ranks that run, what they have recorded and nobody has read yet counts as well.
        const quint64 read = rank < timeline.rankCount() ? timeline.lastEvent(RankId{rank}).value() : 0;
        events += qMax<quint64>(read, m_session->live(RankId{rank}).place.event.value());
    }
    m_events->setText(tr("%1 events").arg(QLocale().toString(events)));
    int live = 0;
    int well = 0;
    QVector<int> silent;
    for (int rank = 0; rank < count; ++rank) {
        const RankView view = m_session->rank(RankId{rank});
        if (view.phase == RankPhase::NotStarted || view.phase == RankPhase::Exited) {
            continue;
        }
        ++live;
        if (view.silent) {
            silent << rank;
        } else if (view.phase != RankPhase::Failed && view.phase != RankPhase::Lost) {
            ++well;
        }
    }
    const QString of = tr("gdb %1/%2").arg(well).arg(live);
    m_gdb->setText(live == 0            ? tr("no rank alive")
                   : silent.size() == 1 ? tr("%1, rank %2 silent").arg(of).arg(silent.first())
                   : !silent.isEmpty()  ? tr("%1, ranks %2 silent").arg(of, rankSetText(silent))
                   : well == live       ? tr("%1 ok").arg(of)
                                        : tr("%1 ok, see the log").arg(of));
}

} // namespace stopline::app
