#include "launch_memory.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QSettings>

#include <algorithm>

namespace stopline::app {

using replay::LaunchSpec;

namespace {
const QString kKey = QStringLiteral("launch/recent");
}

QString joinWords(const QStringList& words) {
    static const QString kNeedQuotes = QStringLiteral(" \t\n\"'\\|&;<>()$`*?[]#~!{}");
    QStringList quoted;
    for (QString word : words) {
        const bool plain = !word.isEmpty() && std::none_of(word.cbegin(), word.cend(),
                                                           [](QChar c) { return kNeedQuotes.contains(c); });
        word.replace(u'\'', QStringLiteral("'\\''"));
        quoted << (plain ? word : u'\'' + word + u'\'');
    }
    return quoted.join(u' ');
}

QStringList splitShellWords(const QString& text) {
    QStringList words;
    QString word;
    bool inWord = false;
    QChar quote; // null: outside quotes
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar c = text.at(i);
        const bool escapes = quote.isNull() || (quote == u'"' && i + 1 < text.size() &&
                                                (text.at(i + 1) == u'"' || text.at(i + 1) == u'\\'));
        if (c == u'\\' && escapes && i + 1 < text.size()) {
            word += text.at(++i);
            inWord = true;
        } else if (!quote.isNull() && c == quote) {
            quote = QChar();
        } else if (quote.isNull() && (c == u'"' || c == u'\'')) {
            quote = c;
            inWord = true;
        } else if (quote.isNull() && c.isSpace()) {
            if (inWord) {
                words << word;
            }
            word.clear();
            inWord = false;
        } else {
            word += c;
            inWord = true;
        }
    }
    if (inWord) {
        words << word;
    }
    return words;
}

QString launchText(const LaunchSpec& spec) {
    if (!spec.command.isEmpty()) {
        return joinWords(spec.command);
    }
    QStringList words{spec.launcher, QStringLiteral("-n"), QString::number(spec.ranks)};
    return joinWords(words + spec.launcherArguments + QStringList{spec.program} + spec.arguments);
}

QJsonObject launchToJson(const LaunchSpec& spec) {
    QJsonArray environment;
    for (const auto& [name, value] : spec.environment) {
        environment.append(QJsonArray{name, value});
    }
    return {{QStringLiteral("command"), QJsonArray::fromStringList(spec.command)},
            {QStringLiteral("program"), spec.program},
            {QStringLiteral("arguments"), QJsonArray::fromStringList(spec.arguments)},
            {QStringLiteral("ranks"), spec.ranks},
            {QStringLiteral("launcher"), spec.launcher},
            {QStringLiteral("launcherArguments"), QJsonArray::fromStringList(spec.launcherArguments)},
            {QStringLiteral("directory"), spec.workingDirectory},
            {QStringLiteral("environment"), environment},
            {QStringLiteral("input"), spec.inputFile}};
}

LaunchSpec launchFromJson(const QJsonObject& object) {
    const auto list = [&object](const char* key) {
        QStringList words;
        for (const auto& word : object.value(QString::fromLatin1(key)).toArray()) {
            words << word.toString();
        }
        return words;
    };
    LaunchSpec spec;
    spec.command = list("command");
    spec.program = object.value(QStringLiteral("program")).toString();
    spec.arguments = list("arguments");
    spec.ranks = qMax(1, object.value(QStringLiteral("ranks")).toInt(spec.ranks));
    spec.launcher = object.value(QStringLiteral("launcher")).toString(spec.launcher);
    spec.launcherArguments = list("launcherArguments");
    spec.workingDirectory = object.value(QStringLiteral("directory")).toString();
    spec.inputFile = object.value(QStringLiteral("input")).toString();
    for (const auto& pair : object.value(QStringLiteral("environment")).toArray()) {
        const QJsonArray both = pair.toArray();
        spec.environment.append({both.at(0).toString(), both.at(1).toString()});
    }
    return spec;
}

QVector<LaunchSpec> recentLaunches() {
    QVector<LaunchSpec> result;
    const QByteArray stored = QSettings().value(kKey).toByteArray();
    for (const auto& entry : QJsonDocument::fromJson(stored).array()) {
        result << launchFromJson(entry.toObject());
    }
    return result;
}

void rememberLaunch(const LaunchSpec& spec) {
    const QJsonObject fresh = launchToJson(spec);
    QJsonArray all{fresh};
    for (const LaunchSpec& old : recentLaunches()) {
        const QJsonObject object = launchToJson(old);
        if (object != fresh && all.size() < kMostLaunches) {
            all.append(object);
        }
    }
    QSettings().setValue(kKey, QJsonDocument(all).toJson(QJsonDocument::Compact));
}

} // namespace stopline::app
