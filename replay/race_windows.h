// The windows of receives and probes of any source, the messages that they could have got, and how many these
// are. Inside of RaceAnalysis.
//
// Windows that ask for the same (communicator, receiver, tag or any tag) are a class, in the order in which
// MPI lets them choose. The sends that fit a class stand in a lane for each sender (and thread of it), in
// their order. By rule (4) of races.h, a send is an alternative of the windows between the receive that got
// the last of the sends before it in its lane, and the receive that got itself: an interval in the class. Of
// these, by rule (2), of those that it does not know to be decided. Windows posted later than all it knows
// need no look; of the older ones those are found that were open long enough, and
// whose receive it is not told to have matched, by the end of a synchronous send. So counting takes one step for
// each send plus one for each pair of a window and its alternative, and what a new send adds to old windows
// is the same interval.
#pragma once

#include "data_order.h"

#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stopline::replay {

/// A window, by class and place in it.
struct WindowRef {
    std::uint32_t classIndex = 0;
    std::uint32_t place = 0;
};

/// One receive or probe of any source.
struct Window {
    Decision what;
    std::uint32_t key = 0; ///< order of choosing, from 1: twice the number of the receive plus 2; of a probe
                           ///< 1 less than of the receive after it
    Tick posted = 0;       ///< its call began
    Tick decided = 0;      ///< see decidedAt() and Decision::Kind::Decided
    std::uint32_t own = kNone; ///< of a probe: the send that it saw, which is left for others
    bool nothing = false;      ///< it got, or saw, none
};

/// A receive that was open when a younger window was decided, and would have got what fits it: rule (3) of
/// races.h.
struct Shadow {
    std::uint32_t key = 0;
    Tick until = 0; ///< windows decided up to here ...
    std::uint32_t send = kNone; ///< ... or told to have matched to this send, which it got; of a cancelled one: none
    std::int32_t source = kAnySource;
    std::int32_t tag = kAnyTag;
};

struct Lane {
    std::int32_t source = 0;
    std::uint16_t thread = 0;
    std::uint32_t next = 0;    ///< the first send whose interval is not counted to its end
    std::uint32_t counted = 0; ///< sends that have been counted for the windows up to WindowClass::counted
    std::vector<std::uint32_t> sends;
    std::vector<std::uint32_t>
        upTo; ///< by send before `next`: greatest key of the receives that got it and those before
};

struct WindowClass {
    std::uint32_t gate = 0;
    std::int32_t tag = kAnyTag;
    bool unordered = false; ///< threads: later in key does not mean posted later
    bool probes = false;    ///< some of the windows are probes that saw a message
    std::vector<Window> windows;
    std::vector<Tick> latest;          ///< by window: greatest `decided` of it and those before
    std::vector<std::uint32_t> counts; ///< by window: alternatives
    std::vector<std::uint32_t> kept;   ///< by window: those that are none by rule (3) alone
    std::size_t counted = 0;           ///< windows for which the lanes have been counted
    std::vector<Lane> lanes;
};

/// What can get at the messages of one receiver on one communicator.
struct Gate {
    std::uint32_t comm = 0;
    std::int32_t receiver = 0;
    std::uint32_t anyTag = kNone; ///< its class of windows for any tag
    std::vector<std::uint32_t> classes;
    std::vector<Shadow> shadows;
};

class RaceWindows {
  public:
    /// Takes in what the order's last update came upon.
    void update(const TimelineData& data, const DataOrder& order);

    [[nodiscard]] const std::vector<WindowClass>& classes() const { return m_classes; }
    [[nodiscard]] const std::vector<Gate>& gates() const { return m_gates; }
    /// The sends that this window could have got, at most one for each lane.
    void eachAlternative(const TimelineData& data, const DataOrder& order, WindowRef window,
                         const std::function<void(std::uint32_t send)>& visit) const;
    /// True when a send could have been got by a window that got something, with a key between these two,
    /// both excluded.
    [[nodiscard]] bool reaches(const TimelineData& data, const DataOrder& order, const WindowClass& of,
                               std::uint32_t send, std::uint32_t after, std::uint32_t before) const;
    /// Order of choosing of the receive that got a send; kNone while none has.
    [[nodiscard]] static std::uint32_t keyOf(const TimelineData& data, std::uint32_t send);
    [[nodiscard]] std::size_t bytes() const;

  private:
    /// Where the sends of a channel go.
    struct Route {
        std::uint32_t gate = kNone;
        std::uint32_t own = kNone; ///< the class of its tag
        bool known = false;        ///< looked up; what is made later finds the channel itself
    };
    [[nodiscard]] std::uint32_t findGate(std::uint32_t comm, std::int32_t receiver) const;
    std::uint32_t gateOf(const TimelineData& data, std::uint32_t comm, std::int32_t receiver);
    void join(const TimelineData& data, std::uint32_t channel, std::uint32_t gate);
    std::uint32_t classOf(const TimelineData& data, const DataOrder& order, std::uint32_t gate,
                          std::int32_t tag);
    void fillLanes(const TimelineData& data, const DataOrder& order, std::uint32_t classIndex);
    void addSend(const TimelineData& data, WindowClass& to, std::uint32_t send);
    void takeSends(const TimelineData& data, const DataOrder& order);
    void takeDecision(const TimelineData& data, const DataOrder& order, const Decision& decision);
    void takeEnd(const TimelineData& data, const Decision& decision, std::unordered_map<std::uint32_t, std::size_t>& ended);
    static void noteLatest(WindowClass& of, std::size_t from);
    void takeShadow(const TimelineData& data, const DataOrder& order, const Decision& decision);
    void putIn(std::uint32_t classIndex);
    void count(const TimelineData& data, const DataOrder& order, std::uint32_t classIndex);
    static std::size_t recheck(const TimelineData& data, WindowClass& of, std::size_t from);
    static void forget(WindowClass& of, std::size_t from);
    void countLane(const TimelineData& data, const DataOrder& order, WindowClass& of, Lane& lane,
                   std::size_t from);
    void add(const TimelineData& data, const DataOrder& order, WindowClass& of, std::uint32_t send,
             std::size_t from, std::size_t to);
    /// By rule (3).
    [[nodiscard]] bool keptFrom(const TimelineData& data, const WindowClass& of, const Window& window,
                                std::uint32_t send) const;
    using Knowing = std::pair<std::int32_t, std::uint32_t>; ///< a rank, from this call of its own on
    [[nodiscard]] static bool knows(const TimelineData& data, std::uint32_t send, const std::vector<Knowing>& known);
    /// The send knows that the window's receive has matched, see Told.
    [[nodiscard]] bool isTold(const TimelineData& data, const Window& window, std::uint32_t send) const;
    /// The window was decided while the receive was open.
    [[nodiscard]] bool liesIn(const TimelineData& data, const Window& window, const Shadow& shadow) const;
    /// A younger receive of the same rank has been told to have matched to what the receive got.
    [[nodiscard]] bool toldMeanwhile(const TimelineData& data, std::uint32_t recv, const Shadow& shadow) const;

    std::vector<Gate> m_gates;
    std::vector<WindowClass> m_classes;
    std::unordered_map<std::uint64_t, std::uint32_t> m_gateIndex; ///< by communicator and receiver
    /// (gate, tag) as one number, which classes and channels are found by.
    [[nodiscard]] static std::uint64_t tagged(std::uint32_t gate, std::int32_t tag) {
        return (std::uint64_t{gate} << 32U) | static_cast<std::uint32_t>(tag);
    }
    std::unordered_map<std::uint64_t, std::uint32_t> m_classIndex;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> m_channels; ///< of a gate, by tag
    std::vector<Route> m_routes;                                              ///< by channel
    std::vector<std::vector<Window>> m_fresh; ///< by class: windows that are to be put in
    /// By receive: the ranks that know it to have matched, and from which of their calls on.
    std::map<std::uint32_t, std::vector<Knowing>> m_told;
    std::uint64_t m_rearranged = 0;
    std::uint64_t m_revised = 0;
    std::vector<std::size_t> m_stale; ///< by class: windows from here on are to be counted anew
};

/// First place, not before `from`, whose window has a greater key (or, with `equal`, the same).
[[nodiscard]] std::size_t placeAfter(const std::vector<Window>& windows, std::size_t from, std::uint32_t key,
                                     bool equal);

inline constexpr std::size_t kNothingStale = ~std::size_t{0};

} // namespace stopline::replay
