// The timeline once more, by the letter of its definitions and as simple as possible: whole lists, an
// explicit graph of starts and ends, loops until nothing changes. Shares no code with the timeline but the
// vocabulary of its header.
#pragma once

#include "trace.h"

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace stopline::replay::test {

class Brute {
  public:
    explicit Brute(const Trace& trace);

    struct FoundMessage {
        MessageState state{};
        std::optional<CallRef> send;
        std::optional<CallRef> post;
        std::optional<CallRef> done;
        std::int32_t tag = 0;
        std::uint64_t comm = 0;
        std::int32_t sender = -1;
        std::int32_t receiver = -1;
        friend auto operator<=>(const FoundMessage&, const FoundMessage&) = default;
    };
    [[nodiscard]] const std::multiset<FoundMessage>& messages() const { return m_messages; }
    [[nodiscard]] std::multiset<std::string> collectives() const;

    [[nodiscard]] bool isClosed(const Cut& cut) const;
    [[nodiscard]] Cut closeDown(Cut cut) const;
    [[nodiscard]] Cut closeUp(const Cut& cut, std::optional<std::size_t> fixed) const;
    [[nodiscard]] Cut past(const Point& point) const;
    [[nodiscard]] Cut future(const Point& point) const;
    [[nodiscard]] std::optional<Cut> rollback(Cut now, std::size_t rank) const;
    [[nodiscard]] std::optional<Cut> forward(Cut now, std::size_t rank) const;

  private:
    struct CallInfo {
        trace::EventDetails begin;
        std::optional<trace::EventDetails> end;
        std::uint64_t number = 0; ///< of the begin event
    };
    struct Edge {
        CallRef start; ///< its start
        CallRef end;   ///< comes before the end of this one
    };
    struct SendInfo {
        CallRef call;
        std::optional<CallRef> done;
        std::uint64_t comm = 0;
        std::int32_t to = -1;
        std::int32_t tag = 0;
        bool waits = false;
    };
    struct RecvInfo {
        CallRef post;
        std::optional<CallRef> start;
        std::optional<CallRef> done;
        std::uint64_t comm = 0;
        std::int32_t source = -1; ///< -1: any
        std::int32_t tag = 0;
        bool cancelled = false;
        bool matchedProbe = false;
        bool probe = false; ///< only looks
    };
    struct RequestInfo {
        int send = -1;
        int recv = -1;
        int member = -1;
        trace::EventDetails init;
    };
    struct Member {
        CallRef start;
        std::optional<CallRef> done;
    };
    struct Group {
        std::string name;
        trace::FunctionId function{};
        std::vector<std::int32_t> ranks;
        std::size_t local = 0;
        bool inter = false;
        std::vector<Member> members;
        std::int32_t root = -1;
        bool large = false;
    };

    void readRank(std::size_t rank);
    void readCall(std::size_t rank, CallRef ref, const CallInfo& call, std::vector<RequestInfo>& requests);
    void readEnd(std::size_t rank, CallRef ref, const CallInfo& call, std::vector<RequestInfo>& requests);
    void readCompletions(std::size_t rank, CallRef ref, const CallInfo& call,
                         std::vector<RequestInfo>& requests);
    void match();
    void inferGroups();
    void join();
    bool waitsFor(const Group& group, std::int32_t waiting, std::int32_t other) const;
    int addSend(std::size_t rank, CallRef ref, const trace::EventDetails& d);
    int addRecv(std::size_t rank, CallRef ref, const trace::EventDetails& d);
    int addMember(std::size_t rank, CallRef ref, const CallInfo& call);
    std::int32_t world(std::size_t rank, CommIndex comm, std::int32_t peer) const;
    std::uint64_t commId(std::size_t rank, CommIndex comm) const;

    [[nodiscard]] const CallInfo& info(CallRef ref) const {
        return m_calls[static_cast<std::size_t>(ref.rank.value())][ref.call.value()];
    }
    [[nodiscard]] Place startOf(CallRef ref) const { return {EventIndex{info(ref).number}, true}; }
    [[nodiscard]] Place beforeOf(CallRef ref) const { return {EventIndex{info(ref).number}, false}; }
    [[nodiscard]] Place endOf(CallRef ref) const { return {EventIndex{info(ref).number + 1}, false}; }
    [[nodiscard]] Cut lastPlaces() const;
    [[nodiscard]] bool violated(const Edge& edge, const Cut& cut) const;
    [[nodiscard]] Cut raise(const Cut& want, const Cut& bound, const Cut& standing,
                            std::optional<std::size_t> fixed) const;
    [[nodiscard]] Place placeOf(const Point& point) const;
    /// By rank and call: whether the start (end) of the call is connected with the place by synchronising
    /// edges.
    using Marks = std::vector<std::vector<std::pair<bool, bool>>>;
    [[nodiscard]] Marks happenedBefore(std::size_t rank, const Place& place) const;
    [[nodiscard]] Marks dependsOn(std::size_t rank, const Place& place) const;
    [[nodiscard]] Cut needs(std::size_t rank, const Place& place) const;

    const Trace& m_trace;
    std::vector<std::vector<CallInfo>> m_calls;
    std::vector<SendInfo> m_sends;
    std::vector<RecvInfo> m_recvs;
    std::vector<std::vector<int>> m_taken; ///< by rank: matched probes not yet received
    std::vector<Group> m_groups;
    std::vector<std::pair<std::size_t, std::int32_t>> m_members; ///< group and rank, by member id
    std::multiset<FoundMessage> m_messages;
    std::vector<Edge> m_needed;
    std::vector<Edge> m_synchronising;
};

} // namespace stopline::replay::test
