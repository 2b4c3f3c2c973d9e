// Values with parts, by gdb's variable objects: structures, arrays, what pointers point to.
#include "gdb_session_impl.h"
#include "gdb_values.h"

#include <QSet>

#include <algorithm>
#include <memory>
#include <utility>

namespace stopline::mi {

namespace {

QByteArray quoted(const QString& text) {
    return QByteArray::fromStdString(quote(text.toStdString()));
}

/// How many parts a Fortran array has, by its type, "real(kind=8) (3,0:1)": its last extent; -1 for all else.
/// Of array sections gdb counts by the bytes that they span, which may be too many.
int lastExtent(const QString& type) {
    const QString plain = type.trimmed();
    if (!plain.endsWith(u')')) {
        return -1;
    }
    const qsizetype begin = std::max(plain.lastIndexOf(u'('), plain.lastIndexOf(u',')) + 1;
    const QStringList bounds = plain.mid(begin).chopped(1).split(u':');
    bool isNumber = false;
    const int last = bounds.last().toInt(&isNumber);
    bool isFirst = true;
    const int first = bounds.size() == 2 ? bounds.first().toInt(&isFirst) : 1;
    return isNumber && isFirst && bounds.size() <= 2 ? std::max(0, last - first + 1) : -1;
}

/// gdb groups the members of a C++ class under "public", "protected" and "private", which are no members.
bool isAccessGroup(const ValueTree& tree) {
    return tree.type.isEmpty() &&
           (tree.name == u"public" || tree.name == u"protected" || tree.name == u"private");
}

/// A list whose access groups are replaced by what is in them, in the order in which they stand.
struct Flattening {
    QVector<ValueTree> listed;
    QVector<QVector<ValueTree>> inside; ///< by index in `listed`; empty for what is no group
    int left = 0;
    std::optional<Error> error;
    GdbSession::Handler<QVector<ValueTree>> handler;

    void finish() const {
        if (error) {
            handler(*error);
            return;
        }
        QVector<ValueTree> all;
        for (qsizetype i = 0; i < listed.size(); ++i) {
            if (isAccessGroup(listed[i])) {
                all += inside[i];
            } else {
                all.append(listed[i]);
            }
        }
        handler(all);
    }
};

} // namespace

template <typename From>
ValueTree GdbSession::Impl::toTree(const From& value) {
    ValueTree tree;
    tree.handle = toText(value["name"].text());
    tree.name = toText(value["exp"].text());
    tree.type = toText(value["type"].text());
    tree.value = toText(value["value"].text());
    if (value["dynamic"].text() != "1") {
        tree.parts = std::max(0, value["numchild"].toInt());
        if (const int extent = lastExtent(tree.type); extent >= 0 && extent < tree.parts) {
            tree.parts = extent;
            extents.insert(tree.handle, extent);
        }
        return tree;
    }
    const std::string& hint = value["displayhint"].text();
    printed.insert(tree.handle, hint == "map" ? Printed::Map : Printed::List);
    // The answer to -var-create says whether there are parts, that to a listing does not.
    tree.parts = hint != "string" && (value["has_more"].isNull() || value["has_more"].text() == "1") ? 1 : 0;
    return tree;
}

/// gdb lists a map as key, value, key, value: made to one part for each pair, named by its key.
void GdbSession::Impl::pairUp(const QString& map, QVector<ValueTree>& parts, int from) {
    QVector<ValueTree> pairs;
    for (qsizetype i = 0; i + 1 < parts.size(); i += 2) {
        const ValueTree& key = parts[i];
        ValueTree pair = parts[i + 1];
        pair.name = key.parts > 0 ? tr("[key %1]").arg(from + i / 2) : QStringLiteral("[%1]").arg(key.value);
        mapOfKey.insert(key.handle, map);
        pairs.append(pair);
    }
    parts = pairs;
}

void GdbSession::openValue(const QString& expression, int threadId, int frame, Handler<ValueTree> handler) {
    m_impl->loadPrinters();
    Command command{.text = "-var-create" + Impl::context(threadId, frame) + " - * " + quoted(expression),
                    .kind = Command::Kind::Refresh,
                    .needsStopped = true,
                    .mayCallFunctions = true};
    command.handler = [this, expression, threadId, frame,
                       handler = std::move(handler)](const Result<Answer>& answer) {
        if (!answer && answer.error().code == ErrorCode::GdbError) {
            // "unable to create variable object" helps nobody: why it cannot be evaluated does.
            evaluate(expression, threadId, frame,
                     [handler, error = answer.error()](const Result<QString>& value) {
                         handler(value ? error : value.error());
                     });
            return;
        }
        if (!answer) {
            handler(answer.error());
            return;
        }
        ValueTree tree = m_impl->toTree(answer.value().record);
        tree.name = expression;
        handler(tree);
    };
    // What it has made is of no use to anybody, and would be brought up to date for ever.
    command.late = [this](const Record& record) {
        if (const std::string& name = record["name"].text(); !name.empty()) {
            m_impl->request("-var-delete " + QByteArray::fromStdString(name), {});
        }
    };
    m_impl->queue.post(std::move(command));
}

void GdbSession::valueParts(const QString& handle, int from, int to, Handler<QVector<ValueTree>> handler) {
    to = std::min(to, m_impl->extents.value(handle, to));
    if (from >= to) {
        m_impl->failLater([handler = std::move(handler)] { handler(QVector<ValueTree>{}); });
        return;
    }
    const auto shown = m_impl->printed.constFind(handle);
    const bool isMap = shown != m_impl->printed.cend() && *shown == Impl::Printed::Map;
    const int perPart = isMap ? 2 : 1;
    if (shown != m_impl->printed.cend()) {
        // Or every update would list all that a printer shows, millions of elements perhaps.
        m_impl->request("-var-set-update-range " + quoted(handle) + " 0 " + QByteArray::number(to * perPart),
                        {});
    }
    const auto list = [this](const QString& of, int first, int last,
                             std::function<void(const Result<Answer>&)> then) {
        Command command{.text = "-var-list-children --all-values " + quoted(of) + ' ' +
                                QByteArray::number(first) + ' ' + QByteArray::number(last),
                        .kind = Command::Kind::Refresh,
                        .needsStopped = true};
        command.handler = std::move(then);
        m_impl->queue.post(std::move(command));
    };
    const auto flatten = [this, list, to, from, handle, isMap,
                          handler = std::move(handler)](const Result<Answer>& answer) {
        if (!answer) {
            handler(answer.error());
            return;
        }
        auto job = std::make_shared<Flattening>();
        job->handler = handler;
        for (const Value& child : answer.value().record["children"].children()) {
            job->listed.append(m_impl->toTree(child));
        }
        if (isMap) {
            m_impl->pairUp(handle, job->listed, from);
        }
        job->inside.resize(job->listed.size());
        job->left = 1;
        for (qsizetype i = 0; i < job->listed.size(); ++i) {
            if (!isAccessGroup(job->listed[i])) {
                continue;
            }
            ++job->left;
            list(job->listed[i].handle, 0, to, [this, job, i](const Result<Answer>& members) {
                if (members) {
                    for (const Value& child : members.value().record["children"].children()) {
                        job->inside[i].append(m_impl->toTree(child));
                    }
                } else {
                    job->error = members.error();
                }
                if (--job->left == 0) {
                    job->finish();
                }
            });
        }
        if (--job->left == 0) {
            job->finish();
        }
    };
    list(handle, from * perPart, to * perPart, flatten);
}

void GdbSession::updateValues(Handler<QVector<ValueChange>> handler) {
    Command command{.text = "-var-update --all-values *",
                    .kind = Command::Kind::Refresh,
                    .needsStopped = true,
                    .mayCallFunctions = true};
    command.handler = [this, handler = std::move(handler)](const Result<Answer>& answer) {
        if (!answer) {
            handler(answer.error());
            return;
        }
        QVector<ValueChange> changes;
        QSet<QString> otherKeys;
        for (const Value& value : answer.value().record["changelist"].children()) {
            ValueChange change;
            change.handle = toText(value["name"].text());
            change.value = toText(value["value"].text());
            change.inScope = value["in_scope"].text() == "true";
            change.typeChanged = value["type_changed"].text() == "true";
            change.type = toText(value["new_type"].text());
            change.parts = value["new_num_children"].toInt(-1);
            if (const QString map = m_impl->mapOfKey.value(change.handle); !map.isEmpty()) {
                otherKeys.insert(map);
                continue;
            }
            if (value["dynamic"].text() == "1" && change.parts >= 0) {
                change.parts = change.parts > 0 || value["has_more"].text() == "1" ? 1 : 0;
            }
            changes.append(change);
        }
        for (const QString& map : otherKeys) { // its parts have other names now
            ValueChange renamed;
            renamed.handle = map;
            renamed.value = QStringLiteral("{...}");
            renamed.parts = 1;
            changes.append(renamed);
        }
        handler(changes);
    };
    m_impl->queue.post(std::move(command));
}

void GdbSession::closeValue(const QString& handle) {
    const auto gone = [inside = handle + u'.', &handle](const auto& entry) {
        return entry.key() == handle || entry.key().startsWith(inside);
    };
    m_impl->printed.removeIf(gone);
    m_impl->extents.removeIf(gone);
    m_impl->mapOfKey.removeIf(gone);
    m_impl->request("-var-delete " + quoted(handle), {});
}

} // namespace stopline::mi
