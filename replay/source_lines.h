// Code addresses to source lines, from the debug information of the program and its libraries (libdw), without gdb.
#pragma once

#include "../tracelib/types.h"

#include <QString>

#include <memory>

namespace stopline::replay {

struct SourceLine {
    QString file; ///< absolute where the debug information allows
    int line = 0; ///< 0: unknown
    QString function; ///< demangled; empty unknown
    QString module;   ///< file name of the library or program, where it has no line there
};

/// Resolves return addresses of one process image. Results are cached; the first look-up in a module reads its debug
/// information and may take long for a large program: call it from a worker thread if that matters. Thread-safe.
class SourceLines {
  public:
    SourceLines();
    ~SourceLines();
    /// Takes the modules from /proc/<pid>/maps. Empty, or why that failed. Replaces what was known before; modules that
    /// are the same file at the same address keep their cache.
    QString loadProcess(qint64 pid);
    /// Line of the call whose return address this is (that is, of the byte before it).
    [[nodiscard]] SourceLine ofReturnAddress(CodeAddress address) const;
    [[nodiscard]] bool loaded() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace stopline::replay
