// Variables, values, threads.
#include "gdb_session_impl.h"
#include "gdb_values.h"

#include <algorithm>
#include <utility>

namespace stopline::mi {

namespace {

QByteArray quoted(const QString& text) {
    return QByteArray::fromStdString(quote(text.toStdString()));
}

} // namespace

void GdbSession::variables(int threadId, int frame, Handler<QVector<Variable>> handler) {
    m_impl->loadPrinters();
    const QByteArray text = "-stack-list-variables" + Impl::context(threadId, frame);
    Command types{.text = text + " --simple-values", .kind = Command::Kind::Refresh, .needsStopped = true};
    types.handler = [this, text, handler = std::move(handler),
                     resumes = m_impl->resumes](const Result<Answer>& answer) {
        if (!answer) {
            handler(answer.error());
            return;
        }
        QVector<Variable> all;
        bool complete = true;
        for (const Value& value : answer.value().record["variables"].children()) {
            const bool simple = !value["value"].isNull();
            all.append({toText(value["name"].text()), toText(value["type"].text()),
                        toText(value["value"].text()), value["arg"].text() == "1", !simple});
            complete = complete && simple;
        }
        const auto finish = [handler](QVector<Variable> variables) {
            std::stable_partition(variables.begin(), variables.end(),
                                  [](const Variable& v) { return v.argument; });
            handler(variables);
        };
        if (complete) {
            finish(std::move(all));
            return;
        }
        if (resumes != m_impl->resumes) {
            handler(Error{ErrorCode::Cancelled, tr("The program was resumed.")});
            return;
        }
        // Simple values come with types but leave out arrays and structures; all values come without types.
        Command values{.text = text + " --all-values", .kind = Command::Kind::Refresh, .needsStopped = true};
        values.handler = [handler, finish, all](const Result<Answer>& second) mutable {
            if (!second && second.error().code != ErrorCode::GdbError) {
                handler(second.error());
                return;
            }
            if (second) {
                const auto& listed = second.value().record["variables"].children();
                for (std::size_t i = 0; i < listed.size() && i < static_cast<std::size_t>(all.size()); ++i) {
                    Variable& variable = all[static_cast<qsizetype>(i)];
                    if (variable.value.isEmpty() && toText(listed[i]["name"].text()) == variable.name) {
                        variable.value = toText(listed[i]["value"].text());
                    }
                }
            }
            finish(std::move(all));
        };
        m_impl->queue.postFirst(std::move(values));
    };
    m_impl->queue.post(std::move(types));
}

void GdbSession::scalars(int threadId, int frame, Handler<std::map<QString, QString>> handler) {
    Command command{.text = "-stack-list-variables" + Impl::context(threadId, frame) + " --simple-values",
                    .kind = Command::Kind::Refresh,
                    .needsStopped = true};
    command.handler = [handler = std::move(handler)](const Result<Answer>& answer) {
        if (!answer) {
            handler(answer.error());
            return;
        }
        std::map<QString, QString> values;
        for (const Value& variable : answer.value().record["variables"].children()) {
            const QString type = toText(variable["type"].text()).trimmed();
            QString value = toText(variable["value"].text());
            if (value.startsWith(QLatin1StringView("@0x"))) { // what a reference refers to
                value = value.mid(value.indexOf(u':') + 1);
            }
            const bool address = type.endsWith(u'*') || type.endsWith(QLatin1StringView("* const"));
            if (!value.isEmpty() && !address && !value.contains(u'<')) {
                values.emplace(toText(variable["name"].text()), value.trimmed());
            }
        }
        handler(values);
    };
    m_impl->queue.post(std::move(command));
}

void GdbSession::evaluate(const QString& expression, int threadId, int frame, Handler<QString> handler) {
    m_impl->loadPrinters();
    Command command{.text = "-data-evaluate-expression" + Impl::context(threadId, frame) + ' ' +
                            quoted(expression),
                    .needsStopped = true,
                    .mayCallFunctions = true};
    command.handler = [handler = std::move(handler)](const Result<Answer>& answer) {
        if (handler) {
            handler(answer ? Result<QString>(toText(answer.value().record["value"].text()))
                           : Result<QString>(answer.error()));
        }
    };
    m_impl->queue.post(std::move(command));
}

// By the command `output`, not by a cast: every language of gdb casts in its own way.
void GdbSession::readNumber(const QString& expression, int threadId, int frame, Handler<quint64> handler) {
    QByteArray text = Impl::consoleCommand("output/x " + expression.toUtf8());
    text.insert(qsizetype(sizeof("-interpreter-exec") - 1), Impl::context(threadId, frame));
    Command command{.text = text, .needsStopped = true, .mayCallFunctions = true, .captureConsole = true};
    command.handler = [expression, handler = std::move(handler)](const Result<Answer>& answer) {
        if (!answer) {
            handler(answer.error());
            return;
        }
        bool isNumber = false;
        const quint64 number = answer.value().console.trimmed().toULongLong(&isNumber, 16);
        if (isNumber) {
            handler(number);
        } else {
            handler(Error{ErrorCode::BadAnswer,
                          tr("%1 is no number: %2").arg(expression, answer.value().console)});
        }
    };
    m_impl->queue.post(std::move(command));
}

void GdbSession::writeMemory(quint64 address, const QByteArray& bytes, Handler<Unit> handler) {
    m_impl->request(
        Command{.text = "-data-write-memory-bytes 0x" + QByteArray::number(address, 16) + ' ' + bytes.toHex(),
                .needsStopped = true},
        std::move(handler));
}

void GdbSession::threads(Handler<QVector<Thread>> handler) {
    Command command{.text = "-thread-info", .kind = Command::Kind::Refresh};
    command.handler = [handler = std::move(handler)](const Result<Answer>& answer) {
        if (!answer) {
            handler(answer.error());
            return;
        }
        QVector<Thread> all;
        for (const Value& value : answer.value().record["threads"].children()) {
            all.append(toThread(value));
        }
        handler(all);
    };
    m_impl->queue.post(std::move(command));
}

} // namespace stopline::mi
