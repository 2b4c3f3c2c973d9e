#include "gdb_libraries.h"

#include "gdb_values.h"

#include <QFileInfo>

#include <algorithm>
#include <array>

namespace stopline::mi {

namespace {

QString pathOf(const Record& notification) {
    const Value& host = notification["host-name"];
    return toText((host.text().empty() ? notification["target-name"] : host).text());
}

bool isSystemPath(const QString& path) {
    if (path.startsWith(QLatin1Char('['))) { // [vdso]
        return true;
    }
    for (const QLatin1StringView top : {QLatin1StringView("/lib"), QLatin1StringView("/usr/lib")}) {
        // /lib, /lib64, /libx32, but not /library
        for (const QLatin1StringView suffix :
             {QLatin1StringView("/"), QLatin1StringView("32/"), QLatin1StringView("64/"),
              QLatin1StringView("x32/"), QLatin1StringView("exec/")}) {
            if (path.startsWith(top) && QStringView(path).mid(top.size()).startsWith(suffix)) {
                return true;
            }
        }
    }
    return false;
}

/// Parts of Open MPI, MPICH and what they bring along.
bool isMpiName(const QString& file) {
    static constexpr std::array<QLatin1StringView, 14> kPrefixes{
        QLatin1StringView("libmpi.so"),    QLatin1StringView("libmpi_"),    QLatin1StringView("libmpich"),
        QLatin1StringView("libmpicxx"),    QLatin1StringView("libmpifort"), QLatin1StringView("libopen-pal"),
        QLatin1StringView("libopen-rte"),  QLatin1StringView("libmca_"),    QLatin1StringView("mca_"),
        QLatin1StringView("libompitrace"), QLatin1StringView("libpmix"),    QLatin1StringView("libprrte"),
        QLatin1StringView("libompi_dbg_"), QLatin1StringView("libpmi")};
    return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                       [&](QLatin1StringView prefix) { return file.startsWith(prefix); });
}

bool isOurs(const QString& file) {
    return file.startsWith(QLatin1StringView("libstopline-"));
}

} // namespace

// Bytes that mean something in a regular expression, and all that are not ASCII, match as "any": exact enough
// for a path, and without a question of how many backslashes survive the command line of gdb.
QByteArray libraryPattern(const QString& path) {
    QByteArray pattern("^");
    bool inWide = false;
    for (const char c : path.toUtf8()) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x80) {
            if (!inWide) {
                pattern += ".*";
            }
            inWide = true;
            continue;
        }
        inWide = false;
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           c == '/' || c == '_' || c == '-';
        pattern += plain ? c : '.';
    }
    return pattern + '$';
}

QByteArray notSystemPattern() {
    // Differs from "/lib" or "/usr/lib" in one of their letters. A relative path cannot be the system's
    // either.
    return QByteArrayLiteral("^\\([^/[]\\|/\\([^lu]\\|l[^i]\\|li[^b]\\|u[^s]\\|us[^r]\\|usr[^/]\\|usr/\\("
                             "[^l]\\|l[^i]\\|li[^b]\\)\\)\\)");
}

bool isCxxLibrary(const QString& path) {
    return path.section(u'/', -1).startsWith(QLatin1StringView("libstdc++.so"));
}

void LibraryList::clear() {
    m_libraries.clear();
    m_mpiDirectories.clear();
}

const Library* LibraryList::find(const QString& path) const {
    const auto found = std::find_if(m_libraries.begin(), m_libraries.end(),
                                    [&](const Library& library) { return library.path == path; });
    return found == m_libraries.end() ? nullptr : &*found;
}

void LibraryList::loaded(const Record& notification) {
    const QString path = pathOf(notification);
    if (path.isEmpty()) {
        return;
    }
    unloaded(notification);
    m_libraries.append({path, notification["symbols-loaded"].text() == "1"});
    const QFileInfo file(path);
    if (isMpiName(file.fileName()) && !isSystemPath(path)) {
        m_mpiDirectories.insert(file.path());
    }
}

void LibraryList::unloaded(const Record& notification) {
    const QString path = pathOf(notification);
    m_libraries.removeIf([&](const Library& library) { return library.path == path; });
}

void LibraryList::setSymbolsLoaded(const QString& path) {
    for (Library& library : m_libraries) {
        if (library.path == path) {
            library.symbolsLoaded = true;
        }
    }
}

bool LibraryList::symbolsLoaded(const QString& path) const {
    const Library* library = find(path);
    return library && library->symbolsLoaded;
}

bool LibraryList::knows(const QString& path) const {
    return find(path) != nullptr;
}

bool LibraryList::isUsers(const QString& path) const {
    const QFileInfo file(path);
    if (isSystemPath(path) || isMpiName(file.fileName()) || isOurs(file.fileName())) {
        return false;
    }
    // An MPI in a directory of its own: what lies beside and below libmpi.so is its.
    return std::none_of(m_mpiDirectories.begin(), m_mpiDirectories.end(), [&](const QString& directory) {
        return path.startsWith(directory + QLatin1Char('/'));
    });
}

QStringList LibraryList::usersWithoutSymbols() const {
    QStringList paths;
    for (const Library& library : m_libraries) {
        if (!library.symbolsLoaded && isUsers(library.path)) {
            paths.append(library.path);
        }
    }
    return paths;
}

QString LibraryList::cxxWithoutSymbols() const {
    const auto found = std::find_if(m_libraries.begin(), m_libraries.end(), [](const Library& library) {
        return !library.symbolsLoaded && isCxxLibrary(library.path);
    });
    return found == m_libraries.end() ? QString() : found->path;
}

} // namespace stopline::mi
