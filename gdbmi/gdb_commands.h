// The queue of requests to one gdb: tokens, deadlines, late answers, watchdog.
//
// One request is outstanding at a time, so that those that wait can still be dropped; over loopback the round
// trip costs about 50 us. An urgent request (interrupt) is sent at once, behind the outstanding one.
#pragma once

#include "mi_record.h"
#include "result.h"

#include <QByteArray>
#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace stopline::mi {

struct Answer {
    Record record;   ///< done, running, connected or exit; errors come as Error
    QString console; ///< what the command printed, if it asked for it
};

struct Command {
    enum class Kind {
        Ordinary, ///< always performed
        Refresh,  ///< only reads for display: dropped while it waits when a resume is asked for
        Resume,
        Urgent, ///< does not wait for the outstanding request
    };

    QByteArray text; ///< without token and line end
    Kind kind = Kind::Ordinary;
    bool needsStopped = false;
    bool needsNoProgram = false; ///< gdb would kill the one it has
    bool mayCallFunctions = false; ///< stops during it belong to it
    bool captureConsole = false;
    std::optional<std::chrono::milliseconds> deadline = {}; ///< none given: the queue's; 0: none
    std::function<void(Result<Answer>)> handler = {};
    /// Puts right what an answer that came after the deadline has done in gdb.
    std::function<void(const Record&)> late = {};
};

class CommandQueue : public QObject {
    Q_OBJECT
  public:
    explicit CommandQueue(QObject* parent);

    void setDeadline(std::chrono::milliseconds deadline) { m_deadline = deadline; }
    [[nodiscard]] std::chrono::milliseconds deadline() const { return m_deadline; }
    void setWatchdog(std::chrono::milliseconds limit) { m_watchdog = limit; }
    [[nodiscard]] std::chrono::milliseconds watchdog() const { return m_watchdog; }
    /// Asked for each command when it is about to be sent; an error fails it unsent.
    void setAdmission(std::function<std::optional<Error>(const Command&)> admission);

    void post(Command command);
    /// As post, before all that waits: for the next step of something already begun.
    void postFirst(Command command);
    /// The handlers of waiting refreshes get Cancelled.
    void dropRefreshes();
    /// Nothing but urgent requests is sent while held.
    void hold(bool held);
    /// Answers or drops a result record.
    void answer(Record record);
    /// Stream text while a request is outstanding; true if that request wanted it.
    bool capture(const std::string& text);
    /// Fails all requests, now and from now on.
    void close(const Error& error);

    [[nodiscard]] QString pending() const;
    [[nodiscard]] bool callsFunctions() const; ///< the outstanding request may run code of the program

  signals:
    void send(const QByteArray& line);
    void notResponding(const QString& why);
    /// After it had said that the program runs, gdb has failed to let it go on.
    void resumeTakenBack(const QString& error);

  private:
    struct Sent {
        std::uint64_t token = 0;
        Command command;
        std::string console;
        QElapsedTimer since;
        bool announced = false;
    };
    struct Late {
        std::uint64_t token = 0;
        std::function<void(const Record&)> correct;
    };

    void schedulePump();
    void pump();
    void transmit(Command command);
    void failLater(Command command, const Error& error);
    void checkTimes();
    void armTimer();
    void timeOut(std::size_t index);
    [[nodiscard]] std::chrono::milliseconds deadlineOf(const Command& command) const;
    [[nodiscard]] bool mayTransmit(const Command& command) const;

    std::function<std::optional<Error>(const Command&)> m_admission;
    std::deque<Command> m_waiting;
    std::vector<Sent> m_sent; ///< one, or two with an urgent one; more only while gdb is silent
    std::vector<Late> m_late;
    std::optional<Error> m_closed;
    QTimer m_timer;
    std::chrono::milliseconds m_deadline{20000};
    std::chrono::milliseconds m_watchdog{5000};
    std::uint64_t m_nextToken = 1;
    std::uint64_t m_resumed = 0; ///< token of the last request that was answered by "running"
    bool m_held = false;
    bool m_silent = false; ///< a deadline has passed and nothing came since
    bool m_pumpScheduled = false;
};

} // namespace stopline::mi
