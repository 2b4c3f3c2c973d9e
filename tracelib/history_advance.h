// Leaves out the first events of a recording that is being read, and keeps what has to be known of them.
#pragma once

#include "event.h"
#include "history_start.h"
#include "reader.h"

#include <cstdint>
#include <memory>

namespace stopline::trace {

/// What there is before an event that moves on.
class HistoryAdvance {
  public:
    /// From the first event of the rank on, or from what was missing already (null: nothing).
    explicit HistoryAdvance(const HistoryStart* from);
    ~HistoryAdvance();
    HistoryAdvance(HistoryAdvance&&) noexcept;

    /// Leaves out the next event.
    void add(const EventDetails& details);
    [[nodiscard]] const HistoryStart& start() const;
    /// Leaves out whole blocks at the front of an image, as long as at least `keep` events are left. An image that is
    /// damaged there is left as it is.
    static void leaveOut(RankImage& image, std::uint64_t keep);

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace stopline::trace
