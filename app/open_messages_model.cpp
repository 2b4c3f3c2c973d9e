#include "open_messages_model.h"

#include "text.h"
#include "../replay/words.h"

#include <QGuiApplication>
#include <QPalette>

#include <algorithm>

namespace stopline::app {

using namespace replay;

OpenMessagesModel::OpenMessagesModel(Session* session, QObject* parent)
    : QAbstractTableModel(parent), m_session(session) {
    // What is open follows the recording, and where the ranks stand in it.
    for (const auto signal : {&Session::timelineChanged, &Session::timelineReplaced, &Session::stopped,
                              &Session::historyChanged, &Session::ranksChanged}) {
        connect(session, signal, this, &OpenMessagesModel::reload);
    }
    connect(session, &Session::operationFinished, this, &OpenMessagesModel::reload);
    connect(session, &Session::jobEnded, this, &OpenMessagesModel::reload);
    // That a rank has ended is said of what it has not sent or received; many may end at once.
    m_ended.setSingleShot(true);
    m_ended.setInterval(100);
    connect(&m_ended, &QTimer::timeout, this, &OpenMessagesModel::reload);
    connect(session, &Session::rankChanged, this, [this](RankId rank) {
        const RankPhase phase = m_session->rank(rank).phase;
        if (phase == RankPhase::Exited || phase == RankPhase::Lost || phase == RankPhase::Failed) {
            m_ended.start();
        }
    });
    reload();
}

void OpenMessagesModel::reload() {
    auto open = m_session->openMessages();
    open.resize(std::min(open.size(), std::size_t{kMostRows}));
    QVector<Session::OpenMessage> rows(open.begin(), open.end());
    if (rows == m_rows) {
        return; // a selection stays
    }
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

std::optional<CallRef> OpenMessagesModel::callAt(int row) const {
    if (row < 0 || row >= m_rows.size()) {
        return std::nullopt;
    }
    const Message& message = m_rows.at(row).message;
    return message.send ? message.send : message.post;
}

int OpenMessagesModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int OpenMessagesModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant OpenMessagesModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= m_rows.size()) {
        return {};
    }
    const Message& m = m_rows.at(index.row()).message;
    const bool made = m_rows.at(index.row()).made;
    if (role == Qt::ToolTipRole) {
        return openMessageText(*m_session, m) + (made ? QString() : u'\n' + tr("recorded, not made again")) +
               (m_rows.at(index.row()).held.isEmpty() ? QString() : u'\n' + m_rows.at(index.row()).held) +
               (m_rows.at(index.row()).gone.isEmpty() ? QString() : u'\n' + m_rows.at(index.row()).gone);
    }
    if (role == Qt::ForegroundRole) {
        return made ? QVariant() : QVariant(QGuiApplication::palette().brush(QPalette::PlaceholderText));
    }
    if (role == kSortRole) {
        switch (index.column()) {
        case From:
            return m.sender.value();
        case To:
            return m.receiver.value();
        case Tag:
            return m.tag;
        case Size:
            return m.send ? static_cast<qulonglong>(m.bytes) : 0;
        default:
            role = Qt::DisplayRole;
        }
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (index.column()) {
    case From:
        return m.sender.value() < 0 ? tr("any") : rankText(m.sender);
    case To:
        return m.receiver.value() < 0 ? tr("any") : rankText(m.receiver);
    case Tag:
        return m.tag == kAnyTag ? tr("any") : QString::number(m.tag);
    case Size:
        return m.send ? bytesText(m.bytes) : QString();
    case State:
        return !m_rows.at(index.row()).held.isEmpty() ? m_rows.at(index.row()).held
               : made && !m_rows.at(index.row()).gone.isEmpty()
                   ? tr("%1; %2").arg(messageStateText(m_session->timeline(), m), m_rows.at(index.row()).gone)
               : made ? messageStateText(m_session->timeline(), m)
                    : tr("later: %1").arg(messageStateText(m_session->timeline(), m));
    case Where: {
        const auto call = callAt(index.row());
        return call ? callPlaceText(*m_session, *call) : QString();
    }
    default:
        return {};
    }
}

QVariant OpenMessagesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case From:
        return tr("From");
    case To:
        return tr("To");
    case Tag:
        return tr("Tag");
    case Size:
        return tr("Size");
    case State:
        return tr("State");
    case Where:
        return tr("Call");
    default:
        return {};
    }
}

} // namespace stopline::app
