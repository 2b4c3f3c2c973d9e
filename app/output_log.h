// What the ranks wrote, as whole lines in the order they were completed.
#pragma once

#ifndef Q_MOC_RUN // moc stumbles over what <compare> includes, and needs none of it
#include "../tracelib/types.h"
#endif

#include <QByteArray>
#include <QHash>
#include <QObject>
#include <QVector>

namespace stopline::app {

struct OutputLine {
    RankId rank{-1}; ///< -1: the launcher
    int stream = 1;  ///< 1 stdout, 2 stderr
    QString text;
    bool complete = true; ///< false: the last piece, no line end yet
};

/// Puts bytes of many ranks together into lines that never mix ranks or streams. The oldest lines are dropped
/// beyond `kMostLines`.
class OutputLog : public QObject {
    Q_OBJECT
  public:
    static constexpr int kMostLines = 200'000;
    using QObject::QObject;

    void add(RankId rank, int stream, const QByteArray& bytes);
    void clear();
    [[nodiscard]] const QVector<OutputLine>& lines() const { return m_lines; }
    /// Pieces without a line end, by rank: a prompt, or a program that died in the middle.
    [[nodiscard]] QVector<OutputLine> unfinished() const;
    [[nodiscard]] qint64 dropped() const { return m_dropped; }

  signals:
    void linesAdded(int from); ///< index of the first new line
    void cleared();

  private:
    QVector<OutputLine> m_lines;
    QHash<QPair<int, int>, QByteArray> m_rest;
    qint64 m_dropped = 0;
};

} // namespace stopline::app
