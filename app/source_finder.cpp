#include "source_finder.h"

#include <QDir>
#include <QFileInfo>
#include <QSettings>

namespace stopline::app {

namespace {

const QString kKey = QStringLiteral("sources/replacements");
constexpr int kMostRemembered = 20;

bool readable(const QString& path) {
    const QFileInfo info(path);
    return info.isFile() && info.isReadable();
}

} // namespace

SourceFinder::SourceFinder() {
    const QStringList stored = QSettings().value(kKey).toStringList();
    for (qsizetype i = 0; i + 1 < stored.size(); i += 2) {
        m_replacements.append({stored[i], stored[i + 1]});
    }
}

void SourceFinder::setSearchDirectories(const QStringList& directories) {
    m_directories = directories;
}

QString SourceFinder::find(const QString& path) const {
    if (path.isEmpty()) {
        return {};
    }
    if (QDir::isAbsolutePath(path) && readable(path)) {
        return path;
    }
    for (const auto& [named, found] : m_replacements) {
        if (path.startsWith(named)) {
            const QString candidate = found + path.mid(named.size());
            if (readable(candidate)) {
                return candidate;
            }
        }
    }
    for (const QString& directory : m_directories) {
        for (const QString& tail : {path, QFileInfo(path).fileName()}) {
            if (QDir::isAbsolutePath(tail)) {
                continue;
            }
            const QString candidate = QDir::cleanPath(directory + u'/' + tail);
            if (readable(candidate)) {
                return candidate;
            }
        }
    }
    return {};
}

void SourceFinder::learn(const QString& path, const QString& actual) {
    // What both end in stays; what differs before it is the replacement.
    qsizetype common = 0;
    while (common < path.size() && common < actual.size() &&
           path[path.size() - 1 - common] == actual[actual.size() - 1 - common]) {
        ++common;
    }
    // The common tail must begin at a directory border of both.
    while (common > 0 && path[path.size() - common] != u'/') {
        --common;
    }
    m_replacements.prepend({path.chopped(common), actual.chopped(common)});
    while (m_replacements.size() > kMostRemembered) {
        m_replacements.removeLast();
    }
    QStringList stored;
    for (const auto& [named, found] : m_replacements) {
        stored << named << found;
    }
    QSettings().setValue(kKey, stored);
}

bool sameSourceFile(const QString& a, const QString& b) {
    if (a == b) {
        return true;
    }
    // gdb and the debug information may disagree in how much of the path they give.
    const bool partial = !a.startsWith(u'/') || !b.startsWith(u'/');
    return partial && QFileInfo(a).fileName() == QFileInfo(b).fileName();
}

} // namespace stopline::app
