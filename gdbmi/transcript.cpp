#include "transcript.h"

namespace stopline::mi {

namespace {

qsizetype tokenLength(const QByteArray& line) {
    qsizetype length = 0;
    while (length < line.size() && line[length] >= '0' && line[length] <= '9') {
        ++length;
    }
    return length;
}

} // namespace

TranscriptWriter::TranscriptWriter(const QString& path) : m_file(path) {
    m_file.open(QIODevice::WriteOnly | QIODevice::Truncate);
}

// Unbuffered to the file: the transcript of a session that crashed is the interesting one.
void TranscriptWriter::write(char mark, const QByteArray& line) {
    if (ok()) {
        m_file.write(QByteArray(1, mark) + ' ' + line + '\n');
        m_file.flush();
    }
}

void TranscriptWriter::sent(const QByteArray& bytes) {
    for (const QByteArray& line : bytes.split('\n')) {
        if (!line.isEmpty()) {
            write('>', line);
        }
    }
}

void TranscriptWriter::received(const QByteArray& bytes) {
    qsizetype from = 0;
    for (;;) {
        const qsizetype end = bytes.indexOf('\n', from);
        if (end < 0) {
            m_partial += bytes.mid(from);
            return;
        }
        m_partial += bytes.mid(from, end - from);
        if (!m_partial.isEmpty()) {
            write('<', m_partial);
            m_partial.clear();
        }
        from = end + 1;
    }
}

void TranscriptWriter::note(const QString& text) {
    if (!m_partial.isEmpty()) {
        write('<', m_partial);
        m_partial.clear();
    }
    write('#', text.toUtf8());
}

TranscriptPlayer::TranscriptPlayer(QObject* parent) : MiTransport(parent) {}

bool TranscriptPlayer::load(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) {
        return false;
    }
    loadText(file.readAll());
    return true;
}

void TranscriptPlayer::loadText(const QByteArray& text) {
    for (const QByteArray& line : text.split('\n')) {
        if (line.startsWith("> ") || line.startsWith("< ")) {
            m_lines.append({line[0] == '>', line.mid(2)});
        }
    }
}

void TranscriptPlayer::start() {
    playReceived();
}

void TranscriptPlayer::send(const QByteArray& bytes) {
    m_partial += bytes;
    for (;;) {
        const qsizetype end = m_partial.indexOf('\n');
        if (end < 0 || m_closed) {
            return;
        }
        const QByteArray request = m_partial.left(end);
        m_partial.remove(0, end + 1);
        expect(request);
    }
}

void TranscriptPlayer::expect(const QByteArray& request) {
    const QByteArray text = request.mid(tokenLength(request));
    const QByteArray recorded = m_next < m_lines.size() ? m_lines[m_next].text : QByteArray("nothing more");
    const qsizetype recordedToken = tokenLength(recorded);
    if (recorded.mid(recordedToken) != text) {
        m_closed = true;
        emit closed(tr("The transcript has %1 where %2 was asked")
                        .arg(QString::fromUtf8(recorded), QString::fromUtf8(request)));
        return;
    }
    m_tokens.insert(recorded.left(recordedToken), request.left(tokenLength(request)));
    ++m_next;
    playReceived();
}

void TranscriptPlayer::playReceived() {
    QByteArray answer;
    bool ends = false;
    while (m_next < m_lines.size() && !m_lines[m_next].sent) {
        const QByteArray& line = m_lines[m_next++].text;
        const qsizetype length = tokenLength(line);
        answer += m_tokens.value(line.left(length), line.left(length)) + line.mid(length) + '\n';
        ends = ends || line.mid(length).startsWith("^exit");
    }
    if (!answer.isEmpty()) {
        emit received(answer);
    }
    if (ends && !m_closed) {
        m_closed = true;
        emit closed(tr("End of the transcript"));
    }
}

} // namespace stopline::mi
