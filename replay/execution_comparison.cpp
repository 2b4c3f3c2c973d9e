#include "execution_comparison.h"

#include "call_words.h"
#include "difference_words.h"
#include "recording_compare.h"

#include <algorithm>
#include <utility>

namespace stopline::replay {

SameSite sameSite(const SourceLocation& one, const SourceLocation& two) {
    if (one.known() && two.known()) {
        return one.file == two.file && one.line == two.line && one.function == two.function ? SameSite::Yes : SameSite::No;
    }
    if (!one.function.isEmpty() && !two.function.isEmpty() && one.function != two.function) {
        return SameSite::No;
    }
    // Both are in the code of the process at hand, where addresses tell.
    return !one.module.isEmpty() && !two.module.isEmpty() ? SameSite::No : SameSite::Unknown;
}

RankComparison::RankComparison(const Timeline& a, const Timeline& b, RankId rank, CompareSites compareSites, SiteText siteText)
    : m_a(a), m_b(b), m_rank(rank), m_compareSites(std::move(compareSites)), m_siteText(std::move(siteText)) {}

Session::ExecutionDifference RankComparison::find() {
    Session::ExecutionDifference found;
    found.rank = m_rank;
    const EventIndex lastA = m_a.lastEvent(m_rank);
    const EventIndex lastB = m_b.lastEvent(m_rank);
    const EventIndex first = std::max(m_a.firstEvent(m_rank), m_b.firstEvent(m_rank));
    EventIndex event = first;
    while (event <= lastA && event <= lastB && same(event)) {
        event = EventIndex(event.value() + 1);
    }
    const EventIndex last = std::min(lastA, lastB);
    if (first.value() > last.value() + 1) { // no event is known of both
        found.same = last;
        (lastA < lastB ? found.second : found.first) =
            QStringLiteral("an unknown part (events %1 to %2)").arg(last.value() + 1).arg(first.value() - 1);
        return found;
    }
    found.same = EventIndex(event.value() - 1);
    if (event <= lastA) {
        found.first = detailsText(m_a.details(m_rank, m_a.eventDetails(m_rank, event)));
    }
    if (event <= lastB) {
        found.second = detailsText(m_b.details(m_rank, m_b.eventDetails(m_rank, event)));
    }
    if (!found.first.isEmpty() && found.first == found.second) {
        const trace::EventDetails& one = m_a.details(m_rank, m_a.eventDetails(m_rank, event));
        const trace::EventDetails other = m_names.named(m_b.details(m_rank, m_b.eventDetails(m_rank, event)));
        const auto request = [&](trace::RequestRef ref) { return requestText(m_a, m_rank, event, ref); };
        found.second += whatDiffers(one, other, {request, m_siteText, m_siteText, mayBeOne(one.site, other.site)});
    }
    return found;
}

bool RankComparison::mayBeOne(CodeAddress one, CodeAddress two) const {
    if (one == two) {
        return true;
    }
    const SameSite known = m_compareSites(one, two);
    if (known != SameSite::Unknown) {
        return known == SameSite::Yes;
    }
    const auto second = m_second.find(one);
    const auto first = m_first.find(two);
    return (second == m_second.end() || second->second == two) && (first == m_first.end() || first->second == one);
}

bool RankComparison::same(EventIndex event) {
    const DetailsId a = m_a.eventDetails(m_rank, event);
    const DetailsId b = m_b.eventDetails(m_rank, event);
    const std::uint64_t pair = (std::uint64_t(a.value()) << 32) | b.value();
    if (m_names.empty() && m_same.contains(pair)) {
        return true;
    }
    const trace::EventDetails& one = m_a.details(m_rank, a);
    trace::EventDetails other = m_b.details(m_rank, b);
    if (!m_names.empty()) {
        m_names.pass(one);
    }
    const CodeAddress site = other.site;
    if (mayBeOne(one.site, site)) {
        other.site = one.site;
    }
    const bool named = !m_names.empty();
    const bool same = m_names.same(other, one, [&](trace::RequestRef ref) {
        const auto by = madeBy(m_a, m_rank, event, ref);
        return !by || mayShareHandle(m_a.details(m_rank, m_a.eventDetails(m_rank, *by)));
    });
    if (same) {
        m_second.emplace(one.site, site);
        m_first.emplace(site, one.site);
    }
    if (same && !named && m_names.empty()) {
        m_same.insert(pair);
    }
    return same;
}

} // namespace stopline::replay
