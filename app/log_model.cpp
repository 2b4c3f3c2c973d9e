#include "log_model.h"

#include "icons.h"
#include "text.h"

#include <algorithm>

namespace stopline::app {

void LogModel::add(replay::Severity severity, const QString& text, const QString& remedy) {
    if (m_rows.size() >= kMostRows) {
        beginRemoveRows({}, 0, kMostRows / 10 - 1);
        m_rows.remove(0, kMostRows / 10);
        endRemoveRows();
    }
    const int at = static_cast<int>(m_rows.size());
    beginInsertRows({}, at, at);
    m_rows.append({QTime::currentTime(), severity, text, remedy});
    endInsertRows();
}

int LogModel::problems() const {
    return static_cast<int>(std::count_if(
        m_rows.begin(), m_rows.end(), [](const Row& row) { return row.severity != replay::Severity::Info; }));
}

int LogModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int LogModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant LogModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= m_rows.size()) {
        return {};
    }
    const Row& row = m_rows.at(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return index.column() == When ? row.when.toString(QStringLiteral("HH:mm:ss"))
                                      : (index.column() == Text ? row.text : row.remedy);
    case Qt::ToolTipRole:
        return row.remedy.isEmpty() ? row.text : row.text + QStringLiteral("\n\n") + row.remedy;
    case Qt::DecorationRole:
        return index.column() == Text ? QVariant(icon(severityText(row.severity))) : QVariant();
    default:
        return {};
    }
}

QVariant LogModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    return section == When ? tr("Time") : section == Text ? tr("Message") : tr("What to do");
}

} // namespace stopline::app
