#include "open_messages_model.h"

#include "text.h"

namespace stopline::app {

using namespace replay;

OpenMessagesModel::OpenMessagesModel(Session* session, QObject* parent)
    : QAbstractTableModel(parent), m_session(session) {
    connect(session, &Session::timelineChanged, this, &OpenMessagesModel::reload);
    connect(session, &Session::timelineReplaced, this, &OpenMessagesModel::reload);
    reload();
}

void OpenMessagesModel::reload() {
    beginResetModel();
    m_rows.clear();
    const Timeline& timeline = m_session->timeline();
    for (const MessageIndex index : timeline.openMessages()) {
        if (m_rows.size() >= kMostRows) {
            break;
        }
        m_rows << timeline.messages()[index.value()];
    }
    endResetModel();
}

std::optional<CallRef> OpenMessagesModel::callAt(int row) const {
    if (row < 0 || row >= m_rows.size()) {
        return std::nullopt;
    }
    return m_rows.at(row).send ? m_rows.at(row).send : m_rows.at(row).post;
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
    const Message& m = m_rows.at(index.row());
    if (role == Qt::ToolTipRole) {
        return openMessageText(*m_session, m);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (index.column()) {
    case From:
        return m.sender.value() < 0 ? tr("any") : QString::number(m.sender.value());
    case To:
        return m.receiver.value() < 0 ? tr("any") : QString::number(m.receiver.value());
    case Tag:
        return m.tag == kAnyTag ? tr("any") : QString::number(m.tag);
    case Size:
        return m.send ? bytesText(m.bytes) : QString();
    case State:
        return messageStateText(m_session->timeline(), m);
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
