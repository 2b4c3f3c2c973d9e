#include "executions_dock.h"

#include "look.h"
#include "race_text.h"
#include "wrapping_delegate.h"
#include "../replay/words.h"

#include <QAction>
#include <QEvent>
#include <QHeaderView>
#include <QLocale>
#include <QSplitter>
#include <QToolBar>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace stopline::app {

using namespace replay;

namespace {

constexpr int kCompareMs = 200;

QTreeWidget* list(const QStringList& titles, QWidget* parent) {
    auto* view = new QTreeWidget(parent);
    view->setRootIsDecorated(false);
    view->setAllColumnsShowFocus(true);
    view->setAlternatingRowColors(true);
    view->setFrameShape(QFrame::NoFrame);
    view->setHeaderLabels(titles);
    return view;
}

} // namespace

ExecutionsDock::ExecutionsDock(Look* look, QWidget* parent)
    : QDockWidget(tr("Executions"), parent), m_look(look), m_show(new QAction(tr("Show this execution"), this)) {
    setObjectName(QStringLiteral("executions"));
    auto* body = new QWidget(this);
    auto* layout = new QVBoxLayout(body);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* bar = new QToolBar(body);
    bar->addAction(m_show);
    auto* parts = new QSplitter(Qt::Horizontal, body);
    m_list = list({tr("#"), tr("Execution"), tr("Events"), tr("Outcome")}, parts);
    m_ranks = list({tr("Rank"), tr("Same through"), tr("There"), tr("Here")}, parts);
    m_list->setObjectName(QStringLiteral("list"));
    m_ranks->setObjectName(QStringLiteral("differences"));
    parts->setSizes({500, 600});
    m_list->header()->setStretchLastSection(false);
    m_list->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    m_list->header()->setSectionResizeMode(1, QHeaderView::Stretch);
    m_list->header()->setSectionResizeMode(2, QHeaderView::ResizeToContents);
    m_list->header()->setSectionResizeMode(3, QHeaderView::Stretch);
    WrappingDelegate::wrap(m_list, {1, 3});
    WrappingDelegate::wrap(m_ranks, {2, 3});
    m_ranks->header()->resizeSection(0, 60);
    m_ranks->header()->resizeSection(1, 100);
    m_ranks->header()->resizeSection(2, 260);
    layout->addWidget(bar);
    layout->addWidget(parts, 1);
    setWidget(body);
    m_list->addAction(m_show);
    m_list->setContextMenuPolicy(Qt::ActionsContextMenu);
    m_show->setToolTip(tr("End the job and show this execution; Replay run, or Go to stopline, executes it again"));
    m_soon.setSingleShot(true);
    m_soon.setInterval(kCompareMs);
    connect(&m_soon, &QTimer::timeout, this, &ExecutionsDock::compare);

    const Session* session = look->session();
    connect(session, &Session::executionsChanged, this, &ExecutionsDock::reload);
    connect(session, &Session::racesChanged, this, &ExecutionsDock::reload); // the one on show has grown
    connect(session, &Session::stopped, this, &ExecutionsDock::reload);
    connect(session, &Session::verbsChanged, this, &ExecutionsDock::reload); // it runs, it has ended
    connect(m_list, &QTreeWidget::currentItemChanged, this, [this] { m_soon.start(); });
    connect(m_show, &QAction::triggered, this, [this] { m_look->session()->showExecution(chosen()); });
    connect(m_list, &QTreeWidget::itemActivated, m_show, &QAction::trigger);
    connect(m_ranks, &QTreeWidget::itemClicked, this, [this](QTreeWidgetItem* item) {
        const auto& one = m_differences.at(m_ranks->indexOfTopLevelItem(item));
        const auto call = m_look->session()->timeline().callAt(one.rank, EventIndex(one.same.value() + (one.second.isEmpty() ? 0 : 1)));
        if (call) {
            m_look->selectCall(*call, true);
            emit callShown();
        }
    });
    reload();
}

QVector<int> ExecutionsDock::numbers() const {
    QVector<int> all;
    for (int i = 0; i < m_list->topLevelItemCount(); ++i) {
        all << m_list->topLevelItem(i)->data(0, Qt::UserRole).toInt();
    }
    return all;
}

int ExecutionsDock::chosen() const {
    return m_list->currentItem() != nullptr ? m_list->currentItem()->data(0, Qt::UserRole).toInt() : 0;
}

void ExecutionsDock::choose(int number) {
    for (int i = 0; i < m_list->topLevelItemCount(); ++i) {
        if (m_list->topLevelItem(i)->data(0, Qt::UserRole).toInt() == number) {
            m_list->setCurrentItem(m_list->topLevelItem(i));
        }
    }
}

bool ExecutionsDock::event(QEvent* event) {
    if (event->type() == QEvent::Show) {
        m_soon.start();
    }
    return QDockWidget::event(event);
}

void ExecutionsDock::reload() {
    const QVector<Session::Execution> all = m_look->session()->executions();
    const int before = m_list->topLevelItemCount();
    while (m_list->topLevelItemCount() > all.size()) {
        delete m_list->takeTopLevelItem(m_list->topLevelItemCount() - 1);
    }
    for (qsizetype i = 0; i < all.size(); ++i) {
        if (i >= m_list->topLevelItemCount()) {
            new QTreeWidgetItem(m_list);
        }
        QTreeWidgetItem* item = m_list->topLevelItem(int(i));
        item->setData(0, Qt::UserRole, all[i].number);
        item->setText(0, QString::number(all[i].number));
        item->setText(1, executionTitle(all[i]));
        item->setText(2, QLocale().toString(all[i].events));
        item->setText(3, all[i].outcome);
        item->setToolTip(1, executionTitle(all[i]));
        item->setToolTip(3, all[i].outcome);
        QFont font = item->font(1);
        font.setBold(all[i].shown);
        item->setFont(1, font);
    }
    // A new one is compared with the one before, until another is chosen.
    const bool chosenShown = std::any_of(all.begin(), all.end(), [this](const Session::Execution& one) { return one.shown && one.number == chosen(); });
    if (all.size() > 1 && (chosenShown || chosen() == 0)) {
        for (auto it = all.rbegin(); it != all.rend(); ++it) {
            if (!it->shown) {
                choose(it->number);
                break;
            }
        }
    }
    setWindowTitle(all.size() > 1 ? tr("Executions (%1)").arg(all.size()) : tr("Executions"));
    if (all.size() > 1) {
        m_soon.start();
    } else {
        compare();
    }
    if (all.size() > before && before > 0) {
        emit oneMore();
    }
}

void ExecutionsDock::compare() {
    const int number = chosen();
    const QVector<Session::Execution> all = m_look->session()->executions();
    const bool other = std::any_of(all.begin(), all.end(), [number](const Session::Execution& one) { return one.number == number && !one.shown; });
    m_show->setEnabled(other);
    if (!isVisible() && other) {
        return; // when it is looked at
    }
    m_differences = other ? m_look->session()->differences(number) : QVector<Session::ExecutionDifference>();
    m_ranks->clear();
    for (const Session::ExecutionDifference& one : std::as_const(m_differences)) {
        const bool same = one.first.isEmpty() && one.second.isEmpty();
        auto* item = new QTreeWidgetItem(m_ranks);
        item->setText(0, rankText(one.rank));
        item->setText(1, tr("event %1").arg(one.same.value()));
        item->setText(2, !one.first.isEmpty() ? one.first : tr("ends"));
        item->setText(3, !one.second.isEmpty() ? one.second : tr("ends"));
        for (int column = 0; column < 4; ++column) {
            item->setToolTip(column, tr("Rank %1 is %2.").arg(rankText(one.rank), differenceText(one)));
            if (same) {
                item->setForeground(column, palette().brush(QPalette::PlaceholderText));
            }
        }
    }
    if (m_differences.isEmpty()) {
        auto* note = new QTreeWidgetItem(m_ranks);
        note->setFirstColumnSpanned(true);
        note->setFlags(Qt::NoItemFlags);
        note->setText(0, all.size() > 1
                             ? tr("Choose another execution than the one on show (bold): where they differ stands here, rank by rank.")
                             : tr("One execution so far. A departure, or another message taken in a race, makes another one; this one is kept."));
    }
}

} // namespace stopline::app
