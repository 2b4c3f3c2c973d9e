// Inside of RaceAnalysis.
#pragma once

#include "race_windows.h"
#include "races.h"

#include <optional>
#include <vector>

namespace stopline::replay {

struct RaceAnalysis::Impl {
    explicit Impl(Orders which) : orders(which), order(which == Orders::All) {}
    [[nodiscard]] Race raceOf(WindowRef ref) const;
    [[nodiscard]] std::optional<WindowRef> find(const Race& race) const;
    /// Calls `visit` for each window that has alternatives.
    template <typename Visit>
    void eachRace(Visit&& visit) const;
    [[nodiscard]] static std::vector<Race> sorted(std::vector<Race> races);
    /// The sends of MinimalTrace::traced; not all of them once it is `cancelled`.
    [[nodiscard]] std::vector<std::uint32_t> tracedSends(const std::atomic<bool>* cancelled = nullptr) const;
    [[nodiscard]] MinimalTrace minimalTrace() const;

    Orders orders;
    const TimelineData* data = nullptr;
    DataOrder order;
    RaceWindows windows;
};

} // namespace stopline::replay
