#include "requests.h"

namespace stopline::preload {

std::size_t RequestTable::home(MPI_Request handle) {
    const std::uint64_t bits = keyOf(handle);
    return (bits * 0x9e3779b97f4a7c15ULL >> 32) & (m_slotCount - 1);
}

RequestTable::Slot* RequestTable::slotOf(MPI_Request handle) {
    if (m_slotCount == 0) {
        return nullptr;
    }
    for (std::size_t at = home(handle); m_slots[at].handle != kNoRequest; at = (at + 1) & (m_slotCount - 1)) {
        if (m_slots[at].handle == handle) {
            return &m_slots[at];
        }
    }
    return nullptr;
}

bool RequestTable::growSlots() {
    if (m_slotCount == 0) {
        m_slotCount = m_slots.capacity();
        return true;
    }
    const std::size_t old = m_slotCount;
    if (!m_slots.reserve(old * 2)) {
        return false;
    }
    // Entries move to their new homes by way of a list through the pages, not by a second table.
    auto* copy = static_cast<Slot*>(takePages(old * sizeof(Slot)));
    if (copy == nullptr) {
        return false;
    }
    std::memcpy(static_cast<void*>(copy), m_slots.data(), old * sizeof(Slot));
    std::memset(static_cast<void*>(m_slots.data()), 0, old * 2 * sizeof(Slot));
    m_slotCount = old * 2;
    for (std::size_t i = 0; i < old; ++i) {
        if (copy[i].handle != kNoRequest) {
            std::size_t at = home(copy[i].handle);
            while (m_slots[at].handle != kNoRequest) {
                at = (at + 1) & (m_slotCount - 1);
            }
            m_slots[at] = copy[i];
        }
    }
    const int savedErrno = errno;
    munmap(copy, old * sizeof(Slot));
    errno = savedErrno;
    return true;
}

void RequestTable::add(MPI_Request handle, std::uint32_t serial, RequestKind kind, bool persistent, const void* place) {
    std::uint32_t number = m_freeNodes;
    if (number != kNone) {
        m_freeNodes = m_nodes[number].next;
    } else {
        if (!m_nodes.reserve(std::size_t{m_nodeCount} + 2)) {
            return;
        }
        number = ++m_nodeCount;
    }
    m_nodes[number] = {handle, serial, kNone, kind, persistent, !persistent, false, place, 0};
    if (!link(number)) {
        release(number);
    }
}

bool RequestTable::link(std::uint32_t number) {
    if ((m_usedSlots + 1) * 4 > m_slotCount * 3 && !growSlots()) {
        return false;
    }
    const MPI_Request handle = m_nodes[number].handle;
    std::size_t at = home(handle);
    while (m_slots[at].handle != kNoRequest && m_slots[at].handle != handle) {
        at = (at + 1) & (m_slotCount - 1);
    }
    Slot& slot = m_slots[at];
    if (slot.handle == kNoRequest) {
        slot = {handle, number, number, kNone, 0};
        ++m_usedSlots;
    } else {
        if (m_nodes[slot.tail].place == m_nodes[number].place) {
            m_nodes[slot.tail].place = nullptr; // what the variable holds now is the new one
        }
        m_nodes[slot.tail].next = number;
        slot.tail = number;
    }
    return true;
}

bool RequestTable::find(const MPI_Request* handles, int count, std::uint32_t* nodes, const MPI_Request* places) {
    constexpr int kLookAhead = 64; // of thousands with one handle
    bool shared = false;
    ++m_stamp;
    const auto isTaken = [this](std::uint32_t number) {
        return m_nodes[number].claimed || m_nodes[number].given == m_stamp;
    };
    for (int i = 0; i < count; ++i) {
        Slot* slot = slotOf(handles[i]);
        if (slot == nullptr) {
            nodes[i] = kNone;
            continue;
        }
        shared = shared || slot->head != slot->tail;
        if (slot->stamp != m_stamp) {
            slot->stamp = m_stamp;
            slot->cursor = slot->head;
        }
        while (slot->cursor != kNone && isTaken(slot->cursor)) {
            slot->cursor = m_nodes[slot->cursor].next;
        }
        nodes[i] = slot->cursor;
        if (slot->cursor == kNone) {
            continue;
        }
        if (places != nullptr && m_nodes[slot->cursor].place != places + i) {
            std::uint32_t ahead = m_nodes[slot->cursor].next;
            for (int steps = 0; ahead != kNone && steps < kLookAhead; ++steps, ahead = m_nodes[ahead].next) {
                if (m_nodes[ahead].place == places + i && !isTaken(ahead)) {
                    nodes[i] = ahead;
                    break;
                }
            }
        }
        m_nodes[nodes[i]].given = m_stamp;
    }
    return shared;
}

bool RequestTable::unlink(std::uint32_t number) {
    const RequestNode& gone = m_nodes[number];
    Slot* slot = slotOf(gone.handle);
    if (slot == nullptr) {
        return false;
    }
    if (slot->head == number) {
        slot->head = gone.next;
        if (slot->head == kNone) {
            eraseSlot(static_cast<std::size_t>(slot - m_slots.data()));
        }
        return true;
    }
    std::uint32_t before = slot->head;
    while (before != kNone && m_nodes[before].next != number) {
        before = m_nodes[before].next;
    }
    if (before == kNone) {
        return false; // removed already
    }
    m_nodes[before].next = gone.next;
    if (slot->tail == number) {
        slot->tail = before;
    }
    return true;
}

void RequestTable::release(std::uint32_t number) {
    m_nodes[number].handle = kNoRequest;
    m_nodes[number].next = m_freeNodes;
    m_freeNodes = number;
}

MPI_Request RequestTable::handleOf(std::uint32_t serial) {
    for (std::uint32_t number = 1; number <= m_nodeCount; ++number) {
        if (m_nodes[number].serial == serial && m_nodes[number].handle != kNoRequest) {
            return m_nodes[number].handle;
        }
    }
    return kNoRequest;
}

void RequestTable::remove(std::uint32_t number) {
    if (unlink(number)) {
        release(number);
    }
}

void RequestTable::rename(std::uint32_t number, MPI_Request handle) {
    if (!unlink(number)) {
        return;
    }
    m_nodes[number].handle = handle;
    m_nodes[number].next = kNone;
    if (!link(number)) {
        release(number);
    }
}

void RequestTable::eraseSlot(std::size_t at) {
    // Linear probing without tombstones: entries behind the hole move up unless they would leave their home.
    std::size_t hole = at;
    for (std::size_t next = (at + 1) & (m_slotCount - 1); m_slots[next].handle != kNoRequest;
         next = (next + 1) & (m_slotCount - 1)) {
        const std::size_t wanted = home(m_slots[next].handle);
        const std::size_t toHole = (next - hole) & (m_slotCount - 1);
        const std::size_t toHome = (next - wanted) & (m_slotCount - 1);
        if (toHome >= toHole) {
            m_slots[hole] = m_slots[next];
            hole = next;
        }
    }
    m_slots[hole] = {};
    --m_usedSlots;
}

void MessageTable::add(const MatchedMessage& message) {
    if (m_messages.reserve(m_count + 1)) {
        m_messages[m_count++] = message;
    }
}

bool MessageTable::take(MPI_Message handle, MatchedMessage& message) {
    for (std::size_t i = 0; i < m_count; ++i) {
        if (m_messages[i].handle == handle) {
            message = m_messages[i];
            m_messages[i] = m_messages[--m_count];
            return true;
        }
    }
    return false;
}

} // namespace stopline::preload
