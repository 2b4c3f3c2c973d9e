// What is inside of variables: asked for when a row is opened, brought up to date at every stop.
#include "variables_model.h"

#include <algorithm>
#include <functional>

namespace stopline::app {

using Kind = VariableNode::Kind;
using Fetch = VariableNode::Fetch;

bool VariablesModel::canFetchMore(const QModelIndex& parent) const {
    const Node* node = nodeOf(parent);
    return parent.isValid() && parent.column() == 0 && node->expandable && node->fetch == Fetch::None &&
           !m_stale;
}

void VariablesModel::fetchMore(const QModelIndex& parent) {
    if (canFetchMore(parent)) {
        request(*nodeOf(parent));
    }
}

void VariablesModel::request(Node& node) {
    node.wanted = true;
    node.fetch = Fetch::Asked;
    if (node.handle.isEmpty()) {
        emit openWanted(node.id, node.name);
    } else {
        emit partsWanted(node.id, node.handle, 0, kPartsAtOnce);
    }
}

void VariablesModel::fetchRest(const QModelIndex& more) {
    if (!isMore(more) || m_stale) {
        return;
    }
    Node& node = *nodeOf(more)->parent;
    if (node.fetch == Fetch::Done) {
        node.fetch = Fetch::Asked;
        emit partsWanted(node.id, node.handle, node.partCount(), node.partCount() + kPartsAtOnce);
    }
}

VariableNode* VariablesModel::byId(quint64 id) const {
    const std::function<Node*(Node&)> search = [id, &search](Node& node) -> Node* {
        if (node.id == id) {
            return &node;
        }
        for (const auto& child : node.children) {
            if (Node* found = search(*child)) {
                return found;
            }
        }
        return nullptr;
    };
    return id == 0 ? nullptr : search(*m_root);
}

void VariablesModel::valueOpened(quint64 row, const mi::ValueTree& value) {
    Node* node = byId(row);
    if (node == nullptr || node->fetch != Fetch::Asked || !node->handle.isEmpty()) {
        emit valueDropped(value.handle);
        return;
    }
    node->handle = value.handle;
    if (node->type.isEmpty()) {
        node->type = value.type; // of a watch; its own column says "watched"
    }
    if (value.parts == 0) { // looked as if, but is a plain value
        node->expandable = false;
        node->fetch = Fetch::Done;
        changedRow(node);
        return;
    }
    emit partsWanted(node->id, node->handle, 0, kPartsAtOnce);
}

void VariablesModel::partsListed(quint64 row, int from, const QVector<mi::ValueTree>& parts) {
    Node* node = byId(row);
    if (node == nullptr || node->fetch != Fetch::Asked || node->partCount() != from) {
        return;
    }
    node->fetch = Fetch::Done;
    const QModelIndex parent = indexOf(node);
    if (!node->children.empty() && node->children.back()->kind == Kind::More) {
        beginRemoveRows(parent, from, from);
        node->children.pop_back();
        endRemoveRows();
    }
    std::vector<std::unique_ptr<Node>> fresh;
    for (const mi::ValueTree& part : parts) {
        auto one = make(Kind::Part, partName(*node, part.name));
        one->parent = node;
        one->value = part.value;
        one->type = part.type;
        one->handle = part.handle;
        one->expandable = part.parts > 0 && part.value != QLatin1StringView("0x0");
        fresh.push_back(std::move(one));
    }
    if (parts.size() >= kPartsAtOnce) {
        auto more = make(Kind::More, tr("more…"));
        more->parent = node;
        fresh.push_back(std::move(more));
    }
    if (fresh.empty()) {
        node->expandable = from > 0;
        changedRow(node);
        return;
    }
    beginInsertRows(parent, from, from + static_cast<int>(fresh.size()) - 1);
    for (auto& one : fresh) {
        node->children.push_back(std::move(one));
    }
    endInsertRows();
}

void VariablesModel::partsFailed(quint64 row, const QString& why) {
    Node* node = byId(row);
    if (node == nullptr || node->fetch != Fetch::Asked) {
        return;
    }
    node->fetch = node->children.empty() ? Fetch::None : Fetch::Done;
    if (node->children.empty() && !m_stale && !why.isEmpty()) {
        node->fetch = Fetch::Done;
        auto note = make(Kind::Note, why);
        note->parent = node;
        beginInsertRows(indexOf(node), 0, 0);
        node->children.push_back(std::move(note));
        endInsertRows();
    }
}

/// Forgets what gdb has told of the inside of this row. `close`: gdb is still there and may forget it as well.
void VariablesModel::dropParts(Node& node, bool close) {
    if (close && !node.handle.isEmpty() && node.kind != Kind::Part) {
        emit valueDropped(node.handle);
    }
    if (node.kind != Kind::Part) {
        node.handle.clear();
    }
    node.fetch = Fetch::None;
    if (!node.children.empty()) {
        beginRemoveRows(indexOf(&node), 0, static_cast<int>(node.children.size()) - 1);
        node.children.clear();
        endRemoveRows();
    }
}

void VariablesModel::clearMarks(Node& node) {
    for (const auto& child : node.children) {
        if (child->changed && child->kind == Kind::Part) {
            child->changed = false;
            changedRow(child.get());
        }
        clearMarks(*child);
    }
}

/// Rows that somebody had opened and whose parts have been lost get them again.
void VariablesModel::refetch(Node& node) {
    if (!node.children.empty() && node.children.front()->kind == Kind::Note) {
        dropParts(node, true); // what failed then may not fail now
    }
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        refetch(*node.children[i]);
    }
    if (node.wanted && node.expandable && node.fetch == Fetch::None && !m_stale) {
        request(node);
    }
}

void VariablesModel::applyChanges(const QVector<mi::ValueChange>& changes) {
    for (const mi::ValueChange& change : changes) {
        Node* node = m_root->find(change.handle);
        if (node == nullptr) {
            continue;
        }
        if (!change.inScope || change.typeChanged || change.parts >= 0) {
            if (change.typeChanged && !change.type.isEmpty() && node->kind == Kind::Part) {
                node->type = change.type;
            }
            if (change.parts >= 0) {
                node->expandable = change.parts > 0;
            }
            // A part cannot be opened anew by its name; the whole it belongs to can.
            while (!change.inScope && node->kind == Kind::Part) {
                node = node->parent;
            }
            dropParts(*node, true);
            refetch(*node);
            changedRow(node);
        }
        if (node->kind == Kind::Part && node->value != change.value && change.inScope) {
            node->value = change.value;
            node->changed = true;
            // A pointer that points somewhere else may be looked into, or not any more.
            if (node->type.trimmed().endsWith(u'*')) {
                node->expandable = pointsAtSomething(node->type, change.value);
                if (!node->expandable) {
                    dropParts(*node, false);
                }
            }
            changedRow(node);
        }
    }
}

} // namespace stopline::app
