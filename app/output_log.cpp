#include "output_log.h"

#include <algorithm>

namespace stopline::app {

void OutputLog::add(RankId rank, int stream, const QByteArray& bytes) {
    QByteArray& rest = m_rest[{rank.value(), stream}];
    rest += bytes;
    const int first = static_cast<int>(m_lines.size());
    qsizetype begin = 0;
    for (qsizetype end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', begin)) {
        QByteArray line = rest.mid(begin, end - begin);
        if (line.endsWith('\r')) {
            line.chop(1); // a terminal's line end
        }
        m_lines.append({rank, stream, QString::fromUtf8(line), true});
        begin = end + 1;
    }
    rest.remove(0, begin);
    if (m_lines.size() > kMostLines) {
        const qsizetype surplus = m_lines.size() - kMostLines * 9 / 10;
        m_lines.remove(0, surplus);
        m_dropped += surplus;
        emit cleared(); // views start again: line numbers have moved
        emit linesAdded(0);
        return;
    }
    if (m_lines.size() > first) {
        emit linesAdded(first);
    }
}

void OutputLog::clear() {
    m_lines.clear();
    m_rest.clear();
    m_dropped = 0;
    emit cleared();
}

QVector<OutputLine> OutputLog::unfinished() const {
    QVector<OutputLine> result;
    for (auto it = m_rest.cbegin(); it != m_rest.cend(); ++it) {
        if (!it.value().isEmpty()) {
            result.append({RankId{it.key().first}, it.key().second, QString::fromUtf8(it.value()), false});
        }
    }
    std::sort(result.begin(), result.end(), [](const OutputLine& a, const OutputLine& b) {
        return std::pair(a.rank, a.stream) < std::pair(b.rank, b.stream);
    });
    return result;
}

} // namespace stopline::app
