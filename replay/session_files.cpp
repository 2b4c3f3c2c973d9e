// What the program wrote and was given, and the files on its command line, compared with the run before.
#include "debug_file.h"
#include "session_impl.h"
#include "words.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <cstring>

namespace stopline::replay {

namespace {
constexpr qsizetype kKeptOutput = 16 << 20;    ///< bytes of a rank's output that can be looked at
constexpr qsizetype kComparedOutput = 1 << 20; ///< bytes from the start that a replay is compared with
} // namespace

void Session::Impl::onOutput(RankId rank, int stream, const QByteArray& bytes) {
    QByteArray& text = outputs[rank.value()];
    text += bytes;
    if (text.size() > kKeptOutput) {
        text.remove(0, text.size() - kKeptOutput / 2);
    }
    const auto key = std::make_pair(int(rank.value()), stream);
    QByteArray& now = streams[key];
    if (now.size() > kComparedOutput) {
        emit q->outputAdded(rank, stream, bytes);
        return;
    }
    now += bytes;
    if (const auto then = besides.streams.find(key); then != besides.streams.end() && rerun.streamsDiffer.count(key) == 0) {
        const qsizetype common = std::min(now.size(), then->second.size());
        const qsizetype from = std::max<qsizetype>(0, std::min(common, now.size() - bytes.size()));
        if (std::memcmp(now.constData() + from, then->second.constData() + from, std::size_t(common - from)) != 0) {
            rerun.streamsDiffer.insert(key);
            say(Severity::Warning,
                QStringLiteral("Rank %1 writes something else than before to its standard %2.").arg(rankText(rank)).arg(
                    stream == 1 ? QStringLiteral("output") : QStringLiteral("error")),
                QStringLiteral("Its messages are still compared one by one; a time, a process number or an address in the "
                               "text is harmless."));
        }
    }
    emit q->outputAdded(rank, stream, bytes);
}

void Session::Impl::noteFiles() {
    files.clear();
    builds.clear();
    rebuilt.clear();
    const QDir folder(spec.workingDirectory.isEmpty() ? QDir::currentPath() : spec.workingDirectory);
    QStringList names = spec.command + spec.arguments;
    names << spec.program << spec.inputFile;
    for (const QString& name : names) {
        const QFileInfo file(folder, name);
        if (!name.isEmpty() && !name.startsWith(u'-') && file.isFile()) {
            files[file.absoluteFilePath()] = {file.size(), file.lastModified().toMSecsSinceEpoch()};
            if (const std::string build = buildIdOfFile(QFile::encodeName(file.absoluteFilePath()).toStdString()); !build.empty()) {
                builds[file.absoluteFilePath()] = build;
            }
        }
    }
}

void Session::Impl::checkFiles() {
    for (auto& [name, was] : files) {
        const QFileInfo file(name);
        const auto now = std::make_pair(file.size(), file.lastModified().toMSecsSinceEpoch());
        if (now != was && builds.count(name) == 0) {
            say(Severity::Warning, QStringLiteral("%1 has changed since the run that is replayed.").arg(name),
                QStringLiteral("The replay may differ; Restart records anew."));
            was = now;
        }
    }
}

bool Session::Impl::refusesProgram() {
    for (auto& [name, was] : builds) {
        std::string now = buildIdOfFile(QFile::encodeName(name).toStdString());
        if (now != was && !now.empty()) {
            was = std::move(now);
            rebuilt.insert(name);
            refuse(QStringLiteral("%1 has been built anew since the run was recorded.").arg(name),
                   QStringLiteral("Restart records the new program. To go on with it all the same, give the command again: where it does "
                                  "something else than was recorded, that is said."));
            return true;
        }
    }
    return false;
}

QByteArray Session::output(RankId rank) const {
    const auto it = m_impl->outputs.find(rank.value());
    return it == m_impl->outputs.end() ? QByteArray() : it->second;
}

void Session::writeInput(const QByteArray& bytes) {
    if (m_impl->job && !m_impl->inputEnded) {
        m_impl->input += bytes;
        m_impl->job->writeInput(bytes);
    }
}

} // namespace stopline::replay
