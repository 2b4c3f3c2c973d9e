#include "script_files.h"

namespace stopline::app {

std::optional<QString> readScript(const QString& path, QString& error) {
    QFile file(path);
    const bool open = path == QLatin1StringView("-") ? file.open(stdin, QIODevice::ReadOnly)
                                                     : file.open(QIODevice::ReadOnly);
    if (!open) {
        error = QStringLiteral("The script %1 cannot be read: %2.").arg(path, file.errorString());
        return std::nullopt;
    }
    return QString::fromUtf8(file.readAll());
}

QString TextSink::openTranscript(const QString& path) {
    if (path.isEmpty()) {
        return {};
    }
    m_transcript.setFileName(path);
    if (!m_transcript.open(QIODevice::WriteOnly)) {
        return QStringLiteral("The transcript %1 cannot be written: %2.")
            .arg(path, m_transcript.errorString());
    }
    return {};
}

void TextSink::write(std::FILE* stream, const QString& line) {
    const QByteArray bytes = line.toUtf8() + '\n';
    std::fwrite(bytes.constData(), 1, static_cast<std::size_t>(bytes.size()), stream);
    std::fflush(stream);
    if (m_transcript.isOpen()) {
        m_transcript.write(bytes);
        m_transcript.flush();
    }
}

} // namespace stopline::app
