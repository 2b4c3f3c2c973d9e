// What tells one visit of a code address from another: the plain values that the program's own frames hold there.
#pragma once

#include "rank_process.h"

#include <QPointer>

#include <functional>
#include <optional>
#include <set>

namespace stopline::replay {

/// The plain values of the innermost frames of the user's, of a stopped rank whose stack is `frames`. Without those of
/// frames of which gdb cannot tell; nothing at all when the rank goes on meanwhile.
void readFrameValues(RankProcess* rank, const QVector<mi::Frame>& frames, std::function<void(FrameValues)> done);

/// Finds the visit of an address at which a rank stood, by those values, among all visits since an event. Variables that
/// hold garbage (not set yet) differ from run to run, but are the same at every visit: they do not count.
class VisitSearch {
  public:
    enum class Verdict {
        This,    ///< as it was, but for what has been different at every visit
        NotThis,
        Unclear, ///< it may be this one; to be known when others have been seen
    };
    /// The next visit; `ordinal` counts them from one.
    Verdict look(int ordinal, const FrameValues& wanted, const FrameValues& found);
    /// When all have been seen: the one that is most like the old place; nothing if there was none.
    [[nodiscard]] std::optional<int> best() const;
    /// No other is as much like it.
    [[nodiscard]] bool unique() const { return m_bestCount == 1; }

  private:
    std::set<FrameVariable> m_different; ///< variables that were so at every visit until now
    FrameValues m_values;                ///< and the value each had
    bool m_any = false;
    int m_best = 0;
    int m_bestScore = -1;
    int m_bestCount = 0;
};

} // namespace stopline::replay
