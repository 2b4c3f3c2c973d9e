#include "variable_node.h"

#include <algorithm>

namespace stopline::app {

int VariableNode::row() const {
    if (parent == nullptr) {
        return 0;
    }
    const auto at = std::find_if(parent->children.begin(), parent->children.end(),
                                 [this](const auto& one) { return one.get() == this; });
    return static_cast<int>(at - parent->children.begin());
}

int VariableNode::partCount() const {
    const bool more = !children.empty() && children.back()->kind == Kind::More;
    return static_cast<int>(children.size()) - (more ? 1 : 0);
}

VariableNode* VariableNode::find(const QString& wantedHandle) {
    if (!handle.isEmpty() && handle == wantedHandle) {
        return this;
    }
    for (const auto& child : children) {
        if (VariableNode* found = child->find(wantedHandle)) {
            return found;
        }
    }
    return nullptr;
}

QString VariableNode::path() const {
    return parent == nullptr || parent->kind == Kind::Root ? name : parent->path() + u'/' + name;
}

QString partName(const VariableNode& whole, const QString& name) {
    bool index = false;
    name.toLongLong(&index);
    if (!index) {
        return name;
    }
    const QString type = whole.type.trimmed();
    if (type.contains(u'[') || !type.endsWith(u')')) {
        return QStringLiteral("[%1]").arg(name);
    }
    if (const qsizetype open = whole.name.lastIndexOf(u':'); whole.kind == VariableNode::Kind::Part && open >= 0) {
        return QString(whole.name).replace(open, 1, name);
    }
    const QString bounds = type.mid(type.lastIndexOf(u'('));
    return u'(' + QStringLiteral(":,").repeated(bounds.count(u',')) + name + u')';
}

bool pointsAtSomething(const QString& type, const QString& value) {
    const QString plain = type.trimmed();
    const bool pointer = plain.endsWith(u'*') || plain.endsWith(QLatin1StringView("* const"));
    return pointer && !plain.contains(QLatin1StringView("void *")) && value != QLatin1StringView("0x0");
}

bool mayHaveParts(const QString& value) {
    return value.startsWith(u'{') || value.startsWith(u'(') || value.startsWith(QLatin1StringView("@0x")) ||
           (value.startsWith(QLatin1StringView("0x")) && value != QLatin1StringView("0x0"));
}

} // namespace stopline::app
