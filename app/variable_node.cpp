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
    if (const qsizetype open = whole.name.lastIndexOf(u':');
        whole.kind == VariableNode::Kind::Part && open >= 0) {
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
    // "std::vector of length 2, capacity 2 = {1, 2}" as gdb's printers have it, too
    return value.startsWith(u'{') || value.endsWith(u'}') || value.startsWith(u'(') ||
           value.startsWith(QLatin1StringView("@0x")) ||
           (value.startsWith(QLatin1StringView("0x")) && value != QLatin1StringView("0x0"));
}

bool mayHaveParts(const mi::Variable& variable) {
    const bool text =
        variable.value.startsWith(u'"') && !variable.type.trimmed().endsWith(u']'); // std::string
    return (variable.composite && !text) || pointsAtSomething(variable.type, variable.value);
}

namespace {

/// Where the argument that begins at `from` ends: at its comma, or at the bracket that closes the list.
qsizetype argumentEnd(QStringView type, qsizetype from) {
    int depth = 0;
    for (qsizetype i = from; i < type.size(); ++i) {
        const QChar c = type[i];
        if (c == u'<' || c == u'(' || c == u'[') {
            ++depth;
        } else if (c == u'>' || c == u')' || c == u']') {
            if (depth-- == 0) {
                return i;
            }
        } else if (c == u',' && depth == 0) {
            return i;
        }
    }
    return type.size();
}

/// Arguments of templates that nobody writes, as they have defaults.
bool isDefaulted(QStringView argument) {
    for (const QStringView name : {u"std::allocator<", u"std::char_traits<", u"std::less<", u"std::hash<",
                                   u"std::equal_to<", u"std::default_delete<"}) {
        if (argument.startsWith(name)) {
            return true;
        }
    }
    return false;
}

} // namespace

QString shortType(const QString& type) {
    QString plain = type;
    plain.replace(QLatin1StringView("(kind="), QLatin1StringView("("));
    if (!type.contains(QLatin1StringView("std::"))) {
        return plain;
    }
    plain.remove(QLatin1StringView("__cxx11::"));
    for (qsizetype at = plain.indexOf(u", std::"); at >= 0; at = plain.indexOf(u", std::", at)) {
        const qsizetype begin = at + 2;
        if (isDefaulted(QStringView(plain).mid(begin))) {
            plain.remove(at, argumentEnd(plain, begin) - at);
        } else {
            at = begin;
        }
    }
    plain.replace(QLatin1StringView(" >"), QLatin1StringView(">"));
    plain.replace(QLatin1StringView("std::basic_string<char>"), QLatin1StringView("std::string"));
    return plain;
}

} // namespace stopline::app
