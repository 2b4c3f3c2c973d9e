#include "variables_model.h"

#include "theme.h"

#include <QFont>
#include <QGuiApplication>

#include <algorithm>

namespace stopline::app {

using Kind = VariableNode::Kind;
using Fetch = VariableNode::Fetch;

VariablesModel::VariablesModel(QObject* parent)
    : QAbstractItemModel(parent), m_root(std::make_unique<Node>()) {
    m_root->children.push_back(make(Kind::Add, tr("add watch…")));
}

// --- What there is to show ---

void VariablesModel::setVariables(const QString& scope, const QVector<mi::Variable>& variables,
                                  qint64 process) {
    QVector<mi::Variable> sorted = variables;
    std::stable_partition(sorted.begin(), sorted.end(), [](const mi::Variable& v) { return v.argument; });
    setNote({});
    const bool sameScope = scope == m_scope;
    const bool sameProcess = process == m_process;
    m_scope = scope;
    m_process = process;
    setStale(false);
    clearMarks(*m_root);
    if (!sameScope) {
        m_last.clear();
        reset(sorted);
    } else {
        matchRows(sorted);
    }
    if (!sameScope || !sameProcess) {
        // What gdb kept was of another frame, or gdb itself is another one; of watches as well.
        for (const auto& node : m_root->children) {
            dropParts(*node, sameProcess);
        }
    }
    for (int i = 0; i < sorted.size(); ++i) {
        Node& node = *m_root->children[static_cast<std::size_t>(watchCount() + i)];
        const mi::Variable& variable = sorted.at(i);
        const auto last = m_last.constFind(variable.name);
        node.changed = last != m_last.cend() && *last != variable.value;
        node.value = variable.value;
        node.expandable = mayHaveParts(variable);
        if (!node.expandable) {
            dropParts(node, true);
        }
        changedRow(&node);
    }
    m_last.clear();
    for (const mi::Variable& variable : std::as_const(sorted)) {
        m_last.insert(variable.name, variable.value);
    }
    refetch(*m_root);
}

void VariablesModel::clearVariables() {
    while (variableCount() > 0) {
        removeTop(watchCount());
    }
}

void VariablesModel::setNote(const QString& note) {
    const int last = static_cast<int>(m_root->children.size()) - 1;
    if (m_noted && note.isEmpty()) {
        removeTop(last - 1);
        m_noted = false;
    } else if (m_noted) {
        Node& node = *m_root->children[static_cast<std::size_t>(last - 1)];
        node.name = note;
        changedRow(&node);
    } else if (!note.isEmpty()) {
        insertTop(last, make(Kind::Note, note));
        m_noted = true;
    }
}

/// Other rows altogether; the user's expressions and the empty row stay.
void VariablesModel::reset(const QVector<mi::Variable>& variables) {
    clearVariables();
    matchRows(variables);
}

/// Rows that are there already stay, with all that hangs below them.
void VariablesModel::matchRows(const QVector<mi::Variable>& variables) {
    const auto same = [](const Node& node, const mi::Variable& v) {
        return node.name == v.name && node.type == v.type && node.argument == v.argument;
    };
    for (int i = 0; i < variables.size(); ++i) {
        const mi::Variable& wanted = variables.at(i);
        int found = -1;
        for (int j = i; j < variableCount() && found < 0; ++j) {
            found = same(*m_root->children[static_cast<std::size_t>(watchCount() + j)], wanted) ? j : -1;
        }
        for (int j = i; j < found; ++j) {
            removeTop(watchCount() + i);
        }
        if (found < 0) {
            auto node = make(Kind::Variable, wanted.name);
            node->type = wanted.type;
            node->argument = wanted.argument;
            node->value = wanted.value;
            node->expandable = mayHaveParts(wanted);
            insertTop(watchCount() + i, std::move(node));
        }
    }
    while (variableCount() > variables.size()) {
        removeTop(watchCount() + static_cast<int>(variables.size()));
    }
}

void VariablesModel::setStale(bool stale) {
    if (stale != m_stale) {
        m_stale = stale;
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    }
}

void VariablesModel::setWatches(const QStringList& expressions) {
    while (watchCount() > 0) {
        --m_watchCount;
        removeTop(0);
    }
    for (const QString& expression : expressions) {
        insertTop(m_watchCount, make(Kind::Watch, expression));
        ++m_watchCount;
    }
}

QStringList VariablesModel::watches() const {
    QStringList all;
    for (int i = 0; i < watchCount(); ++i) {
        all << m_root->children[static_cast<std::size_t>(i)]->name;
    }
    return all;
}

void VariablesModel::setWatchValue(const QString& expression, const QString& value, bool error) {
    for (int i = 0; i < watchCount(); ++i) {
        Node& node = *m_root->children[static_cast<std::size_t>(i)];
        if (node.name != expression) {
            continue;
        }
        node.changed = !node.value.isEmpty() && node.value != value;
        node.value = value;
        node.error = error;
        node.expandable = !error && mayHaveParts(value);
        if (!node.expandable) {
            dropParts(node, true);
        }
        changedRow(&node);
        refetch(node);
    }
}

void VariablesModel::clearWatchValues() {
    for (int i = 0; i < watchCount(); ++i) {
        Node& node = *m_root->children[static_cast<std::size_t>(i)];
        node.value.clear();
        node.changed = false;
        node.error = false;
        node.expandable = false;
        dropParts(node, true);
        changedRow(&node);
    }
}

void VariablesModel::removeWatch(const QModelIndex& index) {
    if (isWatch(index)) {
        --m_watchCount;
        removeTop(index.row());
        emit watchesEdited();
    }
}

bool VariablesModel::isWatch(const QModelIndex& index) const {
    return index.isValid() && nodeOf(index)->kind == Kind::Watch;
}

bool VariablesModel::isMore(const QModelIndex& index) const {
    return index.isValid() && nodeOf(index)->kind == Kind::More;
}

bool VariablesModel::isAdd(const QModelIndex& index) const {
    return index.isValid() && nodeOf(index)->kind == Kind::Add;
}

QString VariablesModel::path(const QModelIndex& index) const {
    return index.isValid() ? nodeOf(index)->path() : QString();
}

// --- Rows ---

std::unique_ptr<VariableNode> VariablesModel::make(Kind kind, const QString& name) const {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->name = name;
    node->id = m_nextId++;
    node->parent = m_root.get();
    return node;
}

VariableNode* VariablesModel::nodeOf(const QModelIndex& index) const {
    return index.isValid() ? static_cast<Node*>(index.internalPointer()) : m_root.get();
}

QModelIndex VariablesModel::indexOf(const Node* node, int column) const {
    return node == m_root.get() ? QModelIndex() : createIndex(node->row(), column, const_cast<Node*>(node));
}

int VariablesModel::variableCount() const {
    return static_cast<int>(m_root->children.size()) - m_watchCount - (m_noted ? 2 : 1);
}

void VariablesModel::insertTop(int row, std::unique_ptr<Node> node) {
    beginInsertRows({}, row, row);
    m_root->children.insert(m_root->children.begin() + row, std::move(node));
    endInsertRows();
}

void VariablesModel::removeTop(int row) {
    Node& node = *m_root->children[static_cast<std::size_t>(row)];
    if (!node.handle.isEmpty()) {
        emit valueDropped(node.handle);
    }
    beginRemoveRows({}, row, row);
    m_root->children.erase(m_root->children.begin() + row);
    endRemoveRows();
}

void VariablesModel::changedRow(Node* node) {
    emit dataChanged(indexOf(node, 0), indexOf(node, ColumnCount - 1));
    if (node->openableTold != hasChildren(indexOf(node))) {
        node->openableTold = !node->openableTold;
        emit openableChanged();
    }
}

QModelIndex VariablesModel::index(int row, int column, const QModelIndex& parent) const {
    const Node* node = nodeOf(parent);
    if (row < 0 || column < 0 || column >= ColumnCount || parent.column() > 0 ||
        row >= static_cast<int>(node->children.size())) {
        return {};
    }
    return createIndex(row, column, node->children[static_cast<std::size_t>(row)].get());
}

QModelIndex VariablesModel::parent(const QModelIndex& index) const {
    return index.isValid() ? indexOf(nodeOf(index)->parent) : QModelIndex();
}

int VariablesModel::rowCount(const QModelIndex& parent) const {
    return parent.column() > 0 ? 0 : static_cast<int>(nodeOf(parent)->children.size());
}

int VariablesModel::columnCount(const QModelIndex&) const {
    return ColumnCount;
}

bool VariablesModel::hasChildren(const QModelIndex& parent) const {
    if (parent.column() > 0) {
        return false;
    }
    return !parent.isValid() || nodeOf(parent)->expandable || !nodeOf(parent)->children.empty();
}

QVariant VariablesModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const Node& node = *nodeOf(index);
    const bool plain = node.kind == Kind::Add || node.kind == Kind::More || node.kind == Kind::Note;
    const bool changed = node.changed && index.column() == Value;
    switch (role) {
    case Qt::EditRole:
        return node.kind == Kind::Add ? QString() : index.column() == Name ? node.name : QVariant();
    case Qt::DisplayRole:
        return index.column() == Name        ? node.name
               : index.column() == Value     ? node.value
               : node.kind == Kind::Watch    ? tr("watched")
                                             : shortType(node.type);
    case Qt::ToolTipRole:
        return node.kind == Kind::Variable || node.kind == Kind::Part
                   ? QStringLiteral("%1%2 %3 = %4")
                         .arg(node.argument ? tr("argument: ") : QString(), node.type, node.name, node.value)
                   : node.value;
    case Qt::FontRole: {
        QFont font = index.column() == Value ? fixedFont() : QFont();
        font.setItalic(plain || (node.kind == Kind::Watch && index.column() == Type));
        font.setBold(changed);
        return font;
    }
    case Qt::ForegroundRole:
        if (plain || m_stale || node.error || index.column() == Type) {
            return QGuiApplication::palette().brush(QPalette::PlaceholderText);
        }
        return changed ? QVariant(accent(Accent::Orange, isDark(QGuiApplication::palette()))) : QVariant();
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
    const Qt::ItemFlags result = QAbstractItemModel::flags(index);
    if (!index.isValid() || index.column() != Name) {
        return result;
    }
    const Kind kind = nodeOf(index)->kind;
    return kind == Kind::Watch || kind == Kind::Add ? result | Qt::ItemIsEditable : result;
}

bool VariablesModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::EditRole || !(flags(index) & Qt::ItemIsEditable)) {
        return false;
    }
    const QString expression = value.toString().trimmed();
    if (isWatch(index)) {
        if (expression.isEmpty()) {
            removeWatch(index);
            return true;
        }
        Node& node = *nodeOf(index);
        if (node.name == expression) {
            return true;
        }
        dropParts(node, true);
        node.name = expression;
        node.value.clear();
        node.expandable = false;
        changedRow(&node);
    } else {
        if (expression.isEmpty()) {
            return false;
        }
        insertTop(m_watchCount, make(Kind::Watch, expression));
        ++m_watchCount;
    }
    emit watchesEdited();
    return true;
}

} // namespace stopline::app
