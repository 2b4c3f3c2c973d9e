// The keyboard verbs as actions, the search bar, export.
#include "diagram_impl.h"

#include "../replay/words.h"
#include "call_text.h"
#include "navigation.h"
#include "search.h"

#include <QAction>
#include <QEvent>
#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QImage>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

using replay::CallRef;

namespace {

/// Keeps every key to itself: the diagram's single letters and Return rest while it has the focus.
class SearchEdit : public QLineEdit {
  public:
    SearchEdit(QWidget* parent, std::function<void(bool)> find, std::function<void()> close)
        : QLineEdit(parent), m_find(std::move(find)), m_close(std::move(close)) {}

  protected:
    bool event(QEvent* event) override {
        if (event->type() == QEvent::ShortcutOverride) {
            event->accept();
            return true;
        }
        return QLineEdit::event(event);
    }
    void keyPressEvent(QKeyEvent* event) override {
        if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
            m_find((event->modifiers() & Qt::ShiftModifier) == 0);
        } else if (event->key() == Qt::Key_Escape) {
            m_close();
        } else {
            QLineEdit::keyPressEvent(event);
        }
    }

  private:
    std::function<void(bool)> m_find;
    std::function<void()> m_close;
};

} // namespace

QAction* DiagramWidget::Impl::add(const QString& name, const QString& text, const QList<QKeySequence>& keys,
                                  std::function<void()> what) {
    auto* action = new QAction(text, &q);
    action->setObjectName(u"diagram."_s + name);
    action->setShortcuts(keys);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    QObject::connect(action, &QAction::triggered, &q, std::move(what));
    q.addAction(action);
    actions.push_back(action);
    return action;
}

void DiagramWidget::Impl::makeActions() {
    using K = QKeySequence;
    add(u"next"_s, u"next call of this rank"_s, {K(Qt::Key_Period), K(Qt::Key_Right)},
        [this] { step(true, false); });
    add(u"previous"_s, u"previous call of this rank"_s, {K(Qt::Key_Comma), K(Qt::Key_Left)},
        [this] { step(false, false); });
    add(u"nextSameSite"_s, u"next call from the same line"_s, {K(Qt::ALT | Qt::Key_Period)},
        [this] { step(true, true); });
    add(u"previousSameSite"_s, u"previous call from the same line"_s, {K(Qt::ALT | Qt::Key_Comma)},
        [this] { step(false, true); });
    add(u"rowUp"_s, u"nearest call one rank up"_s, {K(Qt::Key_Up)}, [this] { moveRow(-1); });
    add(u"rowDown"_s, u"nearest call one rank down"_s, {K(Qt::Key_Down)}, [this] { moveRow(1); });
    add(u"receiveEnd"_s, u"receive end of the message"_s, {K(Qt::Key_BracketRight)},
        [this] { go(selected ? receiveEnd(model, *selected) : std::nullopt); });
    add(u"sendEnd"_s, u"send end of the message"_s, {K(Qt::Key_BracketLeft)},
        [this] { go(selected ? sendEnd(model, *selected) : std::nullopt); });
    add(u"collective"_s, u"next member of the collective"_s, {K(Qt::Key_Backslash)},
        [this] { go(selected ? nextMember(model, *selected) : std::nullopt); });
    add(u"nextRace"_s, u"next race of this rank"_s, {K(Qt::Key_R)}, [this] { stepRace(true); });
    add(u"previousRace"_s, u"previous race of this rank"_s, {K(Qt::SHIFT | Qt::Key_R)},
        [this] { stepRace(false); });
    add(u"search"_s, u"search"_s, {K(Qt::Key_Slash)}, [this] { openSearch(); });
    add(u"viewBack"_s, u"undo the last change of view"_s, {K(Qt::ALT | Qt::Key_Z)},
        [this] { restoreView(undoViews, redoViews); });
    add(u"viewForward"_s, u"redo it"_s, {K(Qt::ALT | Qt::SHIFT | Qt::Key_Z)},
        [this] { restoreView(redoViews, undoViews); });
    add(u"centre"_s, u"centre the selection; twice: fit it"_s, {K(Qt::Key_F)}, [this] { centreOrFit(); });
    add(u"fitAll"_s, u"whole run"_s, {K(Qt::Key_Home)}, [this] { q.fitAll(); });
    add(u"fitLastStop"_s, u"since the last stop, and follow"_s, {K(Qt::Key_End)},
        [this] { q.fitLastStop(); });
    add(u"axis"_s, u"time or event numbers"_s, {K(Qt::Key_T)},
        [this] { switchAxis(axis == Axis::Time ? Axis::Events : Axis::Time); });
    add(u"pointBefore"_s, u"point before the call"_s, {K(Qt::Key_B)}, [this] { pick(false); });
    add(u"pointAfter"_s, u"point after the call"_s, {K(Qt::SHIFT | Qt::Key_B)}, [this] { pick(true); });
    add(u"past"_s, u"past frontier of the point"_s, {K(Qt::Key_P)},
        [this] { emit q.frontierRequested(false); });
    add(u"future"_s, u"future frontier of the point"_s, {K(Qt::Key_N)},
        [this] { emit q.frontierRequested(true); });
    add(u"stopline"_s, u"make it a stopline"_s, {K(Qt::Key_L)}, [this] { emit q.stoplineRequested(); });
    add(u"go"_s, u"run to the stopline"_s, {K(Qt::Key_G)}, [this] { emit q.goRequested(); });
    add(u"undo"_s, u"undo the last control command"_s, {K(Qt::Key_U)}, [this] { emit q.undoRequested(); });
    add(u"rollback"_s, u"roll back one call"_s, {K(Qt::Key_Backspace)},
        [this] { emit q.rollbackRequested(); });
    add(u"source"_s, u"zoom to the range, else show source"_s, {K(Qt::Key_Return), K(Qt::Key_Enter)},
        [this] { enter(); });
    add(u"focus"_s, u"focus the rank of the call"_s,
        {K(Qt::CTRL | Qt::Key_Return), K(Qt::CTRL | Qt::Key_Enter)}, [this] {
            if (selected) {
                emit q.focusRequested(selected->rank);
            }
        });
    add(u"help"_s, u"these keys"_s, {K(Qt::Key_Question), K(Qt::SHIFT | Qt::Key_Question)},
        [this] { help->toggle(HelpOverlay::Content::Keys); });
    help->setKeys(helpLines());
}

std::vector<std::pair<QString, QString>> DiagramWidget::Impl::helpLines() const {
    std::vector<std::pair<QString, QString>> lines{
        {u"wheel"_s, u"scroll the ranks"_s},
        {u"Ctrl+wheel, W, S"_s, u"zoom at the pointer"_s},
        {u"Shift+wheel, A, D"_s, u"move along the axis"_s},
        {u"middle drag, Space+drag"_s, u"move"_s},
        {u"Alt+wheel"_s, u"height of the rows"_s},
        {u"drag"_s, u"select a range"_s},
        {u"Shift+drag"_s, u"measure"_s},
        {u"Esc"_s, u"clear range, search, selection"_s},
    };
    for (const QAction* action : actions) {
        QStringList keys;
        for (const QKeySequence& key : action->shortcuts()) {
            if (keys.size() < 2) {
                keys << key.toString(QKeySequence::NativeText);
            }
        }
        keys.removeDuplicates();
        lines.emplace_back(action->objectName() == "diagram.help"_L1 ? u"?"_s : keys.join(u", "_s),
                           action->text());
    }
    return lines;
}

void DiagramWidget::Impl::go(std::optional<CallRef> to) {
    if (to && known(*to)) {
        q.select(to);
        q.reveal(*to);
    }
}

void DiagramWidget::Impl::step(bool forward, bool site) {
    if (!selected) {
        // A first key press needs something to start from: the last call of the focus rank.
        const int rank = focus && focus->value() < model.ranks() ? focus->value() : 0;
        if (rank < model.ranks() && !model.calls(rank).empty()) {
            go(CallRef{RankId{rank}, replay::CallIndex{std::uint32_t(model.calls(rank).size() - 1)}});
        }
        return;
    }
    go(site ? sameSite(model, *selected, forward) : neighbour(model, *selected, forward));
}

void DiagramWidget::Impl::stepRace(bool forward) {
    const RankId rank = selected ? selected->rank : focus.value_or(RankId{0});
    const auto from = selected ? std::optional(selected->call) : std::nullopt;
    if (const auto to = model.races().next(rank, from, forward)) {
        go(to);
    } else {
        emit q.hovered((from && model.races().next(rank, std::nullopt, forward)
                            ? u"No further race of rank %1"_s
                            : u"No race of rank %1 is known"_s)
                           .arg(rankText(rank)));
    }
}

void DiagramWidget::Impl::moveRow(int by) {
    if (!selected) {
        step(true, false);
        return;
    }
    for (int rank = selected->rank.value() + by; rank >= 0 && rank < model.ranks(); rank += by) {
        if (const auto to = onRank(model, *selected, rank, axis)) {
            go(to);
            return;
        }
    }
}

void DiagramWidget::Impl::centreOrFit() {
    if (!selected || !known(*selected)) {
        q.fitAll();
        return;
    }
    constexpr qint64 kTwice = 600; // milliseconds
    const bool twice = lastCentre.isValid() && lastCentre.elapsed() < kTwice;
    lastCentre.start();
    const int row = selected->rank.value();
    const TrackCall& call = model.calls(row)[selected->call.value()];
    std::int64_t begin = DiagramModel::begin(call, axis);
    std::int64_t end = model.end(row, call, axis);
    if (twice) {
        // With the messages' other ends, so that what happened can be seen whole.
        for (const replay::MessageIndex index : model.timeline()->messagesOf(*selected)) {
            const TrackMessage& m = model.messages()[index.value()];
            if (m.matched()) {
                begin = std::min({begin, m.from(axis), m.to(axis)});
                end = std::max({end, m.from(axis), m.to(axis)});
            }
        }
        const std::int64_t span = std::max(leastSpan(), (end - begin) * 8 / 5);
        const std::int64_t left = begin + (end - begin) / 2 - span / 2;
        setView({left, left + span, view.width}, true);
    } else {
        const std::int64_t left = begin + (end - begin) / 2 - view.span() / 2;
        setView({left, left + view.span(), view.width}, true);
    }
    setLayout(layout.scrolledTo(row * layout.rowHeight - (layout.viewportHeight - layout.rowHeight) / 2),
              false);
}

void DiagramWidget::Impl::enter() {
    if (range) {
        const Range wanted = *range;
        range.reset();
        lastViewChange.invalidate();
        AxisView next{wanted.begin, std::max(wanted.end, wanted.begin + leastSpan()), view.width};
        rememberView();
        view = next;
        fit = false;
        const int count = wanted.lastRow - wanted.firstRow + 1;
        if (count < layout.rows) {
            autoRows = false;
            layout.rowHeight =
                std::clamp(layout.viewportHeight / count, layout.rowHeight, std::max(layout.rowHeight, 72));
            layout = layout.scrolledTo(wanted.firstRow * layout.rowHeight);
        }
        invalidate();
        return;
    }
    if (selected) {
        emit q.sourceRequested(*selected);
    }
}

void DiagramWidget::Impl::pick(bool after) {
    if (!selected || !known(*selected)) {
        return;
    }
    if (after && model.timeline()->call(*selected).end == EventIndex{0}) {
        emit q.hovered(u"There is no point after a call that has not finished"_s);
        return;
    }
    emit q.pointPicked({*selected, after});
}

void DiagramWidget::Impl::openSearch() {
    if (searchBar == nullptr) {
        searchBar = new QFrame(&q);
        searchBar->setObjectName(u"diagramSearch"_s);
        searchBar->setFrameShape(QFrame::StyledPanel);
        searchBar->setAutoFillBackground(true);
        auto* row = new QHBoxLayout(searchBar);
        row->setContentsMargins(6, 4, 6, 4);
        searchEdit = new SearchEdit(
            searchBar, [this](bool forward) { search(forward); }, [this] { clearTransient(); });
        searchEdit->setPlaceholderText(u"send tag=5 peer=3 size>4k unmatched wildcard race"_s);
        searchEdit->setAccessibleName(u"Search calls"_s);
        const QFontMetrics metrics(q.font());
        searchEdit->setMinimumWidth(metrics.horizontalAdvance(searchEdit->placeholderText()) +
                                    4 * metrics.averageCharWidth());
        searchResult = new QLabel(searchBar);
        row->addWidget(searchEdit);
        row->addWidget(searchResult);
        QObject::connect(searchEdit, &QLineEdit::textEdited, searchResult, &QLabel::clear);
    }
    searchBar->adjustSize();
    const int x = std::max(0, frame.plot.right() - searchBar->width() - 8);
    searchBar->move(x, frame.plot.top() + 6);
    searchBar->show();
    searchBar->raise();
    searchEdit->setFocus();
    searchEdit->selectAll();
}

void DiagramWidget::Impl::search(bool forward) {
    const SearchQuery query(searchEdit->text());
    const auto found = query.next(model, selected, forward);
    searchResult->setText(found ? QString() : query.empty() ? u"type a word"_s : u"no such call"_s);
    searchBar->adjustSize();
    searchBar->move(std::max(0, frame.plot.right() - searchBar->width() - 8), frame.plot.top() + 6);
    go(found);
}

void DiagramWidget::Impl::clearTransient() {
    if (help->isVisible()) {
        help->hide();
    } else if (searchBar != nullptr && searchBar->isVisible()) {
        searchBar->hide();
        q.setFocus();
    } else if (range) {
        range.reset();
    } else {
        q.select(std::nullopt);
    }
    invalidate();
}

bool DiagramWidget::exportImage(const QString& path) {
    if (QFileInfo(path).suffix().compare("pdf"_L1, Qt::CaseInsensitive) == 0) {
        QPdfWriter writer(path);
        constexpr int kDotsPerInch = 96;
        writer.setResolution(kDotsPerInch);
        writer.setPageSize(QPageSize(QSizeF(size()) * 72.0 / kDotsPerInch, QPageSize::Point, QString(),
                                     QPageSize::ExactMatch));
        writer.setPageMargins(QMarginsF(0, 0, 0, 0));
        QPainter painter;
        if (!painter.begin(&writer)) {
            return false;
        }
        // Not by way of the picture that is on screen: a drawing stays sharp.
        Impl& d = *m_impl;
        d.ensureGeometry();
        d.ensureOverview();
        d.paintLayer(painter);
        d.paintOverlay(painter);
        if (d.help->isVisible()) {
            d.help->render(&painter, d.help->parentWidget() == this ? d.help->pos() : QPoint());
        }
        return painter.end();
    }
    QImage image((QSizeF(size()) * devicePixelRatioF()).toSize(), QImage::Format_ARGB32_Premultiplied);
    if (image.isNull()) {
        return false;
    }
    image.setDevicePixelRatio(devicePixelRatioF());
    render(&image);
    return image.save(path);
}

} // namespace stopline::viewer
