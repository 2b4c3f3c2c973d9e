// Which message a receive has got, and when receives and probes are decided.
#include "online.h"

#include "rank.h"
#include "real.h"

#include <algorithm>
#include <sched.h>

namespace stopline::preload {

using trace::CallClass;
using trace::RequestRef;
using trace::Status;

MessageSlot& Online::slot(std::int32_t source, std::uint64_t number) {
    return m_shared.message(m_shared.queue(static_cast<std::uint32_t>(source), m_rank), number);
}

void Online::post(CommIndex index, std::int32_t peer, std::int32_t tag, std::uint32_t serial,
                  std::uint64_t event, std::uint32_t position) {
    const Comm* comm = commOf(index);
    if (comm == nullptr) {
        return;
    }
    const std::int32_t source = peer == kAnySource ? kAnySource : worldRank(*comm, peer);
    if (source < 0 && source != kAnySource) {
        return; // from nobody
    }
    if (!m_open.reserve(m_openCount + 1)) {
        giveUp(RaceLimit::Memory);
        return;
    }
    m_open[m_openCount++] = {m_posted * 2 + 2, serial,  index.value(), source, tag, event, position, 0,
                             kUnknown,         kNoSlot, false,         false,  {}};
    ++m_posted;
}

std::size_t Online::openOf(std::uint32_t serial) const {
    auto& open = const_cast<Pool<Receive, 64>&>(m_open);
    std::size_t at = 0;
    while (at < m_openCount && open[at].serial != serial) {
        ++at;
    }
    return at;
}

void Online::remove(std::size_t at) {
    std::copy(m_open.data() + at + 1, m_open.data() + m_openCount, m_open.data() + at);
    --m_openCount;
}

/// Number in its queue of the first message of this sender that no receive has got.
std::uint64_t Online::waiting(std::int32_t source, std::uint64_t comm, std::int32_t tag) {
    const std::uint64_t tail =
        m_shared.queue(static_cast<std::uint32_t>(source), m_rank).tail.value.load(std::memory_order_acquire);
    std::uint64_t& fresh = m_fresh[source];
    while (fresh < tail && slot(source, fresh).state != MessageSlot::State::Waiting) {
        ++fresh;
    }
    for (std::uint64_t number = fresh; number < tail; ++number) {
        const MessageSlot& one = slot(source, number);
        if (one.state == MessageSlot::State::Waiting && one.tag == tag && one.comm == comm) {
            return number;
        }
    }
    return kNoSlot;
}

/// The receive has got a message of this sender and tag, and all older ones that could have are known.
bool Online::match(Receive& receive, std::int32_t source, std::int32_t tag) {
    const std::uint64_t number = waiting(source, m_comms[receive.comm].id, tag);
    if (number == kNoSlot) {
        giveUp(RaceLimit::Untold);
        return false;
    }
    slot(source, number).state = MessageSlot::State::Matched;
    slot(source, number).key = receive.key;
    receive.from = source;
    receive.slot = number;
    return true;
}

/// MPI on a receive that the program has not waited for, and that has matched: it may still be getting the
/// data.
Online::Answer Online::ask(const Receive& receive, std::int32_t& source, std::int32_t& tag) {
    if (receive.told) {
        source = worldRank(m_comms[receive.comm], receive.status.source);
        tag = receive.status.tag;
        return receive.status.cancelled ? Answer::Withdrawn : source >= 0 ? Answer::Got : Answer::NotTold;
    }
    constexpr int kTries = 100'000;
    const Asking asking;
    MPI_Status status;
    status.MPI_SOURCE = MPI_ANY_SOURCE;
    int flag = 0;
    for (int tries = 0; flag == 0; ++tries) {
        const FreedRequests::Freed* freed = rank.freed.find(receive.serial);
        if (freed != nullptr && freed->handle == kNoRequest) {
            status = freed->status;
            flag = 1;
            break;
        }
        const MPI_Request handle =
            freed != nullptr ? freed->handle : rank.requestTable.handleOf(receive.serial);
        if (handle == kNoRequest || tries == kTries) {
            return Answer::NotTold;
        }
        if (real.Request_get_status(handle, &flag, &status) != MPI_SUCCESS) {
            break; // it failed: its status says whether it has got a message
        }
        if (flag == 0 && tries > 100) {
            sched_yield();
        }
    }
    if (flag != 0 && statusCancelled(status)) {
        return Answer::Withdrawn;
    }
    source = worldRank(m_comms[receive.comm], status.MPI_SOURCE);
    tag = status.MPI_TAG;
    return source >= 0 ? Answer::Got : Answer::NotTold;
}

/// A message of this sender and tag has been got by a receive with this key, or is there for it to get: what
/// is older and would have taken it has got another one before. Finds out which.
bool Online::matchOlder(std::uint32_t key, std::uint32_t comm, std::int32_t source, std::int32_t tag) {
    for (std::size_t i = 0; i < m_openCount && m_open[i].key < key; ++i) {
        const Receive& older = m_open[i];
        if (older.from != kUnknown || older.comm != comm ||
            (older.source != kAnySource && older.source != source) ||
            (older.tag != kAnyTag && older.tag != tag)) {
            continue;
        }
        std::int32_t from = older.source;
        std::int32_t its = older.tag;
        if (from == kAnySource || its == kAnyTag || older.cancelling || older.told) {
            const Answer answer = ask(older, from, its);
            if (answer == Answer::NotTold) {
                giveUp(RaceLimit::Untold);
                return false;
            }
            if (answer == Answer::Withdrawn) {
                m_open[i].from = kWithdrawn;
                continue;
            }
        }
        if (!matchOlder(older.key, comm, from, its) || !match(m_open[i], from, its)) {
            return false;
        }
    }
    return true;
}

/// Receives of any source that would have taken a message which a younger one has got were decided by then.
void Online::decideOlder(std::uint32_t comm, std::int32_t tag, std::uint32_t key, Tick by) {
    for (std::size_t i = 0; i < m_openCount && m_open[i].key < key && on; ++i) {
        Receive& older = m_open[i];
        if (older.source == kAnySource && older.early == 0 && older.comm == comm &&
            (older.tag == kAnyTag || older.tag == tag)) {
            older.early = by;
            addWindow(older, by, older.from == kWithdrawn, true);
        }
    }
}

bool Online::hasOlder(std::uint32_t comm, std::int32_t tag, std::uint32_t key) {
    return std::any_of(m_open.data(), m_open.data() + m_openCount, [&](const Receive& older) {
        return older.key < key && older.source == kAnySource && older.early == 0 && older.comm == comm &&
               (older.tag == kAnyTag || older.tag == tag);
    });
}

void Online::lookAtLate() {
    std::size_t kept = 0;
    std::uint64_t senders = 0; // at most 64
    for (std::size_t i = 0; i < m_lateCount; ++i) {
        const Late one = m_late[i];
        if (hasOlder(one.comm, one.tag, one.key)) {
            m_late[kept++] = one;
        } else {
            slot(one.source, one.slot).state = MessageSlot::State::Complete;
            senders |= std::uint64_t{1} << static_cast<std::uint32_t>(one.source);
        }
    }
    m_lateCount = kept;
    for (std::uint32_t source = 0; source < m_ranks && on; ++source) {
        if ((senders >> source & 1U) != 0) {
            settle(static_cast<std::int32_t>(source), false);
        }
    }
}

void Online::completions(const DetailsView& d, std::uint64_t number) {
    const bool freed = !trace::completesRequests(trace::functionClass(d.function));
    // How all of them have ended: MPI cannot be asked any more, and the younger may stand before the older.
    for (std::uint32_t i = 0; i < d.completionCount; ++i) {
        const std::size_t at = d.completions[i].request.back >= RequestRef::kUnknown
                                   ? m_openCount
                                   : openOf(rank.requests - d.completions[i].request.back);
        if (at != m_openCount) {
            m_open[at].told = true;
            m_open[at].status = d.completions[i].status;
        }
    }
    for (std::uint32_t i = 0; i < d.completionCount && on; ++i) {
        const trace::Completion& done = d.completions[i];
        if (done.request.back >= RequestRef::kUnknown) {
            continue;
        }
        if (done.error != trace::ErrorClass::Success && done.error != trace::ErrorClass::Truncate) {
            giveUp(RaceLimit::Failed);
            return;
        }
        const std::uint32_t serial = rank.requests - done.request.back;
        const std::size_t at = openOf(serial);
        if (at == m_openCount) {
            if (done.status.cancelled) {
                if (!forgetTold(serial)) {
                    giveUp(RaceLimit::Cancelled);
                }
            } else {
                leave(serial);
            }
        } else if (done.status.cancelled) {
            cancelled(at, number, freed);
            if (d.function == trace::FunctionId::Request_get_status) {
                if (m_told.reserve(m_toldCount + 1)) {
                    m_told[m_toldCount++] = serial;
                } else {
                    giveUp(RaceLimit::Memory);
                }
            }
        } else {
            received(at, done.status, number, freed);
        }
    }
}

bool Online::forgetTold(std::uint32_t serial) {
    std::uint32_t* const end = m_told.data() + m_toldCount;
    std::uint32_t* const at = std::find(m_told.data(), end, serial);
    if (at == end) {
        return false;
    }
    *at = m_told[--m_toldCount];
    return true;
}

void Online::received(std::size_t at, const Status& status, std::uint64_t number, bool freed) {
    if (m_open[at].from == kUnknown) {
        const Receive& receive = m_open[at];
        const Comm& comm = m_comms[receive.comm];
        const std::int32_t source =
            receive.source == kAnySource ? worldRank(comm, status.source) : receive.source;
        const std::int32_t tag = receive.tag == kAnyTag ? status.tag : receive.tag;
        if (source < 0 || tag < 0) {
            giveUp(RaceLimit::Untold);
            return;
        }
        if (!matchOlder(receive.key, receive.comm, source, tag) || !match(m_open[at], source, tag)) {
            return;
        }
    }
    const Receive receive = m_open[at];
    remove(at);
    MessageSlot& message = slot(receive.from, receive.slot);
    const Tick known = message.clock[m_rank];
    const Tick decided = freed ? kNever : receive.serial == 0 ? tickOfStart(receive.event) + 1 : tickOfEnd(number);
    if (!freed) {
        joinClock(message.clock);
        decideOlder(receive.comm, message.tag, receive.key, receive.early != 0 ? receive.early : decided);
        endEndless(receive.comm, message.tag, receive.key, decided);
    }
    if (receive.early != 0) {
        completeWindow(receive, false);
    } else if (receive.source == kAnySource) {
        addWindow(receive, decided, false, false);
    }
    if (known > tickOfStart(receive.event)) {
        addShadow({receive.key, known, receive.comm, receive.source, receive.tag});
    }
    if (freed && hasOlder(receive.comm, message.tag, receive.key)) {
        if (m_late.reserve(m_lateCount + 1)) {
            m_late[m_lateCount++] = {receive.key, receive.comm, receive.from, message.tag, receive.slot};
        } else {
            giveUp(RaceLimit::Memory);
        }
        return;
    }
    message.state = MessageSlot::State::Complete;
    if (on) {
        settle(receive.from, false);
    }
}

void Online::cancelled(std::size_t at, std::uint64_t number, bool freed) {
    const Receive receive = m_open[at];
    remove(at);
    const Tick decided = receive.early != 0 ? receive.early : freed ? kNever : tickOfEnd(number);
    if (receive.early != 0) {
        completeWindow(receive, true);
    } else if (receive.source == kAnySource) {
        addWindow(receive, decided, true, false);
    }
    if (decided == kNever) {
        return; // since when it was not open is not known
    }
    addShadow({receive.key, decided - 1, receive.comm, receive.source, receive.tag});
}

/// The end of a probe, or of polls that began as one.
void Online::probed(const DetailsView& d, std::uint64_t number) {
    const bool said = d.recvPeer != kNoPeer; // the end says itself what was asked for
    const CommIndex index = d.comm != kNoComm ? d.comm : m_poll.comm;
    const std::int32_t asked = said ? d.recvPeer : m_poll.source;
    const std::int32_t askedTag = said ? d.recvTag : m_poll.tag;
    const Comm* comm = commOf(index);
    if (!m_poll.on || comm == nullptr || d.error != trace::ErrorClass::Success) {
        return;
    }
    const Tick decided = tickOfEnd(number);
    const std::uint32_t key = m_posted * 2 + 1; // before the receive that is posted next
    if (!d.flag) {
        if (m_poll.probes && m_poll.source == kAnySource) {
            addWindow(index.value(), m_poll.tag,
                      {key, decided, 0, m_poll.event, kNoSlot, -1, 0, true, false, false, false});
        }
        return;
    }
    const std::int32_t source =
        worldRank(*comm, d.status.source != kNoPeer ? d.status.source : m_poll.source);
    const std::int32_t tag = d.status.tag != kNoTag ? d.status.tag : askedTag;
    if (source < 0 || tag < 0) {
        return;
    }
    const CallClass callClass = trace::functionClass(d.function);
    const bool takes = callClass == CallClass::Mprobe || callClass == CallClass::Improbe;
    if (!matchOlder(key, index.value(), source, tag)) {
        return;
    }
    const std::uint64_t seen = waiting(source, comm->id, tag);
    if (seen == kNoSlot) {
        giveUp(RaceLimit::Untold);
        return;
    }
    MessageSlot& message = slot(source, seen);
    joinClock(message.clock);
    decideOlder(index.value(), tag, key, decided);
    endEndless(index.value(), tag, key, decided);
    if (!takes) {
        if (asked == kAnySource) {
            addWindow(index.value(), askedTag == kAnyTag ? kAnyTag : tag,
                      {key, decided, 0, m_poll.event, seen, source, 0, false, false, false, false});
        }
        return;
    }
    const std::uint32_t taken = m_posted * 2 + 2;
    ++m_posted;
    if (asked == kAnySource) {
        addWindow(index.value(), askedTag,
                  {taken, decided, 0, m_poll.event, kNoSlot, -1, 0, false, false, false, false});
    }
    const Tick known = message.clock[m_rank];
    if (known > tickOfStart(m_poll.event)) {
        addShadow({taken, known, index.value(), asked == kAnySource ? kAnySource : source, askedTag});
    }
    message.key = taken;
    message.state = MessageSlot::State::Complete;
    if (on) {
        settle(source, false);
    }
}

/// Before the last look: receives that the program has not completed have got what is theirs for certain.
void Online::takeLast() {
    for (std::size_t i = 0; i < m_openCount; ++i) {
        Receive& receive = m_open[i];
        if (receive.from == kUnknown && receive.source != kAnySource && receive.tag != kAnyTag) {
            const std::uint64_t number = waiting(receive.source, m_comms[receive.comm].id, receive.tag);
            if (number != kNoSlot) {
                slot(receive.source, number).key = receive.key;
                slot(receive.source, number).state = MessageSlot::State::Matched;
            }
        }
    }
}

} // namespace stopline::preload
