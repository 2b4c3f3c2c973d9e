// Standard input on its way to the launcher: passed on as it comes, and kept, so that another execution can be given it.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QProcess>
#include <QSocketNotifier>
#include <QTimer>

#include <memory>

namespace stopline::replay {

class InputTee : public QObject {
    Q_OBJECT
  public:
    /// Reads from `fd`, which stays the caller's. `launcher` has been told to take its input from us, and outlives this.
    InputTee(int fd, QProcess& launcher, QObject* parent);

    /// Begins when the launcher runs.
    void start();
    /// What has been passed on, up to kMostBytes.
    [[nodiscard]] const QByteArray& bytes() const { return m_bytes; }
    [[nodiscard]] bool ended() const { return m_ended; }     ///< by the end of the input, not by that of the job
    [[nodiscard]] bool cutShort() const { return m_cutShort; } ///< there was more than is kept

    static constexpr qsizetype kMostBytes = qsizetype(32) << 20;

  private:
    void read();
    void wait();
    void end();

    int m_fd;
    QProcess& m_launcher;
    std::unique_ptr<QSocketNotifier> m_notifier;
    QTimer m_later; ///< for a terminal that belongs to somebody else just now
    QByteArray m_bytes;
    bool m_ended = false;
    bool m_cutShort = false;
};

} // namespace stopline::replay
