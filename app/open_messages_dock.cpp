#include "open_messages_dock.h"

#include "look.h"
#include "note_view.h"
#include "open_messages_model.h"

#include <QHeaderView>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace stopline::app {

using namespace replay;

OpenMessagesDock::OpenMessagesDock(Look* look, QWidget* parent)
    : QDockWidget(tr("Open messages"), parent), m_model(new OpenMessagesModel(look->session(), this)),
      m_order(new QSortFilterProxyModel(this)), m_view(new NoteView(this)), m_deadlocks(new QLabel(this)), m_naming(new QTimer(this)) {
    setObjectName(QStringLiteral("openMessages"));
    m_deadlocks->setObjectName(QStringLiteral("deadlocks"));
    m_deadlocks->setWordWrap(true);
    m_deadlocks->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_deadlocks->setMargin(6);
    auto* body = new QWidget(this);
    auto* layout = new QVBoxLayout(body);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_deadlocks);
    layout->addWidget(m_view, 1);
    setWidget(body);
    m_deadlocks->hide();
    // Who waits for whom is asked once for all that has changed, and only while it is seen: it looks through the open messages.
    m_naming->setSingleShot(true);
    connect(m_naming, &QTimer::timeout, this, [this, look] {
        QStringList texts = look->session()->deadlocks();
        for (QString& text : texts) {
            text[0] = text[0].toUpper();
            text += u'.';
        }
        m_deadlocks->setText(texts.join(u'\n'));
        m_deadlocks->setVisible(!texts.isEmpty());
    });
    const auto nameDeadlocks = [this] {
        if (m_seen) {
            m_naming->start(0);
        }
    };
    for (const auto signal : {&Session::timelineChanged, &Session::timelineReplaced, &Session::stopped, &Session::historyChanged,
                              &Session::ranksChanged}) {
        connect(look->session(), signal, this, nameDeadlocks);
    }
    connect(look->session(), &Session::operationFinished, this, nameDeadlocks);
    connect(look->session(), &Session::jobEnded, this, nameDeadlocks);
    connect(this, &QDockWidget::visibilityChanged, this, [this, nameDeadlocks](bool seen) {
        m_seen = seen; // a panel behind another one counts as visible otherwise
        nameDeadlocks();
    });
    m_order->setSourceModel(m_model);
    m_order->setSortRole(OpenMessagesModel::kSortRole);
    m_view->setModel(m_order);
    m_view->setSortingEnabled(true);
    m_view->header()->setSortIndicatorClearable(true); // back to the model's own order
    m_view->sortByColumn(-1, Qt::AscendingOrder);
    m_view->setNote(tr("No open messages: all that was sent has been received, and no receive waits."));
    for (const int column : {OpenMessagesModel::From, OpenMessagesModel::To, OpenMessagesModel::Tag}) {
        m_view->header()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
    }
    m_view->header()->resizeSection(OpenMessagesModel::Size, 70);
    m_view->header()->resizeSection(OpenMessagesModel::State, m_stateWidth);
    const auto show = [this, look](const QModelIndex& index) {
        look->selectCall(m_model->callAt(m_order->mapToSource(index).row()), true);
        emit callShown();
    };
    connect(m_view, &QTreeView::clicked, this, show);
    connect(m_view, &QTreeView::activated, this, show);
    // The arrow keys walk through the list, and the diagram follows.
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this, look](const QModelIndex& index) {
                if (m_view->hasFocus() && index.isValid()) {
                    look->selectCall(m_model->callAt(m_order->mapToSource(index).row()), true);
                }
            });
    connect(m_model, &OpenMessagesModel::modelReset, this, [this] {
        const int count = m_model->rowCount();
        setWindowTitle(count > 0 ? tr("Open messages (%1)").arg(count) : tr("Open messages"));
        // Wider for a longer text than there has been, once: a width that the user has given stays otherwise.
        constexpr int kLook = 200; // rows
        constexpr int kMargins = 16;
        int wanted = 0;
        for (int row = 0; row < std::min(count, kLook); ++row) {
            const QString state = m_model->index(row, OpenMessagesModel::State).data().toString();
            wanted = std::max(wanted, m_view->fontMetrics().horizontalAdvance(state) + kMargins);
        }
        constexpr int kWidest = 440; // the panel may be behind another one, and have no width yet
        wanted = std::min(wanted, kWidest);
        if (wanted > m_stateWidth) {
            m_stateWidth = wanted;
            m_view->header()->resizeSection(OpenMessagesModel::State, std::max(wanted, m_view->header()->sectionSize(OpenMessagesModel::State)));
        }
    });
}

} // namespace stopline::app
