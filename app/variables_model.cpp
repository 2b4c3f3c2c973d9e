#include "variables_model.h"

#include "theme.h"

#include <QFont>
#include <QGuiApplication>

#include <algorithm>

namespace stopline::app {

void VariablesModel::setVariables(const QString& scope, const QVector<mi::Variable>& variables) {
    beginResetModel();
    m_variables = variables;
    std::stable_partition(m_variables.begin(), m_variables.end(),
                          [](const mi::Variable& v) { return v.argument; });
    m_changed.clear();
    if (scope == m_scope) {
        for (const mi::Variable& v : variables) {
            const auto old = m_last.constFind(v.name);
            if (old != m_last.cend() && *old != v.value) {
                m_changed.insert(v.name);
            }
        }
    }
    m_scope = scope;
    m_last.clear();
    for (const mi::Variable& v : variables) {
        m_last.insert(v.name, v.value);
    }
    m_stale = false;
    endResetModel();
}

void VariablesModel::clearVariables() {
    beginResetModel();
    m_variables.clear();
    m_changed.clear();
    endResetModel();
}

void VariablesModel::setStale(bool stale) {
    if (stale != m_stale) {
        m_stale = stale;
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    }
}

void VariablesModel::setWatches(const QStringList& expressions) {
    beginResetModel();
    m_watches = expressions;
    endResetModel();
}

void VariablesModel::setWatchValue(const QString& expression, const QString& value, bool error) {
    const auto old = m_watchValues.constFind(expression);
    const bool changed = old != m_watchValues.cend() && !old->value.isEmpty() && old->value != value;
    m_watchValues.insert(expression, {value, error, changed});
    for (int row = 0; row < m_watches.size(); ++row) {
        if (m_watches.at(row) == expression) {
            emit dataChanged(index(row, 0), index(row, ColumnCount - 1));
        }
    }
}

void VariablesModel::clearWatchValues() {
    m_watchValues.clear();
    if (!m_watches.isEmpty()) {
        emit dataChanged(index(0, 0), index(static_cast<int>(m_watches.size()) - 1, ColumnCount - 1));
    }
}

void VariablesModel::removeWatch(int row) {
    if (!isWatch(row)) {
        return;
    }
    beginRemoveRows({}, row, row);
    m_watches.removeAt(row);
    endRemoveRows();
    emit watchesEdited();
}

int VariablesModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_watches.size() + m_variables.size()) + 1;
}

int VariablesModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant VariablesModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const bool dark = isDark(QGuiApplication::palette());
    const int row = index.row();
    if (isWatch(row)) {
        const QString& expression = m_watches.at(row);
        const WatchValue value = m_watchValues.value(expression);
        switch (role) {
        case Qt::DisplayRole:
        case Qt::EditRole:
            return index.column() == Name    ? expression
                   : index.column() == Value ? value.value
                                             : (role == Qt::DisplayRole ? tr("watched") : QString());
        case Qt::ToolTipRole:
            return value.value;
        case Qt::FontRole: {
            QFont font = index.column() == Value ? fixedFont() : QFont();
            font.setItalic(index.column() == Type);
            font.setBold(value.changed && index.column() == Value);
            return font;
        }
        case Qt::ForegroundRole:
            if (value.error || index.column() == Type || m_stale) {
                return QGuiApplication::palette().brush(QPalette::PlaceholderText);
            }
            return value.changed ? QVariant(accent(Accent::Orange, dark)) : QVariant();
        default:
            return {};
        }
    }
    const int at = variableRow(row);
    if (at >= m_variables.size()) {
        if (role == Qt::DisplayRole && index.column() == Name) {
            return tr("add watch…");
        }
        if (role == Qt::EditRole) {
            return QString();
        }
        if (role == Qt::FontRole) {
            QFont font;
            font.setItalic(true);
            return font;
        }
        if (role == Qt::ForegroundRole) {
            return QGuiApplication::palette().brush(QPalette::PlaceholderText);
        }
        return {};
    }
    const mi::Variable& variable = m_variables.at(at);
    const bool changed = m_changed.contains(variable.name);
    switch (role) {
    case Qt::DisplayRole:
        return index.column() == Name    ? variable.name
               : index.column() == Value ? variable.value
                                         : variable.type;
    case Qt::ToolTipRole:
        return QStringLiteral("%1%2 %3 = %4")
            .arg(variable.argument ? tr("argument: ") : QString(), variable.type, variable.name,
                 variable.value);
    case Qt::FontRole: {
        QFont font = index.column() == Value ? fixedFont() : QFont();
        font.setBold(changed && index.column() == Value);
        return font;
    }
    case Qt::ForegroundRole:
        if (m_stale || index.column() == Type) {
            return QGuiApplication::palette().brush(QPalette::PlaceholderText);
        }
        return changed ? QVariant(accent(Accent::Orange, dark)) : QVariant();
    default:
        return {};
    }
}

QVariant VariablesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    return section == Name    ? tr("Name")
           : section == Value ? tr("Value")
           : section == Type  ? tr("Type")
                              : QString();
}

Qt::ItemFlags VariablesModel::flags(const QModelIndex& index) const {
    Qt::ItemFlags result = QAbstractTableModel::flags(index);
    const bool editable = isWatch(index.row()) || variableRow(index.row()) == m_variables.size();
    return editable && index.column() == Name ? result | Qt::ItemIsEditable : result;
}

bool VariablesModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::EditRole || !(flags(index) & Qt::ItemIsEditable)) {
        return false;
    }
    const QString expression = value.toString().trimmed();
    const int row = index.row();
    if (isWatch(row)) {
        if (expression.isEmpty()) {
            removeWatch(row);
            return true;
        }
        m_watches[row] = expression;
        emit dataChanged(index, index.siblingAtColumn(ColumnCount - 1));
    } else {
        if (expression.isEmpty()) {
            return false;
        }
        const int at = static_cast<int>(m_watches.size());
        beginInsertRows({}, at, at);
        m_watches << expression;
        endInsertRows();
    }
    emit watchesEdited();
    return true;
}

} // namespace stopline::app
