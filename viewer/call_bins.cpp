#include "call_bins.h"

#include <algorithm>

namespace stopline::viewer {

namespace {

constexpr std::size_t kLeastBins = 1024;

} // namespace

void CallBins::clear() {
    m_levels.clear();
    m_shift = 0;
    m_count = 0;
}

void CallBins::widen() {
    std::vector<Aggregate>& finest = m_levels[0];
    const std::size_t half = (finest.size() + 1) / 2;
    for (std::size_t i = 0; i < half; ++i) {
        finest[i] = 2 * i + 1 < finest.size() ? combine(finest[2 * i], finest[2 * i + 1]) : finest[2 * i];
    }
    finest.resize(half);
    ++m_shift;
}

void CallBins::extend(std::span<const TrackCall> calls) {
    if (calls.size() < m_count) {
        clear();
    }
    if (calls.size() == m_count) {
        return;
    }
    if (m_levels.empty()) {
        m_levels.emplace_back();
    }
    const std::size_t most = std::max(kLeastBins, calls.size() / kCallsPerBin);
    if (m_count > 0 && m_levels[0].size() * 8 < most) {
        // Calls have become much denser: narrower bins are worth it. Happens only after the count has
        // multiplied.
        clear();
        m_levels.emplace_back();
    }
    const TrackCall& last = calls.back();
    bool widened = false;
    while (binOf(last) >= most) {
        widen();
        widened = true;
    }
    std::vector<Aggregate>& finest = m_levels[0];
    const std::size_t firstChanged = widened ? 0 : binOf(calls[m_count]);
    finest.resize(std::max(finest.size(), binOf(last) + 1));
    for (; m_count < calls.size(); ++m_count) {
        Aggregate& bin = finest[std::min(binOf(calls[m_count]), finest.size() - 1)];
        bin = combine(bin, summaryOf(calls[m_count], std::uint32_t(m_count)));
    }
    buildAbove(firstChanged);
}

void CallBins::buildAbove(std::size_t firstBin) {
    std::size_t level = 1;
    for (; m_levels[level - 1].size() >= 2; ++level) {
        if (m_levels.size() <= level) {
            m_levels.emplace_back();
        }
        const std::vector<Aggregate>& below = m_levels[level - 1];
        std::vector<Aggregate>& bins = m_levels[level];
        bins.resize((below.size() + 1) / 2);
        firstBin /= 2;
        for (std::size_t i = firstBin; i < bins.size(); ++i) {
            bins[i] = 2 * i + 1 < below.size() ? combine(below[2 * i], below[2 * i + 1]) : below[2 * i];
        }
    }
    m_levels.resize(level);
}

void CallBins::refresh(std::span<const TrackCall> calls, std::size_t index) {
    if (index >= m_count || m_levels.empty()) {
        return;
    }
    std::size_t bin = binOf(calls[index]);
    if (bin >= m_levels[0].size()) {
        return;
    }
    // The calls of the bin lie around this one.
    std::size_t from = index;
    while (from > 0 && binOf(calls[from - 1]) == bin) {
        --from;
    }
    Aggregate sum;
    for (std::size_t i = from; i < m_count && binOf(calls[i]) == bin; ++i) {
        sum = combine(sum, summaryOf(calls[i], std::uint32_t(i)));
    }
    m_levels[0][bin] = sum;
    for (std::size_t level = 1; level < m_levels.size(); ++level) {
        bin /= 2;
        const std::vector<Aggregate>& below = m_levels[level - 1];
        m_levels[level][bin] =
            2 * bin + 1 < below.size() ? combine(below[2 * bin], below[2 * bin + 1]) : below[2 * bin];
    }
}

std::optional<CallBins::Level> CallBins::level(double units) const {
    std::optional<Level> found;
    for (std::size_t level = 0; level < m_levels.size(); ++level) {
        const int shift = m_shift + int(level);
        if (shift >= 62 || double(std::int64_t(1) << shift) > units) {
            break;
        }
        found = Level{shift, m_levels[level]};
    }
    return found;
}

} // namespace stopline::viewer
