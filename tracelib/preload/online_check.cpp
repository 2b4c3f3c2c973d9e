// Which earlier receives and probes could have got a message.
#include "online.h"

#include "rank.h"
#include "values.h"

#include <algorithm>
#include <type_traits>

namespace stopline::preload {

namespace {

constexpr std::uint32_t kNobodys = ~std::uint32_t{0}; ///< key of a message that no receive has got

} // namespace

Online::WindowClass* Online::classOf(std::uint32_t comm, std::int32_t tag, bool make) {
    if (m_indexed == 0) {
        m_indexed = m_classIndex.capacity();
    }
    const auto home = [&](std::uint32_t itsComm, std::int32_t itsTag) {
        const std::uint64_t key = std::uint64_t{itsComm} << 32U | static_cast<std::uint32_t>(itsTag);
        return (key * 0x9e3779b97f4a7c15ULL >> 32U) & (m_indexed - 1);
    };
    std::size_t at = home(comm, tag);
    for (; m_classIndex[at] != 0; at = (at + 1) & (m_indexed - 1)) {
        WindowClass& one = m_classes[m_classIndex[at] - 1];
        if (one.comm == comm && one.tag == tag) {
            return &one;
        }
    }
    if (!make) {
        return nullptr;
    }
    const std::size_t lanes = m_classCount * m_ranks;
    if (!m_classes.reserve(m_classCount + 1) || !m_lanes.reserve(lanes + m_ranks)) {
        giveUp(RaceLimit::Memory);
        return nullptr;
    }
    m_classes[m_classCount].comm = comm;
    m_classes[m_classCount].tag = tag;
    m_classes[m_classCount].lanes = static_cast<std::uint32_t>(lanes);
    m_classIndex[at] = static_cast<std::uint32_t>(++m_classCount);
    if (m_classCount * 2 > m_indexed) {
        if (!m_classIndex.reserve(m_indexed * 2)) {
            giveUp(RaceLimit::Memory);
            return nullptr;
        }
        m_indexed *= 2;
        std::fill_n(m_classIndex.data(), m_indexed, 0U);
        for (std::uint32_t i = 0; i < m_classCount; ++i) {
            std::size_t place = home(m_classes[i].comm, m_classes[i].tag);
            while (m_classIndex[place] != 0) {
                place = (place + 1) & (m_indexed - 1);
            }
            m_classIndex[place] = i + 1;
        }
    }
    return &m_classes[m_classCount - 1];
}

/// What every future send will know of this rank, at least.
Tick Online::knownToAll() {
    Tick least = ~Tick{0};
    for (std::uint32_t source = 0; source < m_ranks; ++source) {
        // In this order: what is sent after the first look knows as much.
        const Tick now = m_shared.clock(source)[m_rank].load(std::memory_order_acquire);
        SharedClocks::Queue& queue = m_shared.queue(source, m_rank);
        const std::uint64_t head = queue.head.value.load(std::memory_order_relaxed);
        const bool some = head < queue.tail.value.load(std::memory_order_acquire);
        least = std::min(least, some ? slot(static_cast<std::int32_t>(source), head).clock[m_rank] : now);
    }
    return least;
}

/// Takes out windows that no message can be found to race with any more; false when there is none.
bool Online::forgetOld(WindowClass& of) {
    const Tick known = knownToAll();
    Window* const end = of.windows.data() + of.count;
    Window* const kept = std::remove_if(of.windows.data(), end, [known](const Window& window) {
        return !window.pending && window.decided <= known;
    });
    of.count = static_cast<std::uint32_t>(kept - of.windows.data());
    noteLatest(of, 0);
    return kept != end;
}

void Online::noteLatest(WindowClass& of, std::uint32_t from) {
    for (std::uint32_t i = from; i < of.count; ++i) {
        Window& window = of.windows[i];
        window.latest = i == 0 ? window.decided : std::max(of.windows[i - 1].latest, window.decided);
    }
}

void Online::addWindow(const Receive& receive, Tick decided, bool nothing, bool pending) {
    addWindow(
        receive.comm, receive.tag,
        {receive.key, decided, 0, receive.event, kNoSlot, -1, receive.position, nothing, pending, false, false});
}

void Online::addWindow(std::uint32_t comm, std::int32_t tag, const Window& window) {
    WindowClass* of = classOf(comm, tag, true);
    if (of == nullptr) {
        return;
    }
    if (of->count == of->windows.capacity()) {
        // Else a table that is kept nearly full by what cannot go would be searched each time.
        const std::uint32_t before = of->count;
        if ((!forgetOld(*of) || of->count > before / 2) &&
            !of->windows.reserve(std::size_t{of->count} + 1 + before / 2)) {
            giveUp(RaceLimit::Memory);
            return;
        }
    }
    std::size_t at = of->count;
    while (at > 0 && of->windows[at - 1].key > window.key) {
        of->windows[at] = of->windows[at - 1];
        --at;
    }
    of->windows[at] = window;
    ++of->count;
    if (window.decided == kNever) {
        ++of->endless;
        ++m_endlessCount;
    }
    noteLatest(*of, static_cast<std::uint32_t>(at));
}

void Online::race(Window& window) {
    if (!window.raced) {
        window.raced = true;
        note(window);
    }
}

void Online::guard(Window& window) {
    if (!window.guarded) {
        window.guarded = true;
        note(window);
    }
}

/// What has come to be known of it last.
void Online::note(const Window& window) {
    if (!window.pending) {
        noteFinding(window.raced ? trace::ValueKind::Raced : trace::ValueKind::Guarded,
                    trace::racedValue(window.event, window.position));
    }
}

/// A receive that was decided early is complete now.
void Online::completeWindow(const Receive& receive, bool nothing) {
    WindowClass* of = classOf(receive.comm, receive.tag, false);
    for (std::uint32_t i = of == nullptr ? 0 : of->count; i > 0; --i) {
        Window& window = of->windows[i - 1];
        if (window.key == receive.key && window.pending) {
            window.pending = false;
            window.nothing = nothing;
            if (window.raced || window.guarded) {
                note(window);
            }
            return;
        }
    }
}

void Online::endEndless(std::uint32_t comm, std::int32_t tag, std::uint32_t key, Tick by) {
    if (m_endlessCount == 0) [[likely]] {
        return;
    }
    for (const std::int32_t asked : {tag, kAnyTag}) {
        WindowClass* of = classOf(comm, asked, false);
        if (of == nullptr) {
            continue;
        }
        std::uint32_t from = of->count;
        std::uint32_t left = of->endless;
        for (std::uint32_t i = of->count; i > 0 && left > 0; --i) {
            Window& window = of->windows[i - 1];
            if (window.decided != kNever) {
                continue;
            }
            --left;
            if (window.key < key) {
                window.decided = by;
                from = i - 1;
                --of->endless;
                --m_endlessCount;
            }
        }
        noteLatest(*of, from);
    }
}

void Online::addShadow(const Shadow& shadow) {
    bool falls = false;
    for (std::size_t i = 0; i < m_classCount && !falls; ++i) {
        WindowClass& of = m_classes[i];
        if (of.comm != shadow.comm || (shadow.tag != kAnyTag && of.tag != kAnyTag && shadow.tag != of.tag)) {
            continue;
        }
        for (std::uint32_t k = of.count; k > 0 && of.windows[k - 1].key > shadow.key && !falls; --k) {
            falls = of.windows[k - 1].decided <= shadow.until;
        }
    }
    if (!falls) {
        return;
    }
    if (m_shadowCount == m_shadows.capacity()) {
        const Tick known = knownToAll();
        Shadow* const kept = std::remove_if(m_shadows.data(), m_shadows.data() + m_shadowCount,
                                            [known](const Shadow& one) { return one.until <= known; });
        m_shadowCount = static_cast<std::size_t>(kept - m_shadows.data());
    }
    if (!m_shadows.reserve(m_shadowCount + 1)) {
        giveUp(RaceLimit::Memory);
        return;
    }
    m_shadows[m_shadowCount++] = shadow;
}

bool Online::isKept(const WindowClass& of, const Window& window, std::int32_t source, std::int32_t tag,
                    bool last) {
    const auto covers = [&](std::uint32_t key, Tick until, std::int32_t itsSource, std::int32_t itsTag) {
        return key < window.key && window.decided <= until &&
               (itsSource == kAnySource || itsSource == source) && (itsTag == kAnyTag || itsTag == tag);
    };
    for (std::size_t i = 0; i < m_shadowCount; ++i) {
        const Shadow& one = m_shadows[i];
        if (one.comm == of.comm && covers(one.key, one.until, one.source, one.tag)) {
            return true;
        }
    }
    // Those that have matched and that the program has not completed: what they got tells the same.
    for (std::size_t i = 0; i < m_openCount && m_open[i].key < window.key && !last; ++i) {
        const Receive& one = m_open[i];
        if (one.from == kUnknown || one.comm != of.comm || (one.from == kWithdrawn && one.early == 0)) {
            continue;
        }
        const Tick until = one.from == kWithdrawn ? one.early - 1 : slot(one.from, one.slot).clock[m_rank];
        if (covers(one.key, until, one.source, one.tag)) {
            return true;
        }
    }
    return false;
}

void Online::check(std::int32_t source, std::uint64_t number, std::uint32_t key, bool last) {
    const MessageSlot& message = slot(source, number);
    std::uint32_t comm = 0;
    while (comm < m_commCount && m_comms[comm].id != message.comm) {
        ++comm;
    }
    const Tick known = message.clock[m_rank];
    WindowClass* const classes[2] = {classOf(comm, message.tag, false), classOf(comm, kAnyTag, false)};
    bool traced = false;
    for (WindowClass* of : classes) {
        if (of == nullptr) {
            continue;
        }
        Lane& lane = m_lanes[of->lanes + static_cast<std::uint32_t>(source)];
        for (std::uint32_t i = of->count; i > 0; --i) {
            Window& window = of->windows[i - 1];
            const bool races = window.key > lane.after && !lane.closed;
            const bool reached = window.key > lane.untraced && lane.untraced != kNobodys && !window.nothing;
            if (window.latest <= known || (!races && (traced || window.key <= lane.untraced))) {
                break;
            }
            if (window.key >= key || window.decided <= known || (!reached && (!races || window.raced)) ||
                (window.seen == number && window.seenOf == source)) { // a probe has seen it
                continue;
            }
            if (isKept(*of, window, source, message.tag, last)) {
                if (races && !window.raced) {
                    guard(window);
                }
                continue;
            }
            traced = traced || reached;
            if (races) {
                race(window);
            }
        }
        lane.after = std::max(lane.after, key == kNobodys ? 0 : key);
        lane.closed = lane.closed || key == kNobodys;
    }
    m_traced += traced ? 1 : 0;
    for (WindowClass* of : classes) {
        if (of != nullptr && !traced) {
            Lane& lane = m_lanes[of->lanes + static_cast<std::uint32_t>(source)];
            lane.untraced = std::max(lane.untraced, key);
        }
    }
}

/// Looks at the messages of a sender in the order in which it sent them, as far as they have been received:
/// which receives they could have had instead depends on where those before them went. With `last`, at all of
/// them.
void Online::settle(std::int32_t source, bool last) {
    SharedClocks::Queue& queue = m_shared.queue(static_cast<std::uint32_t>(source), m_rank);
    std::uint64_t head = queue.head.value.load(std::memory_order_relaxed);
    const std::uint64_t tail = queue.tail.value.load(std::memory_order_acquire);
    for (; head < tail && on; ++head) {
        const MessageSlot& message = slot(source, head);
        if (message.state != MessageSlot::State::Complete && !last) {
            break;
        }
        check(source, head, message.state == MessageSlot::State::Waiting ? kNobodys : message.key, last);
    }
    queue.head.value.store(head, std::memory_order_release);
}

} // namespace stopline::preload
