// A gdb that runs as a child of this process: for tests and tools. In a session the agent runs gdb beside the
// rank.
#pragma once

#include "gdb_session.h"

#include <QProcess>
#include <QString>
#include <QStringList>

namespace stopline::mi {

class GdbProcess : public MiTransport {
    Q_OBJECT
  public:
    explicit GdbProcess(QObject* parent = nullptr);
    ~GdbProcess() override; ///< kills gdb if it still runs and waits for its end

    /// The options every Stopline gdb is started with.
    [[nodiscard]] static QStringList arguments();
    /// Failure comes as closed().
    void start(const QString& program = QStringLiteral("gdb"),
               const QStringList& arguments = GdbProcess::arguments());
    void send(const QByteArray& bytes) override;
    [[nodiscard]] qint64 pid() const { return m_process.processId(); }

  private:
    void end(const QString& why);

    QProcess m_process;
    QByteArray m_errors; ///< the end of what gdb wrote to its standard error
    bool m_closed = false;
};

} // namespace stopline::mi
