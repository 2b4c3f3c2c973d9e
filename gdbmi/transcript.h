// Recorded conversations with gdb: written by a session, played back to one in tests.
//
// A transcript is text, one line of MI each: "> " what was sent to gdb, "< " what gdb said, "# " anything
// else.
#pragma once

#include "gdb_session.h"

#include <QByteArray>
#include <QFile>
#include <QHash>
#include <QString>
#include <QVector>

namespace stopline::mi {

class TranscriptWriter {
  public:
    /// Starts the file anew.
    explicit TranscriptWriter(const QString& path);
    [[nodiscard]] bool ok() const { return m_file.isOpen(); }
    void sent(const QByteArray& bytes);
    void received(const QByteArray& bytes); ///< in any pieces; written line by line
    void note(const QString& text);

  private:
    void write(char mark, const QByteArray& line);

    QFile m_file;
    QByteArray m_partial; ///< of a received line
};

/// Plays gdb's part of a transcript. A request must be the one recorded (its token may differ: answers get
/// the token of the request). A different one closes the transport with a text that names both.
class TranscriptPlayer : public MiTransport {
    Q_OBJECT
  public:
    explicit TranscriptPlayer(QObject* parent = nullptr);
    /// False when the file cannot be read.
    [[nodiscard]] bool load(const QString& path);
    void loadText(const QByteArray& text);
    /// Sends everything recorded before the first request. Call it once the session is connected.
    void start();
    void send(const QByteArray& bytes) override;
    [[nodiscard]] bool finished() const { return m_next == m_lines.size(); }

  private:
    struct Line {
        bool sent = false;
        QByteArray text;
    };
    void expect(const QByteArray& request);
    void playReceived();

    QVector<Line> m_lines;
    qsizetype m_next = 0;
    QHash<QByteArray, QByteArray> m_tokens; ///< recorded to actual
    QByteArray m_partial;
    bool m_closed = false;
};

} // namespace stopline::mi
