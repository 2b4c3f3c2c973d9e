#include "frame_values.h"

#include <memory>
#include <utility>

namespace stopline::replay {

namespace {

constexpr qsizetype kFrames = 4; ///< as far out as the counter of the loop around a call may well be

struct Reading {
    QPointer<RankProcess> rank;
    QVector<int> levels;
    int next = 0; ///< of those, to be read
    FrameValues read;
    std::function<void(FrameValues)> done;
};

void readNext(const std::shared_ptr<Reading>& job) {
    if (job->next == job->levels.size() || !job->rank) {
        job->done(job->rank ? job->read : FrameValues());
        return;
    }
    job->rank->gdb()->scalars(job->rank->thread(), job->levels[job->next], [job](const Result<std::map<QString, QString>>& values) {
        if (!values && values.error().code != ErrorCode::GdbError) {
            job->done({}); // it goes on, or its gdb is gone
            return;
        }
        if (values) {
            for (const auto& [name, value] : values.value()) {
                job->read[{job->next, name}] = value;
            }
        }
        ++job->next;
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

void readFrameValues(RankProcess* rank, const QVector<mi::Frame>& frames, std::function<void(FrameValues)> done) {
    const auto job = begin(rank, frames);
    job->done = std::move(done);
    readNext(job);
}

VisitSearch::Verdict VisitSearch::look(int ordinal, const FrameValues& wanted, const FrameValues& found) {
    std::set<FrameVariable> different;
    bool onlyGarbage = true;
    for (const auto& [name, value] : wanted) {
        const auto it = found.find(name);
        if (it != found.end() && it->second == value) {
            continue;
        }
        different.insert(name);
        const auto before = m_values.find(name);
        onlyGarbage = onlyGarbage && it != found.end() && m_different.count(name) != 0 && before != m_values.end() &&
                      before->second == it->second;
    }
    const int score = int(wanted.size()) - int(different.size());
    if (score > m_bestScore) {
        m_bestScore = score;
        m_best = ordinal;
        m_bestCount = 1;
    } else if (score == m_bestScore) {
        ++m_bestCount;
    }
    const bool first = !std::exchange(m_any, true);
    const bool fewer = different.size() < m_different.size();
    std::set<FrameVariable> still;
    for (const FrameVariable& name : different) {
        if (first || m_different.count(name) != 0) {
            still.insert(name);
        }
    }
    m_different = std::move(still);
    m_values = found;
    if (different.empty() || (!first && onlyGarbage && fewer)) {
        return Verdict::This;
    }
    return first || onlyGarbage ? Verdict::Unclear : Verdict::NotThis;
}

std::optional<int> VisitSearch::best() const {
    return m_best > 0 ? std::optional(m_best) : std::nullopt;
}

} // namespace stopline::replay
