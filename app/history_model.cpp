#include "history_model.h"

#include "key_bindings.h"
#include "text.h"
#include "../replay/words.h"

#include <QFont>
#include <QGuiApplication>
#include <QPalette>

namespace stopline::app {

using namespace replay;

namespace {

/// "0: 12 → 40, 1: 9 → 33": event numbers before and after; at most four ranks, the rest counted.
QString movement(const HistoryEntry& entry) {
    constexpr std::size_t kMost = 4;
    QStringList parts;
    std::size_t moved = 0;
    for (std::size_t rank = 0; rank < entry.before.size(); ++rank) {
        const bool known = rank < entry.after.size();
        if (known && entry.after[rank] == entry.before[rank]) {
            continue;
        }
        if (++moved <= kMost) {
            parts << QStringLiteral("%1: %2 → %3")
                         .arg(rankText(RankId{static_cast<std::int32_t>(rank)}))
                         .arg(entry.before[rank].event.value())
                         .arg(known ? QString::number(entry.after[rank].event.value()) : QStringLiteral("…"));
        }
    }
    if (moved > kMost) {
        parts << QStringLiteral("and %1 more").arg(moved - kMost);
    }
    return moved == 0 ? QStringLiteral("no call passed") : parts.join(QStringLiteral(",  "));
}

} // namespace

HistoryModel::HistoryModel(Session* session, QObject* parent)
    : QAbstractTableModel(parent), m_session(session) {
    connect(session, &Session::historyChanged, this, &HistoryModel::reload);
    reload();
}

void HistoryModel::reload() {
    beginResetModel();
    m_rows = m_session->history();
    m_redo = m_session->nextRedo();
    endResetModel();
}

std::optional<Cut> HistoryModel::before(int row) const {
    return row >= 0 && row < m_rows.size() ? std::optional(m_rows.at(row).before) : std::nullopt;
}

int HistoryModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size()) + (m_redo ? 1 : 0);
}

int HistoryModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant HistoryModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) {
        return {};
    }
    const bool redo = index.row() >= m_rows.size();
    const HistoryEntry& entry = redo ? *m_redo : m_rows.at(index.row());
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case Number:
            return redo ? tr("redo") : QString::number(index.row() + 1);
        case Command:
            return QStringLiteral("%1 %2").arg(verbName(entry.verb), focusText(entry.focus));
        case Places:
            return movement(entry);
        case Note:
            return entry.note;
        default:
            return {};
        }
    case Qt::ForegroundRole:
        return redo ? QVariant(QGuiApplication::palette().brush(QPalette::PlaceholderText)) : QVariant();
    case Qt::FontRole: {
        QFont font;
        font.setBold(!redo && index.row() + 1 == m_rows.size() && index.column() == Command);
        return font;
    }
    case Qt::ToolTipRole:
        return redo ? tr("Undone; redo%1 does it again.").arg(keyNote(QStringLiteral("redo")))
                    : tr("The diagram shows where the ranks stood before this command.");
    default:
        return {};
    }
}

QVariant HistoryModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case Number:
        return QStringLiteral("#");
    case Command:
        return tr("Command");
    case Places:
        return tr("Events by rank");
    case Note:
        return tr("Note");
    default:
        return {};
    }
}

} // namespace stopline::app
