#include "aggregate.h"

#include <algorithm>
#include <bit>

namespace stopline::viewer {

Aggregate combine(const Aggregate& a, const Aggregate& b) {
    if (a.count == 0) {
        return b;
    }
    if (b.count == 0) {
        return a;
    }
    const bool second =
        b.severity > a.severity || (b.severity == a.severity && b.log2Duration > a.log2Duration);
    Aggregate sum = second ? b : a;
    sum.count = a.count + b.count;
    sum.styles = std::uint16_t(a.styles | b.styles);
    return sum;
}

namespace {

std::int64_t lengthOf(const TrackCall& call) {
    return call.open() ? INT64_MAX : std::max<std::int64_t>(0, call.timeEnd - call.timeBegin);
}

} // namespace

Aggregate summaryOf(const TrackCall& call, std::uint32_t index) {
    const std::int64_t duration = lengthOf(call);
    return {1,
            index,
            std::uint16_t(1U << unsigned(call.style)),
            call.severity,
            call.severity == Severity::Error ? CallStyle::Error : call.style,
            std::uint8_t(std::bit_width(std::uint64_t(duration)))};
}

namespace {

Aggregate scan(std::span<const TrackCall> calls, std::size_t from, std::size_t to) {
    if (from >= to) {
        return {};
    }
    // The same as combining one by one, without building a summary for each call.
    std::size_t worst = from;
    std::int64_t longest = lengthOf(calls[from]);
    unsigned styles = 1U << unsigned(calls[from].style);
    for (std::size_t i = from + 1; i < to; ++i) {
        const TrackCall& call = calls[i];
        styles |= 1U << unsigned(call.style);
        if (call.severity < calls[worst].severity) {
            continue;
        }
        const std::int64_t length = lengthOf(call);
        if (call.severity > calls[worst].severity ||
            std::bit_width(std::uint64_t(length)) > std::bit_width(std::uint64_t(longest))) {
            worst = i;
            longest = length;
        }
    }
    Aggregate sum = summaryOf(calls[worst], std::uint32_t(worst));
    sum.count = std::uint32_t(to - from);
    sum.styles = std::uint16_t(styles);
    return sum;
}

} // namespace

void CallForest::extend(std::span<const TrackCall> calls) {
    if (m_levels.empty()) {
        m_levels.emplace_back();
    }
    for (std::size_t block = m_levels[0].size(); (block + 1) * kBlock <= calls.size(); ++block) {
        m_levels[0].push_back(scan(calls, block * kBlock, (block + 1) * kBlock));
    }
    for (std::size_t level = 1; m_levels[level - 1].size() >= 2; ++level) {
        if (m_levels.size() <= level) {
            m_levels.emplace_back();
        }
        for (std::size_t node = m_levels[level].size(); 2 * node + 1 < m_levels[level - 1].size(); ++node) {
            m_levels[level].push_back(
                combine(m_levels[level - 1][2 * node], m_levels[level - 1][2 * node + 1]));
        }
    }
}

void CallForest::refresh(std::span<const TrackCall> calls, std::size_t index) {
    std::size_t node = index / kBlock;
    if (m_levels.empty() || node >= m_levels[0].size()) {
        return;
    }
    m_levels[0][node] = scan(calls, node * kBlock, (node + 1) * kBlock);
    for (std::size_t level = 1; level < m_levels.size(); ++level) {
        node /= 2;
        if (node >= m_levels[level].size()) {
            return;
        }
        m_levels[level][node] = combine(m_levels[level - 1][2 * node], m_levels[level - 1][2 * node + 1]);
    }
}

Aggregate CallForest::query(std::span<const TrackCall> calls, std::size_t from, std::size_t to) const {
    if (from >= to) {
        return {};
    }
    std::size_t first = (from + kBlock - 1) / kBlock;
    const std::size_t last = m_levels.empty() ? 0 : std::min(to / kBlock, m_levels[0].size());
    if (first >= last) {
        return scan(calls, from, to);
    }
    Aggregate sum = scan(calls, from, first * kBlock);
    while (first < last) {
        // The greatest node that starts here and does not reach beyond the end.
        std::size_t level = 0;
        std::size_t node = first;
        while (level + 1 < m_levels.size() && node % 2 == 0 && (node / 2) < m_levels[level + 1].size() &&
               ((node / 2 + 1) << (level + 1)) <= last) {
            node /= 2;
            ++level;
        }
        sum = combine(sum, m_levels[level][node]);
        first += std::size_t(1) << level;
    }
    return combine(sum, scan(calls, last * kBlock, to));
}

} // namespace stopline::viewer
