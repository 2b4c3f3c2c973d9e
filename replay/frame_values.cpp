#include "frame_values.h"

#include <memory>
#include <utility>

namespace stopline::replay {

namespace {

constexpr qsizetype kFrames = 4; ///< as far out as the counter of the loop around a call may well be

struct Reading {
    QPointer<RankProcess> rank;
    QVector<int> levels;
    QStringList read;
    std::function<void(QStringList)> done;
};

void readNext(const std::shared_ptr<Reading>& job) {
    if (job->read.size() == job->levels.size() || !job->rank) {
        job->done(job->rank ? job->read : QStringList());
        return;
    }
    job->rank->gdb()->scalars(job->rank->thread(), job->levels[job->read.size()], [job](const Result<QString>& line) {
        if (!line && line.error().code != ErrorCode::GdbError) {
            job->done({}); // it goes on, or its gdb is gone
            return;
        }
        job->read << (line ? line.value() : QString());
        readNext(job);
    });
}

std::shared_ptr<Reading> begin(RankProcess* rank, const QVector<mi::Frame>& frames) {
    auto job = std::make_shared<Reading>();
    job->rank = rank;
    for (const mi::Frame& frame : frames) {
        if (frame.line > 0 && !Session::isInternalFrame(frame) && job->levels.size() < kFrames) {
            job->levels << frame.level;
        }
    }
    return job;
}

} // namespace

void readFrameValues(RankProcess* rank, const QVector<mi::Frame>& frames, std::function<void(QStringList)> done) {
    const auto job = begin(rank, frames);
    job->done = std::move(done);
    readNext(job);
}

namespace {

/// "i=3 sum=4.5 ", one line for each frame, as variables with their values.
std::map<QString, QString> variablesOf(const QStringList& lines) {
    std::map<QString, QString> all;
    for (qsizetype i = 0; i < lines.size(); ++i) {
        for (const QString& one : lines[i].split(u' ', Qt::SkipEmptyParts)) {
            all[QStringLiteral("%1/%2").arg(i).arg(one.section(u'=', 0, 0))] = one.section(u'=', 1);
        }
    }
    return all;
}

} // namespace

VisitSearch::Verdict VisitSearch::look(int ordinal, const QStringList& wanted, const QStringList& found) {
    const std::map<QString, QString> old = variablesOf(wanted);
    const std::map<QString, QString> now = variablesOf(found);
    std::set<QString> different;
    bool onlyGarbage = true;
    for (const auto& [name, value] : old) {
        const auto it = now.find(name);
        if (it != now.end() && it->second == value) {
            continue;
        }
        different.insert(name);
        const auto before = m_values.find(name);
        onlyGarbage = onlyGarbage && it != now.end() && m_different.count(name) != 0 && before != m_values.end() &&
                      before->second == it->second;
    }
    const int score = int(old.size()) - int(different.size());
    if (score > m_bestScore) {
        m_bestScore = score;
        m_best = ordinal;
        m_bestCount = 1;
    } else if (score == m_bestScore) {
        ++m_bestCount;
    }
    const bool first = !std::exchange(m_any, true);
    const bool fewer = different.size() < m_different.size();
    std::set<QString> still;
    for (const QString& name : different) {
        if (first || m_different.count(name) != 0) {
            still.insert(name);
        }
    }
    m_different = std::move(still);
    m_values = now;
    if (different.empty() || (!first && onlyGarbage && fewer)) {
        return Verdict::This;
    }
    return first || onlyGarbage ? Verdict::Unclear : Verdict::NotThis;
}

std::optional<int> VisitSearch::best() const {
    return m_best > 0 ? std::optional(m_best) : std::nullopt;
}

} // namespace stopline::replay
