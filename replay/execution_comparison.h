// Two executions, call by call.
#pragma once

#include "request_names.h"
#include "session.h"
#include "timeline.h"

#include <QString>

#include <cstdint>
#include <functional>
#include <map>
#include <unordered_set>

namespace stopline::replay {

/// Whether two call sites with different addresses are one, which code has that is elsewhere in each execution.
enum class SameSite { No, Yes, Unknown };

/// By what is known of them. No for two of one process without lines: there addresses tell.
[[nodiscard]] SameSite sameSite(const SourceLocation& one, const SourceLocation& two);

/// Compares what one rank did in two executions.
class RankComparison {
  public:
    using CompareSites = std::function<SameSite(CodeAddress, CodeAddress)>;
    using SiteText = std::function<QString(CodeAddress)>; ///< "rows.c:12"; empty: not known
    /// The timelines have to live as long as this.
    RankComparison(const Timeline& a, const Timeline& b, RankId rank, CompareSites compareSites, SiteText siteText);

    /// How far they are equal, and what each does then.
    [[nodiscard]] Session::ExecutionDifference find();

  private:
    /// Two sites of which nothing else is known may be one as long as neither has been another one's.
    [[nodiscard]] bool mayBeOne(CodeAddress one, CodeAddress two) const;
    bool same(EventIndex event);

    const Timeline& m_a;
    const Timeline& m_b;
    RankId m_rank;
    CompareSites m_compareSites;
    SiteText m_siteText;
    RequestNames m_names;                        ///< of the second recording's requests
    std::unordered_set<std::uint64_t> m_same;    ///< pairs of details, as long as all requests have their own names
    std::map<CodeAddress, CodeAddress> m_second; ///< sites of the first that have been found again, and where
    std::map<CodeAddress, CodeAddress> m_first;  ///< the inverse
};

} // namespace stopline::replay
