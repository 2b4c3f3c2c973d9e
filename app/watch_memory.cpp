#include "watch_memory.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSettings>

namespace stopline::app {

namespace {

const QString kKey = QStringLiteral("variables/watchesByProgram");
const QString kProgram = QStringLiteral("program");
const QString kExpressions = QStringLiteral("expressions");

QJsonArray stored() {
    return QJsonDocument::fromJson(QSettings().value(kKey).toByteArray()).array();
}

} // namespace

QStringList watchesOf(const QString& program) {
    for (const auto& entry : stored()) {
        const QJsonObject one = entry.toObject();
        if (!program.isEmpty() && one.value(kProgram).toString() == program) {
            QStringList expressions;
            for (const auto& expression : one.value(kExpressions).toArray()) {
                expressions << expression.toString();
            }
            return expressions;
        }
    }
    return {};
}

void rememberWatches(const QString& program, const QStringList& expressions) {
    if (program.isEmpty()) {
        return;
    }
    QJsonArray all;
    if (!expressions.isEmpty()) {
        all.append(QJsonObject{{kProgram, program}, {kExpressions, QJsonArray::fromStringList(expressions)}});
    }
    for (const auto& entry : stored()) {
        if (entry.toObject().value(kProgram).toString() != program && all.size() < kMostWatchedPrograms) {
            all.append(entry);
        }
    }
    QSettings().setValue(kKey, QJsonDocument(all).toJson(QJsonDocument::Compact));
}

} // namespace stopline::app
