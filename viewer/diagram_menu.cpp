// The context menu of the diagram.
#include "diagram_impl.h"

#include "call_text.h"
#include "../replay/words.h"

#include <QContextMenuEvent>
#include <QMenu>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

void DiagramWidget::Impl::fillMenu(QMenu& menu, QPointF at) {
    if (frame.labels.contains(at.toPoint())) {
        const int row = layout.at(int(inPlot(at).y()));
        if (row >= 0) {
            menu.addAction(u"Focus rank %1"_s.arg(rankText(RankId{row})), &q,
                           [this, row] { emit q.focusRequested(RankId{row}); });
        }
        return;
    }
    const auto call = callAt(at);
    if (!call) {
        menu.addAction(u"Fit all"_s, &q, [this] { q.fitAll(); });
        menu.addAction(axis == Axis::Time ? u"Show event numbers"_s : u"Show time"_s, &q,
                       [this] { switchAxis(axis == Axis::Time ? Axis::Events : Axis::Time); });
        return;
    }
    q.select(call);
    const bool finished = model.timeline()->call(*call).end != EventIndex{0};
    const QString name = functionText(*model.timeline(), *call);
    menu.addAction(u"Set point before %1"_s.arg(name), &q, [this, call] {
        emit q.pointPicked({*call, false});
    });
    QAction* after = menu.addAction(u"Set point after %1"_s.arg(name), &q, [this, call] {
        emit q.pointPicked({*call, true});
    });
    after->setEnabled(finished);
    if (!finished) {
        after->setText(after->text() + u" (not finished)"_s);
    }
    menu.addSeparator();
    // A frontier belongs to a point: the call under the menu becomes it unless it already is.
    const auto frontier = [this, call](bool future_) {
        if (!point || point->call != *call) {
            emit q.pointPicked({*call, false});
        }
        emit q.frontierRequested(future_);
    };
    menu.addAction(u"Past frontier"_s, &q, [frontier] { frontier(false); });
    menu.addAction(u"Future frontier"_s, &q, [frontier] { frontier(true); });
    menu.addAction(u"Go here…"_s, &q, [this, call] {
        if (!point || point->call != *call) {
            emit q.pointPicked({*call, false});
        }
        emit q.stoplineRequested();
        emit q.goRequested();
    });
    const std::vector<replay::CallRef> sends = alternatives ? alternatives(*call) : std::vector<replay::CallRef>();
    if (!sends.empty()) {
        constexpr std::size_t kMost = 20; // the list of races has all
        QMenu* others = menu.addMenu(u"Run again with"_s);
        for (std::size_t i = 0; i < std::min(sends.size(), kMost); ++i) {
            others->addAction(u"rank %1's %2 of event %3"_s.arg(rankText(sends[i].rank), functionText(*model.timeline(), sends[i]))
                                  .arg(model.timeline()->call(sends[i]).begin.value()),
                              &q, [this, call, send = sends[i]] { emit q.otherMessageRequested(*call, send); });
        }
        if (sends.size() > kMost) {
            others->addAction(u"%1 more are in the list of races"_s.arg(sends.size() - kMost))->setEnabled(false);
        }
    }
    menu.addSeparator();
    menu.addAction(u"Show source"_s, &q, [this, call] { emit q.sourceRequested(*call); });
    menu.addAction(u"Focus rank %1"_s.arg(rankText(call->rank)), &q,
                   [this, call] { emit q.focusRequested(call->rank); });
}

void DiagramWidget::contextMenuEvent(QContextMenuEvent* event) {
    m_impl->relayout();
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    m_impl->fillMenu(*menu, event->pos());
    if (menu->isEmpty()) {
        delete menu;
        return;
    }
    menu->popup(event->globalPos());
}

} // namespace stopline::viewer
