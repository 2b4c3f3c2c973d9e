#include "history_tracker.h"

#include "details_scan.h"
#include "history_calls.h"

#include <limits>

namespace stopline::trace {

std::size_t packedStartBytes(const HistoryStart& start) {
    return offsetof(HistoryStart, calls) + start.callCount * sizeof(StartCall) +
           start.requestCount * sizeof(StartRequest) + start.countCount * sizeof(StartCount);
}

void packStart(const HistoryStart& start, std::byte* out) {
    const auto put = [&out](const void* from, std::size_t bytes) {
        std::memcpy(out, from, bytes);
        out += bytes;
    };
    put(&start, offsetof(HistoryStart, calls));
    put(start.calls, start.callCount * sizeof(StartCall));
    put(start.open, start.requestCount * sizeof(StartRequest));
    put(start.counts, start.countCount * sizeof(StartCount));
}

bool unpackStart(std::span<const std::byte> bytes, HistoryStart& start) {
    if (bytes.size() < offsetof(HistoryStart, calls)) {
        return false;
    }
    std::memcpy(&start, bytes.data(), offsetof(HistoryStart, calls));
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / 4;
    if (start.callCount > HistoryStart::kMaxCalls || start.requestCount > HistoryStart::kMaxRequests ||
        start.countCount > HistoryStart::kMaxCounts || start.firstEvent > kMost || start.requests > kMost ||
        start.messages > kMost || bytes.size() != packedStartBytes(start)) {
        return false;
    }
    const std::byte* from = bytes.data() + offsetof(HistoryStart, calls);
    const auto take = [&from](void* to, std::size_t size) {
        std::memcpy(to, from, size);
        from += size;
    };
    take(start.calls, start.callCount * sizeof(StartCall));
    take(start.open, start.requestCount * sizeof(StartRequest));
    take(start.counts, start.countCount * sizeof(StartCount));
    for (std::uint32_t i = 0; i < start.countCount; ++i) {
        if (start.counts[i].count > kMost || start.counts[i].what > Counted::Seen) {
            return false;
        }
    }
    return true;
}

struct HistoryTracker::Operands {
    HistoryTracker& tracker;
    void (HistoryTracker::*take)(RequestRef);
    void request(RequestRef ref) { (tracker.*take)(ref); }
    void completion(const Completion&) {}
    void peer(std::int32_t) {}
};

void HistoryTracker::open(const std::byte* dictionary, HistoryMemory* memory) {
    m_dictionary = dictionary;
    m_memory = memory;
    HistoryStart& start = memory->start;
    std::memset(memory->cells, 0, sizeof memory->cells);
    for (std::uint32_t i = 0; i < start.countCount; ++i) {
        const StartCount& c = start.counts[i];
        std::uint32_t cell = (c.comm * 0x9e3779b1U ^ static_cast<std::uint32_t>(c.peer) * 0x85ebca6bU ^
                              static_cast<std::uint32_t>(c.tag) * 0xc2b2ae35U ^ static_cast<std::uint32_t>(c.what)) %
                             HistoryMemory::kCells;
        while (memory->cells[cell] != 0) {
            cell = (cell + 1) % HistoryMemory::kCells;
        }
        memory->cells[cell] = i + 1;
    }
    memory->openSignature = 0;
}

/// Index of a count plus one; 0 when there is no room for it.
std::uint32_t HistoryTracker::countOf(Counted what, std::uint32_t comm, std::int32_t peer, std::int32_t tag) {
    HistoryStart& start = m_memory->start;
    std::uint32_t cell = (comm * 0x9e3779b1U ^ static_cast<std::uint32_t>(peer) * 0x85ebca6bU ^
                          static_cast<std::uint32_t>(tag) * 0xc2b2ae35U ^ static_cast<std::uint32_t>(what)) %
                         HistoryMemory::kCells;
    for (; m_memory->cells[cell] != 0; cell = (cell + 1) % HistoryMemory::kCells) {
        const std::uint32_t index = m_memory->cells[cell];
        const StartCount& c = start.counts[index - 1];
        if (c.comm == comm && c.peer == peer && c.tag == tag && c.what == what) {
            return index;
        }
    }
    if (start.countCount == HistoryStart::kMaxCounts) {
        start.incomplete = 1;
        return 0;
    }
    start.counts[start.countCount++] = {0, what, comm, peer, tag};
    m_memory->cells[cell] = start.countCount;
    return start.countCount;
}

void HistoryTracker::count(Counted what, std::uint32_t comm, std::int32_t peer, std::int32_t tag, std::int64_t by) {
    if (const std::uint32_t index = countOf(what, comm, peer, tag); index != 0) {
        std::uint64_t& known = m_memory->start.counts[index - 1].count;
        known = by < 0 && known == 0 ? 0 : known + static_cast<std::uint64_t>(by);
    }
}

void HistoryTracker::addRequest(const StartRequest& request) {
    HistoryStart& start = m_memory->start;
    if (start.requestCount == HistoryStart::kMaxRequests) {
        start.incomplete = 1;
        return;
    }
    start.open[start.requestCount++] = request;
}

StartRequest* HistoryTracker::requestOf(RequestRef ref) {
    HistoryStart& start = m_memory->start;
    if (ref.back >= RequestRef::kUnknown || ref.back >= start.requests) {
        return nullptr;
    }
    const std::uint64_t serial = start.requests - ref.back;
    for (std::uint32_t i = start.requestCount; i > 0; --i) {
        if (start.open[i - 1].serial == serial) {
            return &start.open[i - 1];
        }
    }
    return nullptr;
}

void HistoryTracker::forget(StartRequest* request) {
    *request = m_memory->start.open[--m_memory->start.requestCount];
}

void HistoryTracker::completed(const Completion& completion) {
    StartRequest* request = requestOf(completion.request);
    const Status& status = completion.status;
    if (request == nullptr || request->active == 0) {
        // Sends are not remembered: which of them was cancelled is not known.
        m_memory->start.incomplete |= request == nullptr && status.cancelled ? 1U : 0U;
        return;
    }
    const CallClass c = functionClass(static_cast<FunctionId>(request->function));
    if (c == CallClass::SendInit) {
        if (status.cancelled && request->peer >= 0) {
            count(Counted::Send, request->comm, request->peer, request->tag, -1);
        }
    } else if (c != CallClass::CollectiveInit && c != CallClass::NeighborInit) {
        if (!isWildcard(request->peer, request->tag)) {
            if (status.cancelled && request->peer >= 0) {
                count(Counted::Receive, request->comm, request->peer, request->tag, -1);
            }
        } else if (!status.cancelled) {
            const std::int32_t from = request->peer == kAnySource ? status.source : request->peer;
            const std::int32_t tag = request->tag == kAnyTag ? status.tag : request->tag;
            if (from >= 0 && tag >= 0) {
                count(Counted::Receive, request->comm, from, tag);
            }
        }
    }
    if (!isPersistent(c) || request->freed != 0) {
        forget(request);
    } else {
        request->active = 0;
    }
}

void HistoryTracker::started(RequestRef ref) {
    StartRequest* request = requestOf(ref);
    if (request == nullptr) {
        return;
    }
    request->active = 1;
    switch (functionClass(static_cast<FunctionId>(request->function))) {
    case CallClass::SendInit:
        if (request->peer >= 0) {
            count(Counted::Send, request->comm, request->peer, request->tag);
        }
        break;
    case CallClass::RecvInit:
        if (request->peer >= 0 && !isWildcard(request->peer, request->tag)) {
            count(Counted::Receive, request->comm, request->peer, request->tag);
        }
        break;
    case CallClass::CollectiveInit:
    case CallClass::NeighborInit:
        count(Counted::Collective, request->comm, kNoPeer, kNoTag);
        break;
    default:
        break;
    }
}

void HistoryTracker::freed(RequestRef ref) {
    StartRequest* request = requestOf(ref);
    if (request == nullptr || !isPersistent(functionClass(static_cast<FunctionId>(request->function)))) {
        return; // followed to its completion
    }
    if (request->active == 0) {
        forget(request);
    } else {
        request->freed = 1;
    }
}

void HistoryTracker::begin(const DetailsView& d, std::span<const std::byte> bytes) {
    HistoryStart& start = m_memory->start;
    const CallClass c = functionClass(d.function);
    const std::uint32_t comm = d.comm.value();
    start.requests += createsRequest(c) ? 1 : 0;
    if (sends(c) && d.sendPeer >= 0) {
        count(Counted::Send, comm, d.sendPeer, d.sendTag);
    }
    if (receives(c) && d.recvPeer >= 0 && !isWildcard(d.recvPeer, d.recvTag)) {
        count(Counted::Receive, comm, d.recvPeer, d.recvTag);
    }
    StartRequest made{start.requests, 0, comm, d.root, kNoTag, static_cast<std::uint16_t>(d.function), 0, 0};
    switch (c) {
    case CallClass::SendInit:
        made.bytes = d.sendBytes;
        made.peer = d.sendPeer;
        made.tag = d.sendTag;
        addRequest(made);
        break;
    case CallClass::Irecv:
    case CallClass::Isendrecv:
    case CallClass::RecvInit:
        made.bytes = d.recvBytes;
        made.peer = d.recvPeer;
        made.tag = d.recvTag;
        made.active = c == CallClass::RecvInit ? 0 : 1;
        addRequest(made);
        break;
    case CallClass::CollectiveInit:
    case CallClass::NeighborInit:
        addRequest(made);
        break;
    case CallClass::Start:
    case CallClass::RequestFree: {
        ByteReader in(bytes);
        DetailsView again;
        (void)scanDetails(in, again,
                          Operands{*this, c == CallClass::Start ? &HistoryTracker::started : &HistoryTracker::freed});
        break;
    }
    case CallClass::Init:
        count(Counted::Init, 0, kNoPeer, kNoTag);
        break;
    case CallClass::Finalize:
        count(Counted::Finalize, 0, kNoPeer, kNoTag);
        break;
    default:
        if (isCollective(c) && !isGroupConstructor(d.function)) {
            count(Counted::Collective, comm, kNoPeer, kNoTag);
        } else if (isGroupEpoch(d.function)) {
            count(Counted::Epoch, comm, kNoPeer, kNoTag);
        }
        break;
    }
}

void HistoryTracker::end(const StartCall& call, const DetailsView& d, std::span<const std::byte> bytes) {
    HistoryStart& start = m_memory->start;
    struct Completions {
        HistoryTracker& tracker;
        void request(RequestRef) {}
        void completion(const Completion& c) { tracker.completed(c); }
        void peer(std::int32_t) {}
    };
    ByteReader in(bytes);
    DetailsView again;
    (void)scanDetails(in, again, Completions{*this});
    if (d.newComm != kNoComm && d.newComm.value() + 1 > start.comms) {
        start.comms = d.newComm.value() + 1;
    }
    const auto function = static_cast<FunctionId>(call.function);
    CallClass c = functionClass(function);
    if (isPoll(c) && isPoll(functionClass(d.function))) {
        c = functionClass(d.function);
    }
    if (isRefusal(d.error) && !isGroupConstructor(function)) {
        if (sends(c) && call.sendPeer >= 0) {
            count(Counted::Send, call.comm, call.sendPeer, call.sendTag, -1);
        }
        if (receives(c) && call.recvPeer >= 0 && !isWildcard(call.recvPeer, call.recvTag)) {
            count(Counted::Receive, call.comm, call.recvPeer, call.recvTag, -1);
        }
        if (isCollective(c)) {
            count(Counted::Collective, call.comm, kNoPeer, kNoTag, -1);
        }
        if (StartRequest* made = createsRequest(c) ? requestOf({0}) : nullptr) {
            forget(made);
        }
        start.incomplete |= c == CallClass::Start ? 1U : 0U; // which of them had been started is not known
        return;
    }
    if ((c == CallClass::Recv || c == CallClass::Sendrecv) && isWildcard(call.recvPeer, call.recvTag)) {
        const std::int32_t from = call.recvPeer == kAnySource ? d.status.source : call.recvPeer;
        const std::int32_t tag = call.recvTag == kAnyTag ? d.status.tag : call.recvTag;
        if (from >= 0 && tag >= 0) {
            count(Counted::Receive, call.comm, from, tag);
        }
    } else if ((takesMessage(c) || c == CallClass::Probe || c == CallClass::Iprobe) && d.flag &&
               d.error == ErrorClass::Success) {
        const std::int32_t from = d.status.source != kNoPeer ? d.status.source : call.recvPeer;
        const std::int32_t tag = d.status.tag != kNoTag ? d.status.tag : call.recvTag;
        const std::uint32_t comm = d.comm != kNoComm ? d.comm.value() : call.comm;
        start.messages += takesMessage(c) && from >= 0 ? 1 : 0;
        if (from >= 0 && tag >= 0 && takesMessage(c)) {
            count(Counted::Receive, comm, from, tag);
        } else if (from >= 0 && tag >= 0) {
            const std::uint32_t received = countOf(Counted::Receive, comm, from, tag);
            const std::uint32_t seen = countOf(Counted::Seen, comm, from, tag);
            if (received != 0 && seen != 0) {
                start.counts[seen - 1].count = start.counts[received - 1].count + 1;
            }
        }
    }
}

void HistoryTracker::event(const DetailsView& d, std::span<const std::byte> bytes) {
    HistoryStart& start = m_memory->start;
    std::uint32_t at = 0;
    while (at < start.callCount && start.calls[at].thread != d.thread) {
        ++at;
    }
    if (d.kind == EventKind::Begin) {
        begin(d, bytes);
        if (at == HistoryStart::kMaxCalls) {
            start.incomplete = 1;
            return;
        }
        start.calls[at] = callOf(d);
        start.callCount += at == start.callCount ? 1 : 0;
        return;
    }
    if (at < start.callCount) {
        const StartCall call = start.calls[at];
        start.calls[at] = start.calls[--start.callCount];
        end(call, d, bytes);
    }
}

} // namespace stopline::trace
