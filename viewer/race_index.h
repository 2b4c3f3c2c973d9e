// The races that the diagram marks, by rank: where each of them arrives, which of many is the worst, which
// belong to a call. Pure.
#pragma once

#include "aggregate.h"
#include "diagram_widget.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace stopline::viewer {

class RaceIndex {
  public:
    /// A race whose calls are known, as positions among the calls of its rank.
    struct Entry {
        std::uint32_t call = 0; ///< posts, blocks or probes
        std::uint32_t done = 0; ///< at whose end its outcome was known; `call` itself where that is not told
        std::uint32_t alternatives = 0;
        friend bool operator==(const Entry&, const Entry&) = default;
    };
    /// What the races of one call come to.
    struct Sum {
        std::uint32_t races = 0;
        std::uint32_t alternatives = 0; ///< the most that one of them has
    };

    /// Replaces all, in any order.
    void set(std::vector<RaceMark> marks) { m_marks = std::move(marks); }
    void clear();
    /// After set(), and after calls have become known or have ended. Marks of unknown calls, with the two
    /// calls on different ranks or with no alternative are left out until then.
    void update(std::span<const std::span<const TrackCall>> calls);

    [[nodiscard]] bool empty() const { return m_count == 0; }
    [[nodiscard]] std::size_t size() const { return m_count; }
    /// By the end of `done`; unfinished ones last. So they are ordered on every axis.
    [[nodiscard]] std::span<const Entry> arrivals(int rank) const;
    /// Of a rank's arrivals [from, to), not empty, the one with most alternatives, of equals the first.
    /// Logarithmic.
    [[nodiscard]] std::size_t worst(int rank, std::size_t from, std::size_t to) const;
    /// Of the races that a call posts or whose outcome was known at its end; nothing if there are none.
    [[nodiscard]] std::optional<Sum> of(replay::CallRef call) const;
    /// Of those the one with most alternatives.
    [[nodiscard]] std::optional<Entry> worstOf(replay::CallRef call) const;
    /// A call blocks, posts or probes for a race itself.
    [[nodiscard]] bool races(replay::CallRef call) const;
    /// The next (or previous) call of a rank that does, after (before) a call; without one the first (last).
    [[nodiscard]] std::optional<replay::CallRef> next(RankId rank, std::optional<replay::CallIndex> from,
                                                      bool forward) const;

  private:
    struct Track {
        std::vector<Entry> arrivals;
        /// A binary tree in an array: node i is the worse of 2i and 2i + 1, the leaves are the arrivals.
        std::vector<std::uint32_t> worst;
        std::vector<std::uint32_t> posts; ///< calls, each once
        std::vector<std::pair<std::uint32_t, std::uint32_t>>
            byCall; ///< calls and the places of their arrivals
    };
    static void index(Track& track, std::span<const TrackCall> calls);
    [[nodiscard]] const Track* track(RankId rank) const;
    template <class Visit>
    void visit(replay::CallRef call, const Visit& visit) const;

    std::vector<RaceMark> m_marks;
    std::vector<Track> m_tracks;
    std::size_t m_count = 0;
};

} // namespace stopline::viewer
