// The shared libraries of a process as gdb announces them, and which of them are the user's own.
#pragma once

#include "gdb_session.h"
#include "mi_record.h"

#include <QByteArray>
#include <QSet>
#include <QString>
#include <QStringList>
#include <QVector>

namespace stopline::mi {

/// A regular expression of gdb that matches exactly this path.
[[nodiscard]] QByteArray libraryPattern(const QString& path);
/// A basic regular expression that no path in a system directory matches and all others do: for -catch-load.
[[nodiscard]] QByteArray notSystemPattern();

/// GNU's library of C++.
[[nodiscard]] bool isCxxLibrary(const QString& path);

class LibraryList {
  public:
    void clear();
    void loaded(const Record& notification);   ///< =library-loaded
    void unloaded(const Record& notification); ///< =library-unloaded
    void setSymbolsLoaded(const QString& path);

    [[nodiscard]] QVector<Library> all() const { return m_libraries; }
    /// False for unknown paths too.
    [[nodiscard]] bool symbolsLoaded(const QString& path) const;
    [[nodiscard]] bool knows(const QString& path) const;
    /// Not the system's (/lib*, /usr/lib*, /usr/local/lib is the user's), MPI's or the debugger's own.
    [[nodiscard]] bool isUsers(const QString& path) const;
    /// Libraries of the user without symbols.
    [[nodiscard]] QStringList usersWithoutSymbols() const;
    /// GNU's library of C++, when it has no symbols yet; else empty.
    [[nodiscard]] QString cxxWithoutSymbols() const;

  private:
    [[nodiscard]] const Library* find(const QString& path) const;

    QVector<Library> m_libraries;
    QSet<QString> m_mpiDirectories; ///< that hold a library of an MPI, outside the system's
};

} // namespace stopline::mi
