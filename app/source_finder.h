// Where a source file named by debug information is on this machine.
#pragma once

#include <QString>
#include <QVector>

namespace stopline::app {

/// Debug information may name paths of another machine or of a build directory that has moved. Replacements
/// that the user has given are remembered in the settings.
class SourceFinder {
  public:
    SourceFinder();
    /// Directories searched for the base name when the path itself does not exist.
    void setSearchDirectories(const QStringList& directories);
    /// The path of an existing readable file, or empty.
    [[nodiscard]] QString find(const QString& path) const;
    /// Learns from one pair what part of the path to replace: with /build/x/a/b.c at /home/me/x/a/b.c
    /// everything below /build is found below /home/me.
    void learn(const QString& path, const QString& actual);

  private:
    QVector<QPair<QString, QString>> m_replacements; ///< leading part as named, as found
    QStringList m_directories;
};

/// Whether two paths name the same source file as far as can be told: gdb and the debug information may disagree in how
/// much of the path they give.
[[nodiscard]] bool sameSourceFile(const QString& a, const QString& b);

} // namespace stopline::app
