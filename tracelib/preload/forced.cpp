#include "forced.h"

#include "wrappers.h"

#include <climits>
#include <sched.h>

namespace stopline::preload {

using trace::OrderKind;
using trace::OrderReader;
using trace::PollOutcome;

constinit Forced forced{};

namespace {

/// What nothing is received into, and nothing sent from.
char nothing;

} // namespace

void Forced::follow(const std::byte* bytes, std::size_t size) {
    m_log = OrderReader(bytes, size);
    if (m_log.kind() == OrderKind::Controls) {
        OrderReader entry = m_log;
        m_log.skip();
        controlMessages.follow(entry.controls());
    }
    m_next = m_log.event();
    on = true;
}

void Forced::stop() {
    on = false;
    poll.on = false;
}

bool Forced::left() const {
    return rank.header->orderLeft.load(std::memory_order_relaxed) != 0 || severalThreads();
}

bool Patience::again() {
    // In short waits the processor is not given away: the messages of a replay come as fast as they did.
    constexpr unsigned kEager = 64;
    if (++m_rounds > kEager) {
        sched_yield();
    }
    return !forced.left();
}

OrderReader Forced::take(std::uint64_t event) {
    if (left()) {
        stop();
        return {};
    }
    while (m_log.event() < event) { // the program went another way: whoever compares will say so
        m_log.skip();
    }
    OrderReader entry;
    if (m_log.event() == event) {
        entry = m_log;
        m_log.skip();
    }
    m_next = m_log.event();
    return entry;
}

bool Forced::source(std::uint64_t event, int* place, MPI_Comm* comm, MPI_Comm* out) {
    OrderReader entry = take(event);
    if (entry.kind() == OrderKind::Marked) {
        marked.put(entry, place, out, comm);
        return true;
    }
    if (entry.kind() != OrderKind::Source || *place != MPI_ANY_SOURCE) {
        return false;
    }
    *place = static_cast<int>(entry.number());
    return true;
}

/// Takes a receive back; false: it has got its message meanwhile, and ended with `code`.
bool Forced::undo(MPI_Request* request, MPI_Status* status, int* code) {
    real.Cancel(request);
    *code = real.Wait(request, status);
    return *code == MPI_SUCCESS && statusCancelled(*status);
}

int Forced::receive(const Args& a, MPI_Status* status) {
    MPI_Request request = predefined.requestNull;
    int code = real.Irecv(const_cast<void*>(a.buf), static_cast<int>(a.count), a.datatype, *a.sourcePlace, a.tag, *a.commPlace, &request);
    int flag = 0;
    if (code == MPI_SUCCESS) {
        code = untilYes([&] { return real.Test(&request, &flag, status); }, &flag);
    }
    if (code != MPI_SUCCESS || flag != 0 || !undo(&request, status, &code)) {
        return toldOfTwin(a.comm, a.commPlace, code);
    }
    return real.Recv(const_cast<void*>(a.buf), static_cast<int>(a.count), a.datatype, a.source, a.tag, a.comm, status);
}

int Forced::exchange(const Args& a, MPI_Comm out, MPI_Status* status) {
    const MPI_Comm in = *a.commPlace;
    MPI_Request requests[2] = {predefined.requestNull, predefined.requestNull};
    int code = real.Irecv(const_cast<void*>(a.recvbuf), static_cast<int>(a.recvcount), a.recvtype, *a.sourcePlace, a.recvtag, in,
                          &requests[0]);
    if (code != MPI_SUCCESS) {
        return toldOfTwin(a.comm, &in, code);
    }
    MPI_Status ignored;
    code = real.Isend(a.sendbuf, static_cast<int>(a.sendcount), a.sendtype, a.dest, a.sendtag, out, &requests[1]);
    if (code != MPI_SUCCESS) { // as the call itself would have: its receive goes with it
        int unused = 0;
        undo(&requests[0], &ignored, &unused);
        return toldOfTwin(a.comm, &out, code);
    }
    int flag = 0;
    code = untilYes([&] { return real.Test(&requests[0], &flag, status); }, &flag);
    if (code == MPI_SUCCESS && flag == 0 && undo(&requests[0], status, &code)) {
        code = real.Recv(const_cast<void*>(a.recvbuf), static_cast<int>(a.recvcount), a.recvtype, a.source, a.recvtag, a.comm, status);
    } else {
        toldOfTwin(a.comm, &in, code);
    }
    const int sending = toldOfTwin(a.comm, &out, real.Wait(&requests[1], &ignored));
    return code != MPI_SUCCESS ? code : sending;
}

void Forced::send(std::uint64_t event, MPI_Comm* comm) {
    OrderReader entry = take(event);
    if (entry.kind() == OrderKind::Marked) {
        marked.put(entry, nullptr, comm, nullptr);
    }
}

bool Forced::makesTwin(std::uint64_t event) {
    return take(event).kind() == OrderKind::Twin;
}

int Forced::withhold(MPI_Request* request) {
    // The same that makes progress: nobody sends it.
    return real.Irecv(&nothing, 0, predefined.byte, 0, rank.tagUpperBound, predefined.self, request);
}

bool Forced::post(std::uint64_t event, int* place, MPI_Request* request, MPI_Comm* comm) {
    OrderReader entry = take(event);
    if (entry.kind() == OrderKind::Marked && comm != nullptr) {
        marked.put(entry, place, place == nullptr ? comm : nullptr, place != nullptr ? comm : nullptr);
        return false;
    }
    if (entry.kind() == OrderKind::Withheld) {
        return withhold(request) == MPI_SUCCESS;
    }
    if (entry.kind() == OrderKind::Source && place != nullptr && *place == MPI_ANY_SOURCE) {
        *place = static_cast<int>(entry.number());
    }
    return false;
}

std::optional<int> Forced::wait(std::uint64_t event, Shape shape, const Args& a, MPI_Status* statuses, const trace::RequestRef* refs) {
    OrderReader entry = take(event);
    if (entry.kind() != OrderKind::Completed) {
        return std::nullopt;
    }
    return completeThese(entry, shape, a, statuses, refs);
}

/// Of a list that fails these are complete, and the others go on. Where none of them fails it is another list than the recorded
/// one, and all of it is waited for: what is complete by then cannot be asked for its status again.
int Forced::completePart(OrderReader& entry, std::uint64_t count, const Args& a, MPI_Status* statuses, const trace::RequestRef* refs) {
    for (MPI_Count i = 0; i < a.count; ++i) {
        MPI_Request none = predefined.requestNull;
        real.Wait(&none, &statuses[i]); // the empty status
        statuses[i].MPI_ERROR = refs[i] == trace::RequestRef{trace::RequestRef::kNull} ? MPI_SUCCESS : MPI_ERR_PENDING;
    }
    bool failed = false;
    const auto complete = [&](std::uint64_t at) { // false: let go of
        int flag = 0;
        const int code = untilYes([&] { return real.Test(&a.requests[at], &flag, &statuses[at]); }, &flag);
        const bool open = code == MPI_SUCCESS && flag == 0;
        statuses[at].MPI_ERROR = open ? MPI_ERR_PENDING : code;
        failed = failed || statuses[at].MPI_ERROR != MPI_SUCCESS;
        return !open;
    };
    for (std::uint64_t i = 0; i < count; ++i) {
        if (!complete(entry.number())) {
            break;
        }
    }
    for (MPI_Count i = 0; !failed && i < a.count; ++i) {
        if (statuses[i].MPI_ERROR == MPI_ERR_PENDING) {
            complete(static_cast<std::uint64_t>(i));
        }
    }
    return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

std::optional<int> Forced::completeThese(OrderReader& entry, Shape shape, const Args& a, MPI_Status* statuses,
                                         const trace::RequestRef* refs) {
    const std::uint64_t count = entry.number();
    const auto all = static_cast<std::uint64_t>(a.count > 0 ? a.count : 0);
    if (count == 0 || count > all || (shape == Shape::Any && count != 1)) {
        return std::nullopt; // another list than the recorded one
    }
    OrderReader check = entry;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t at = check.number();
        if (at >= all || a.requests[at] == predefined.requestNull) {
            return std::nullopt;
        }
    }
    if (shape == Shape::All) {
        return completePart(entry, count, a, statuses, refs);
    }
    // Each is waited for by asking, so that the debugger can let go of those that cannot come: then what has come is the
    // answer, or MPI decides.
    if (shape == Shape::Any) {
        const auto at = static_cast<int>(entry.number());
        int flag = 0;
        const int code = untilYes([&] { return real.Test(&a.requests[at], &flag, statuses); }, &flag);
        if (code == MPI_SUCCESS && flag == 0) {
            return std::nullopt;
        }
        *a.index = at;
        return code;
    }
    bool failed = false;
    std::uint64_t done = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto at = static_cast<int>(entry.number());
        int flag = 0;
        const int code = untilYes([&] { return real.Test(&a.requests[at], &flag, &statuses[i]); }, &flag);
        if (code == MPI_SUCCESS && flag == 0) {
            break;
        }
        ++done;
        a.indices[i] = at;
        if (code != MPI_SUCCESS || failed) {
            for (std::uint64_t k = 0; !failed && k < i; ++k) {
                statuses[k].MPI_ERROR = MPI_SUCCESS;
            }
            statuses[i].MPI_ERROR = code;
            failed = true;
        }
    }
    if (done == 0) {
        return std::nullopt;
    }
    *a.outcount = static_cast<int>(done);
    return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

std::optional<int> Forced::start(std::uint64_t event, const Args& a) {
    OrderReader entry = take(event);
    if (entry.kind() != OrderKind::Starts) {
        return std::nullopt;
    }
    MPI_Request* requests = a.requests != nullptr ? a.requests : a.request;
    const std::uint64_t count = a.requests != nullptr ? static_cast<std::uint64_t>(a.count > 0 ? a.count : 0) : 1;
    std::uint64_t left = entry.number();
    std::uint64_t special = left > 0 ? entry.number() : count;
    int result = MPI_SUCCESS;
    for (std::uint64_t i = 0; i < count; ++i) {
        int code = MPI_SUCCESS;
        const std::optional<Receive> receive = copyOf(requests[i]);
        const bool ours = i == special;
        const std::uint64_t source = ours ? entry.number() : 0;
        if (ours) {
            special = --left > 0 ? entry.number() : count;
        }
        if (!ours || !receive || receive->shadow != predefined.requestNull) {
            code = real.Start(&requests[i]);
            if (receive) {
                renamed(receive->handle, requests[i]);
            }
        } else {
            MPI_Request shadow = predefined.requestNull;
            code = source == 0 ? withhold(&shadow)
                               : real.Irecv(receive->buffer, receive->count, receive->datatype,
                                            static_cast<int>(source - 1), receive->tag, receive->comm, &shadow);
            shadowIs(requests[i], shadow);
        }
        result = result == MPI_SUCCESS ? code : result;
    }
    return result;
}

bool Forced::keeps(std::uint64_t event) {
    return take(event).kind() == OrderKind::Kept;
}

void Forced::await(std::uint64_t event) {
    if (m_log.event() != event || m_log.kind() != OrderKind::Awaited) {
        return; // of a begin: whoever does the call reads it
    }
    OrderReader entry = take(event);
    if (entry.kind() != OrderKind::Awaited) {
        return;
    }
    const auto serial = static_cast<std::uint32_t>(entry.number());
    const Asking asking;
    for (Patience patience; !isComplete(serial) && patience.again();) {
    }
}

/// Or there is none. Of a receive that has been freed only what has not been told of is one.
bool Forced::isComplete(std::uint32_t serial) {
    MPI_Request handle = kNoRequest;
    {
        const RankLock lock;
        if (rank.freed.find(serial) != nullptr) {
            rank.freed.poll();
            return rank.freed.find(serial)->handle == kNoRequest;
        }
        handle = rank.requestTable.handleOf(serial);
    }
    if (handle == kNoRequest) {
        return true;
    }
    const MPI_Request shadow = shadowOf(handle);
    int flag = 0;
    MPI_Status status;
    return real.Request_get_status(shadow != predefined.requestNull ? shadow : handle, &flag, &status) != MPI_SUCCESS || flag != 0;
}

void Forced::beginPoll(std::uint64_t event) {
    OrderReader entry = take(event);
    if (entry.kind() != OrderKind::Poll) {
        return;
    }
    poll.failures = entry.number();
    poll.outcome = static_cast<PollOutcome>(entry.number());
    poll.entry = entry;
    poll.on = true;
}

PollAnswer Forced::pollAnswer() {
    if (left()) {
        stop();
        return PollAnswer::Real;
    }
    if (poll.failures > 0) {
        --poll.failures;
        return PollAnswer::No;
    }
    poll.on = false;
    return poll.outcome == PollOutcome::Broken || poll.outcome == PollOutcome::Open ? PollAnswer::Real : PollAnswer::Yes;
}

int Forced::probed(int asked, MPI_Comm* comm) {
    const bool twin = poll.outcome == PollOutcome::Marked;
    if (twin) {
        marked.onTwin(comm);
    }
    return (twin || poll.outcome == PollOutcome::Source) && asked == MPI_ANY_SOURCE ? static_cast<int>(poll.entry.number())
                                                                          : asked;
}

std::optional<int> Forced::deliver(Shape shape, const Args& a, MPI_Status* statuses, const trace::RequestRef* refs) {
    return poll.outcome == PollOutcome::Completed ? completeThese(poll.entry, shape, a, statuses, refs) : std::nullopt;
}

} // namespace stopline::preload
