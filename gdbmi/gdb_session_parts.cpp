// Values with parts, by gdb's variable objects: structures, arrays, what pointers point to.
#include "gdb_session_impl.h"
#include "gdb_values.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace stopline::mi {

namespace {

QByteArray quoted(const QString& text) {
    return QByteArray::fromStdString(quote(text.toStdString()));
}

ValueTree toTree(const Value& value) {
    ValueTree tree;
    tree.handle = toText(value["name"].text());
    tree.name = toText(value["exp"].text());
    tree.type = toText(value["type"].text());
    tree.value = toText(value["value"].text());
    tree.parts = std::max(0, value["numchild"].toInt());
    return tree;
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

void GdbSession::openValue(const QString& expression, int threadId, int frame, Handler<ValueTree> handler) {
    Command command{.text = "-var-create" + Impl::context(threadId, frame) + " - * " + quoted(expression),
                    .kind = Command::Kind::Refresh,
                    .needsStopped = true,
                    .mayCallFunctions = true};
    command.handler = [this, expression, threadId, frame,
                       handler = std::move(handler)](const Result<Answer>& answer) {
        if (!answer && answer.error().code == ErrorCode::GdbError) {
            // "unable to create variable object" helps nobody: why it cannot be evaluated does.
            evaluate(expression, threadId, frame, [handler, error = answer.error()](const Result<QString>& value) {
                handler(value ? error : value.error());
            });
            return;
        }
        if (!answer) {
            handler(answer.error());
            return;
        }
        ValueTree tree;
        const Record& record = answer.value().record;
        tree.handle = toText(record["name"].text());
        tree.name = expression;
        tree.type = toText(record["type"].text());
        tree.value = toText(record["value"].text());
        tree.parts = std::max(0, record["numchild"].toInt());
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
    const auto list = [this](const QString& of, int first, int last,
                             std::function<void(const Result<Answer>&)> then) {
        Command command{.text = "-var-list-children --all-values " + quoted(of) + ' ' +
                                QByteArray::number(first) + ' ' + QByteArray::number(last),
                        .kind = Command::Kind::Refresh,
                        .needsStopped = true};
        command.handler = std::move(then);
        m_impl->queue.post(std::move(command));
    };
    list(handle, from, to, [list, to, handler = std::move(handler)](const Result<Answer>& answer) {
        if (!answer) {
            handler(answer.error());
            return;
        }
        auto job = std::make_shared<Flattening>();
        job->handler = handler;
        for (const Value& child : answer.value().record["children"].children()) {
            job->listed.append(toTree(child));
        }
        job->inside.resize(job->listed.size());
        job->left = 1;
        for (qsizetype i = 0; i < job->listed.size(); ++i) {
            if (!isAccessGroup(job->listed[i])) {
                continue;
            }
            ++job->left;
            list(job->listed[i].handle, 0, to, [job, i](const Result<Answer>& members) {
                if (members) {
                    for (const Value& child : members.value().record["children"].children()) {
                        job->inside[i].append(toTree(child));
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
    });
}

void GdbSession::updateValues(Handler<QVector<ValueChange>> handler) {
    Command command{.text = "-var-update --all-values *",
                    .kind = Command::Kind::Refresh,
                    .needsStopped = true,
                    .mayCallFunctions = true};
    command.handler = [handler = std::move(handler)](const Result<Answer>& answer) {
        if (!answer) {
            handler(answer.error());
            return;
        }
        QVector<ValueChange> changes;
        for (const Value& value : answer.value().record["changelist"].children()) {
            ValueChange change;
            change.handle = toText(value["name"].text());
            change.value = toText(value["value"].text());
            change.inScope = value["in_scope"].text() == "true";
            change.typeChanged = value["type_changed"].text() == "true";
            change.type = toText(value["new_type"].text());
            change.parts = value["new_num_children"].toInt(-1);
            changes.append(change);
        }
        handler(changes);
    };
    m_impl->queue.post(std::move(command));
}

void GdbSession::closeValue(const QString& handle) {
    m_impl->request("-var-delete " + quoted(handle), {});
}

} // namespace stopline::mi
