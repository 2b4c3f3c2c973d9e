// Writes traces call by call, as a rank of a program would make them.
#pragma once

#include "trace.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace stopline::replay::test {

using trace::CommInfo;
using trace::EventDetails;
using trace::EventKind;
using trace::FunctionId;
using trace::RequestRef;
using trace::Status;

inline constexpr CommIndex kWorld{0};

/// What a receive or probe got.
struct Got {
    std::int32_t source = kNoPeer;
    std::int32_t tag = kNoTag;
};

/// Serial of a request of one rank.
using Serial = std::uint32_t;

/// The program of one rank. Each function writes one call; the number of a call counts from 0 in the order
/// written.
class RankScript {
  public:
    RankScript(Trace& trace, std::int32_t rank) : m_trace(&trace), m_rank(rank) {}

    void init() { call(FunctionId::Init); }
    void finalize() { call(FunctionId::Finalize); }
    void send(std::int32_t to, std::int32_t tag = 0, std::uint64_t bytes = 8, CommIndex comm = kWorld,
              FunctionId function = FunctionId::Send) {
        both(sendArguments(function, to, tag, bytes, comm));
    }
    void recv(std::int32_t from, std::int32_t tag = 0, Got got = {}, CommIndex comm = kWorld) {
        const EventDetails begin = recvArguments(FunctionId::Recv, from, tag, comm);
        both(begin, received(begin, got));
    }
    void sendrecv(std::int32_t to, std::int32_t from, std::int32_t tag = 0, std::uint64_t bytes = 8) {
        EventDetails begin = sendArguments(FunctionId::Sendrecv, to, tag, bytes, kWorld);
        begin.recvPeer = from;
        begin.recvTag = tag;
        both(begin, received(begin, {}));
    }
    Serial isend(std::int32_t to, std::int32_t tag = 0, std::uint64_t bytes = 8, CommIndex comm = kWorld,
                 FunctionId function = FunctionId::Isend) {
        ++m_created;
        both(sendArguments(function, to, tag, bytes, comm));
        return m_created;
    }
    Serial irecv(std::int32_t from, std::int32_t tag = 0, CommIndex comm = kWorld) {
        ++m_created;
        both(recvArguments(FunctionId::Irecv, from, tag, comm));
        return m_created;
    }
    Serial isendrecv(std::int32_t to, std::int32_t from, std::int32_t tag = 0) {
        ++m_created;
        EventDetails begin = sendArguments(FunctionId::Isendrecv, to, tag, 8, kWorld);
        begin.recvPeer = from;
        begin.recvTag = tag;
        both(begin);
        return m_created;
    }
    Serial sendInit(std::int32_t to, std::int32_t tag = 0, std::uint64_t bytes = 8) {
        return isend(to, tag, bytes, kWorld, FunctionId::Send_init);
    }
    Serial recvInit(std::int32_t from, std::int32_t tag = 0) {
        ++m_created;
        both(recvArguments(FunctionId::Recv_init, from, tag, kWorld));
        return m_created;
    }
    void start(std::initializer_list<Serial> requests) {
        both(requestArguments(FunctionId::Startall, requests));
    }
    void requestFree(Serial request) { both(requestArguments(FunctionId::Request_free, {request})); }
    /// The end that was written last also tells that a receive is complete whose request was freed.
    void tell(Serial request, Got got = {}) {
        trace::Completion completion;
        completion.request = ref(request);
        completion.status.source = got.source;
        completion.status.tag = got.tag;
        ranked().events.back().details.completions.push_back(completion);
    }
    void cancel(Serial request) { both(requestArguments(FunctionId::Cancel, {request})); }
    /// `completed` with what each got; empty statuses are those of sends and of receives without wildcard.
    struct Completed {
        Serial request;
        Got got = {};
        bool cancelled = false;
    };
    void wait(FunctionId function, std::initializer_list<Serial> requests,
              std::initializer_list<Completed> completed, bool flag = true, std::uint64_t failures = 0,
              trace::ErrorClass error = trace::ErrorClass::Success) {
        EventDetails end;
        end.error = error;
        for (const Completed& c : completed) {
            trace::Completion completion;
            completion.request = ref(c.request);
            completion.index = static_cast<std::uint32_t>(std::find(requests.begin(), requests.end(), c.request) - requests.begin());
            completion.status.source = c.got.source;
            completion.status.tag = c.got.tag;
            completion.status.cancelled = c.cancelled;
            end.completions.push_back(completion);
        }
        end.flag = flag;
        both(requestArguments(function, requests), end, failures);
    }
    void wait(Serial request, Got got = {}) { wait(FunctionId::Wait, {request}, {{request, got}}); }
    void waitCancelled(Serial request) { wait(FunctionId::Wait, {request}, {{request, {}, true}}); }
    void probe(FunctionId function, std::int32_t from, std::int32_t tag, Got got, bool flag = true,
               std::uint64_t failures = 0) {
        const EventDetails begin = recvArguments(function, from, tag, kWorld);
        EventDetails end = received(begin, got);
        end.flag = flag;
        both(begin, end, failures);
    }
    void mrecv(Got got) {
        EventDetails begin;
        begin.function = FunctionId::Mrecv;
        begin.comm = kWorld;
        both(begin, received(begin, got));
    }
    Serial imrecv() {
        ++m_created;
        EventDetails begin;
        begin.function = FunctionId::Imrecv;
        begin.comm = kWorld;
        both(begin);
        return m_created;
    }
    void collective(FunctionId function, std::int32_t root = kNoPeer, CommIndex comm = kWorld,
                    std::uint64_t bytes = 8) {
        both(collectiveArguments(function, root, comm, bytes));
    }
    Serial icollective(FunctionId function, std::int32_t root = kNoPeer, CommIndex comm = kWorld) {
        ++m_created;
        both(collectiveArguments(function, root, comm, 8));
        return m_created;
    }
    /// A constructor; the new communicator gets the next index of this rank.
    CommIndex construct(FunctionId function, CommInfo info, CommIndex comm = kWorld) {
        RankTrace& rank = ranked();
        rank.comms.push_back(std::move(info));
        const CommIndex index{static_cast<std::uint32_t>(rank.comms.size() - 1)};
        EventDetails end;
        end.newComm = index;
        both(collectiveArguments(function, kNoPeer, comm, 0), end);
        return index;
    }
    /// Any call without arguments.
    void call(FunctionId function) {
        EventDetails begin;
        begin.function = function;
        both(begin);
    }
    /// Removes the end of the last call: the rank is inside it.
    void unfinished() { ranked().events.pop_back(); }
    void both(EventDetails begin, EventDetails end = {}, std::uint64_t failures = 0) {
        begin.kind = EventKind::Begin;
        end.kind = EventKind::End;
        if (end.function == FunctionId::Init) {
            end.function = begin.function;
        }
        m_time += 100;
        ranked().events.push_back({std::move(begin), m_time, 0});
        m_time += 100;
        ranked().events.push_back({std::move(end), m_time, failures});
    }
    void sleep(TimeNs time) { m_time += time; }
    [[nodiscard]] RequestRef ref(Serial serial) const { return {m_created - serial}; }

  private:
    RankTrace& ranked() { return m_trace->ranks[static_cast<std::size_t>(m_rank)]; }
    static EventDetails sendArguments(FunctionId function, std::int32_t to, std::int32_t tag,
                                      std::uint64_t bytes, CommIndex comm) {
        EventDetails d;
        d.function = function;
        d.comm = comm;
        d.sendPeer = to;
        d.sendTag = tag;
        d.sendBytes = bytes;
        return d;
    }
    static EventDetails recvArguments(FunctionId function, std::int32_t from, std::int32_t tag,
                                      CommIndex comm) {
        EventDetails d;
        d.function = function;
        d.comm = comm;
        d.recvPeer = from;
        d.recvTag = tag;
        d.recvBytes = 64;
        return d;
    }
    static EventDetails collectiveArguments(FunctionId function, std::int32_t root, CommIndex comm,
                                            std::uint64_t bytes) {
        EventDetails d;
        d.function = function;
        d.comm = comm;
        d.root = root;
        d.sendBytes = bytes;
        return d;
    }
    EventDetails requestArguments(FunctionId function, std::initializer_list<Serial> requests) const {
        EventDetails d;
        d.function = function;
        for (const Serial request : requests) {
            d.requests.push_back(ref(request));
        }
        return d;
    }
    static EventDetails received(const EventDetails& begin, Got got) {
        EventDetails end;
        end.status.source = got.source != kNoPeer ? got.source : begin.recvPeer;
        end.status.tag = got.tag != kNoTag ? got.tag : begin.recvTag;
        return end;
    }

    Trace* m_trace;
    std::int32_t m_rank;
    Serial m_created = 0;
    TimeNs m_time = 0;
};

/// A job whose ranks have called MPI_Init (call 0, events 1 and 2).
struct Job {
    explicit Job(std::int32_t count, bool initialised = true) {
        trace.ranks.resize(static_cast<std::size_t>(count));
        for (std::int32_t rank = 0; rank < count; ++rank) {
            trace.ranks[static_cast<std::size_t>(rank)].comms = {worldComm(count), selfComm(rank)};
            ranks.emplace_back(trace, rank);
            if (initialised) {
                ranks.back().init();
            }
        }
    }
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    RankScript& operator[](std::size_t rank) { return ranks[rank]; }
    [[nodiscard]] Timeline timeline() const { return load(trace); }

    Trace trace;
    std::vector<RankScript> ranks;
};

inline CallRef at(std::int32_t rank, std::uint32_t call) {
    return {RankId{rank}, CallIndex{call}};
}
inline Point before(std::int32_t rank, std::uint32_t call) {
    return {at(rank, call), false};
}
inline Point after(std::int32_t rank, std::uint32_t call) {
    return {at(rank, call), true};
}
/// "5 i7 0": event numbers, i for inside.
std::string text(const Cut& cut);
inline std::string text(const Line& line) {
    return text(line.cut);
}
Cut cut(std::initializer_list<std::uint64_t> events);

/// "send post done state" of each message, sorted; M matched, P posted, R unreceived, S unsent, C cancelled.
using Pairs = std::vector<std::string>;
Pairs pairs(const Timeline& timeline);

} // namespace stopline::replay::test
