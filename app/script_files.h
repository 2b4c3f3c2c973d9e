// Reading scripts and writing what they say.
#pragma once

#include <QFile>
#include <QString>

#include <cstdio>
#include <optional>

namespace stopline::app {

/// The text of a script; "-" is standard input. nullopt and `error` when it cannot be read.
[[nodiscard]] std::optional<QString> readScript(const QString& path, QString& error);

/// Writes lines to a stream and, if opened, to a transcript as well; flushed, so that results and errors keep
/// their order when both streams go to one place.
class TextSink {
  public:
    /// Empty path: no transcript. Returns what is wrong, or an empty text.
    [[nodiscard]] QString openTranscript(const QString& path);
    void write(std::FILE* stream, const QString& line);

  private:
    QFile m_transcript;
};

} // namespace stopline::app
