// What a block of events of a rank needs of the other ranks, and forbids them, so that a walk can take whole
// blocks.
//
// The needs of many ends are one start for each other rank: the latest. What many starts are needed by is one
// end for each other rank: the earliest. So a block of events becomes a short list, made when a question
// first comes to it and kept until something about its calls changes. Only for ranks whose calls do not
// overlap: there the order of calls is the order of their ends.
#pragma once

#include <cstdint>
#include <vector>

namespace stopline::replay {

struct TimelineData;
enum class Relation : std::uint8_t;

class Digest {
  public:
    enum class Direction : std::uint8_t { Needs, Forbids };
    /// Needs: `call` must have started, Forbids: `call` must not have ended.
    struct Entry {
        std::uint32_t rank = 0;
        std::uint32_t call = 0;
    };
    /// Brings the blocks of all ranks up to date. Does nothing for ranks whose calls overlap, and then none.
    void update(const TimelineData& data);
    /// Events in a block.
    [[nodiscard]] std::uint64_t blockEvents() const { return m_events; }
    /// Whole blocks of a rank; block b holds the events from the b * blockEvents()-th of its history on. 0 where walks must do
    /// without.
    [[nodiscard]] std::uint64_t blocks(std::int32_t rank) const {
        return static_cast<std::size_t>(rank) < m_ranks.size()
                   ? m_ranks[static_cast<std::size_t>(rank)].ends.size() / kLists
                   : 0;
    }
    /// Calls `visit` for each entry of a block.
    template <typename Visit>
    void each(std::int32_t rank, std::uint64_t block, Direction direction, Relation relation,
              Visit&& visit) const {
        const RankDigest& own = m_ranks[static_cast<std::size_t>(rank)];
        // Lists of a block: needed starts of messages, of collectives in either relation; the same of
        // forbidden ends.
        const std::size_t first = block * kLists + (direction == Direction::Forbids ? 3 : 0);
        list(own, first, visit);
        list(own, first + 1 + static_cast<std::size_t>(relation), visit);
    }
    [[nodiscard]] std::size_t bytes() const;

  private:
    static constexpr std::size_t kLists = 6;
    struct RankDigest {
        std::vector<Entry> entries;
        std::vector<std::uint32_t> ends; ///< of each list, in entries
    };
    template <typename Visit>
    static void list(const RankDigest& own, std::size_t index, Visit&& visit) {
        const std::uint32_t from = index == 0 ? 0 : own.ends[index - 1];
        for (std::uint32_t i = from; i < own.ends[index]; ++i) {
            visit(own.entries[i]);
        }
    }
    /// The best entry for each rank while a list is made.
    class Best;
    /// The parts of a block in collectives.
    class Parts;

    std::uint64_t m_events = 0;
    std::vector<RankDigest> m_ranks;
};

} // namespace stopline::replay
