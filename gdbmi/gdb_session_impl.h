// Inside of GdbSession: shared by its .cpp files only.
#pragma once

#include "gdb_commands.h"
#include "gdb_libraries.h"
#include "gdb_session.h"
#include "mi_parser.h"
#include "transcript.h"

#include <QByteArrayList>
#include <QElapsedTimer>
#include <QHash>
#include <QPointer>
#include <QTimer>

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace stopline::mi {

/// What gdb says on its log about a condition that it cannot evaluate: a head line, then the reason, one
/// line. Whatever the log says after that line (a source file that gdb cannot find) belongs to the stop.
class ConditionComplaint {
  public:
    void take(std::string_view text) {
        // "Error in testing breakpoint condition:" (gdb 13), "… condition for breakpoint 3:" (later ones).
        if (text.starts_with("Error in testing ") && text.find("condition") != std::string_view::npos) {
            m_open = true;
            m_reason.clear();
            const std::size_t end = text.find('\n');
            text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        }
        if (!m_open || text.empty()) {
            return;
        }
        const std::size_t end = text.find('\n');
        m_reason += text.substr(0, end);
        m_open = end == std::string_view::npos;
    }
    /// The reason, once; empty when there was no complaint.
    QString told() {
        m_open = false;
        return QString::fromStdString(std::exchange(m_reason, {})).simplified();
    }

  private:
    bool m_open = false;
    std::string m_reason;
};

struct GdbSession::Impl {
    explicit Impl(GdbSession* owner, MiTransport* mi);

    // --- gdb_session_records.cpp: bytes in, records, stops
    void receive(const QByteArray& bytes);
    void handle(Record&& record);
    void handleExec(const Record& record);
    void handleNotify(const Record& record);
    void handleStop(const Record& record);
    void handleMalformed(const Record& record);
    void resumeTakenBack(const QString& error);

    // --- gdb_session.cpp: states
    void setState(GdbState next);
    void setRunning();
    void closed(const QString& why);
    void finishAttach(const Status& status);
    void watchAttach();
    /// For what everything waits for, and what reads symbols: on a machine with many more ranks than processors a gdb may
    /// be long at it.
    [[nodiscard]] std::chrono::milliseconds longDeadline() const { return 6 * queue.deadline(); }

    // --- requests
    /// Posts a command whose answer holds nothing of interest.
    void request(Command command, GdbSession::Handler<Unit> handler);
    void request(QByteArray text, GdbSession::Handler<Unit> handler);
    static QByteArray consoleCommand(const QByteArray& command);
    void failLater(std::function<void()> call);
    /// " --thread T --frame F"; a thread of 0 means gdb's own choice.
    static QByteArray context(int threadId, int frame);
    void sendSettings(GdbSession::Handler<Unit> handler);
    void sendResume(QByteArray text, Resume how, GdbSession::Handler<Unit> handler);
    void interruptedBetween(const StopEvent& event);

    // --- gdb_session_symbols.cpp
    struct StackJob;
    void stackRound(const std::shared_ptr<StackJob>& job);
    void stackAnswered(const std::shared_ptr<StackJob>& job, const Record& record);
    void loadUserLibrariesNow(GdbSession::Handler<Unit> handler);
    void loadNext(QStringList paths, GdbSession::Handler<Unit> handler);
    void userLibraryStop(const StopEvent& event);
    /// Before values are asked for: gdb's printers for C++'s library, once.
    void loadPrinters();

    // --- gdb_session_parts.cpp
    /// Remembers of what gdb says of a value whether a printer shows it, and how.
    template <typename From>
    ValueTree toTree(const From& value);
    void pairUp(const QString& map, QVector<ValueTree>& parts, int from);

    GdbSession* q;
    MiTransport* transport;
    CommandQueue queue;
    LineReader reader;
    LibraryList libraries;
    std::unique_ptr<TranscriptWriter> transcript;
    GdbState state = GdbState::Starting;

    bool promptSeen = false;
    GdbSession::Handler<Unit> initialiseHandler; ///< until the first prompt

    enum class AttachPhase { None, Asked, Accepted, StoppedFirst };
    AttachPhase attachPhase = AttachPhase::None;
    GdbSession::Handler<Unit> attachHandler;
    QTimer attachTimer;
    QElapsedTimer attachedSince;    ///< gdb's word that it is attached, while the stop is waited for
    bool attachAnnounced = false;   ///< that it takes long

    bool quitting = false;
    quint64 resumes = 0;     ///< counts resumes asked for: what a refresh began before is out of date
    QByteArrayList unparsed; ///< the last lines that were not MI, for messages
    bool cutOff = false;     ///< the connection has ended; what is left of a line is not judged
    ConditionComplaint conditionComplaint;
    std::string saidSinceResume; ///< on gdb's log; the reason of what it may take back
    int malformedRun = 0; ///< such lines since the last good record

    QHash<QString, int> extents; ///< how many parts an array section has, by gdb's name: gdb lists too many
    /// How gdb's printers show a value that is kept, and so what its parts are.
    enum class Printed { List, Map };
    QHash<QString, Printed> printed;  ///< by gdb's name; nothing for what no printer shows
    QHash<QString, QString> mapOfKey; ///< both by gdb's name: a part of a map is named by its key

    int advanceBreakpoint = 0; ///< 0: none

    enum class Follow { Off, On };
    Follow followLibraries = Follow::Off;
    int loadCatchpoint = 0; ///< stops where a library of the user's appears; 0: none
    bool catchpointOn = false;
    bool hiddenStop = false;      ///< at that catchpoint, about to go on
    bool interruptWanted = false; ///< asked for during a hidden stop
};

} // namespace stopline::mi
