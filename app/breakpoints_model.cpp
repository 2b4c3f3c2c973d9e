#include "breakpoints_model.h"

#include "icons.h"
#include "theme.h"
#include "../replay/words.h"

#include <QFileInfo>
#include <QGuiApplication>
#include <QPalette>

namespace stopline::app {

using namespace replay;

BreakpointsModel::BreakpointsModel(Session* session, QObject* parent)
    : QAbstractTableModel(parent), m_session(session) {
    connect(session, &Session::breakpointsChanged, this, &BreakpointsModel::reload);
    reload();
}

void BreakpointsModel::reload() {
    const QVector<UserBreakpoint> fresh = m_session->breakpoints();
    const bool sameRows =
        fresh.size() == m_rows.size() &&
        std::equal(fresh.begin(), fresh.end(), m_rows.begin(),
                   [](const UserBreakpoint& a, const UserBreakpoint& b) { return a.id == b.id; });
    if (sameRows) {
        m_rows = fresh;
        if (!m_rows.isEmpty()) {
            emit dataChanged(index(0, 0), index(static_cast<int>(m_rows.size()) - 1, ColumnCount - 1));
        }
        return;
    }
    beginResetModel();
    m_rows = fresh;
    endResetModel();
}

const UserBreakpoint* BreakpointsModel::at(int row) const {
    return row >= 0 && row < m_rows.size() ? &m_rows.at(row) : nullptr;
}

int BreakpointsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int BreakpointsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant BreakpointsModel::data(const QModelIndex& index, int role) const {
    const UserBreakpoint* b = index.isValid() ? at(index.row()) : nullptr;
    if (b == nullptr) {
        return {};
    }
    if (role == Qt::CheckStateRole && index.column() == Location) {
        return b->enabled ? Qt::Checked : Qt::Unchecked;
    }
    if (role == Qt::DisplayRole) {
        switch (index.column()) {
        case Location:
            // The file's name alone, so that a long path does not push the line number out of sight.
            return b->pending || b->line <= 0
                       ? (b->location.contains(u'/') ? QFileInfo(b->location).fileName() : b->location)
                       : QStringLiteral("%1:%2").arg(QFileInfo(b->file).fileName()).arg(b->line);
        case Condition:
            return b->condition;
        case Ranks:
            return b->onlyRank ? rankText(*b->onlyRank) : tr("all");
        case Hits:
            return !b->pending            ? QString::number(b->hits)
                   : b->refused.isEmpty() ? tr("pending")
                                          : tr("refused");
        default:
            return {};
        }
    }
    if (role == Qt::DecorationRole && index.column() == Location && !b->refused.isEmpty()) {
        return icon(QStringLiteral("warning"));
    }
    if (role == Qt::ToolTipRole && !b->refused.isEmpty()) {
        return tr("%1\ngdb does not set it: %2\nA new run is held before main until it is corrected or "
                  "removed.")
            .arg(b->pending ? b->location : QStringLiteral("%1:%2").arg(b->file).arg(b->line), b->refused);
    }
    if (role == Qt::ToolTipRole) {
        return b->pending
                   ? tr("%1\nNot found in the program yet. It is looked for again when libraries are loaded; "
                        "check the spelling, and that the program was compiled with -g.")
                         .arg(b->location)
                   : QStringLiteral("%1:%2").arg(b->file).arg(b->line);
    }
    if (role == Qt::ForegroundRole && b->enabled && b->pending && !b->refused.isEmpty()) {
        return accent(Accent::Red, isDark(QGuiApplication::palette()));
    }
    if (role == Qt::ForegroundRole && (!b->enabled || b->pending)) {
        return QGuiApplication::palette().brush(QPalette::PlaceholderText);
    }
    return {};
}

QVariant BreakpointsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case Location:
        return tr("Place");
    case Condition:
        return tr("Condition");
    case Ranks:
        return tr("Ranks");
    case Hits:
        return tr("Hits");
    default:
        return {};
    }
}

Qt::ItemFlags BreakpointsModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags result = QAbstractTableModel::flags(index);
    return index.isValid() && index.column() == Location ? result | Qt::ItemIsUserCheckable : result;
}

bool BreakpointsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    const UserBreakpoint* b = index.isValid() ? at(index.row()) : nullptr;
    if (b == nullptr || role != Qt::CheckStateRole || index.column() != Location) {
        return false;
    }
    m_session->setBreakpointEnabled(b->id, value.toInt() == Qt::Checked);
    return true;
}

} // namespace stopline::app
