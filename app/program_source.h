// Finds the source file of main without running the program, so that breakpoints can be set before the first
// Run.
#pragma once

#include <QObject>
#include <QString>

class QProcess;

namespace stopline::app {

/// Asks a short-lived gdb, which knows main of C, C++ and Fortran alike. Nothing is said when there is no
/// debug information: the user learns that at the first stop, from the session.
class ProgramSource : public QObject {
    Q_OBJECT
  public:
    using QObject::QObject;
    ~ProgramSource() override;
    /// `program` as given to the launcher, relative to `directory` when it has no leading slash.
    void find(const QString& program, const QString& directory);

  signals:
    void found(const QString& file, int line);

  private:
    QProcess* m_gdb = nullptr;
};

/// The first program of a launcher's command line, as well as can be told without knowing the launcher: the
/// first word that is an executable file of that directory. Empty when there is none.
[[nodiscard]] QString programOfCommand(const QStringList& command, const QString& directory);

} // namespace stopline::app
