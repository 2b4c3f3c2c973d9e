// Inside of the simulator.
#pragma once

#include "simulator.h"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace stopline::replay::test {

struct SimMessage {
    SendKey key;
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::uint64_t comm = 0;
    std::int32_t tag = 0;
    bool waits = false; ///< its send completes when `received`
    bool arrived = false;
    bool received = false; ///< a receive has started on it
};

struct Post {
    SendKey key;
    std::int32_t rank = 0;
    std::uint64_t comm = 0;
    std::int32_t source = -1;
    std::int32_t tag = -1;
    bool wildcard = false;
    int message = -1;
    bool cancelled = false;
    bool shown = false; ///< a recorded completion tells its fate
};

struct SimCollective {
    std::vector<std::int32_t> members;
    std::set<std::int32_t> arrived;
    std::map<std::int32_t, std::vector<std::int32_t>> group; ///< own group of each that has arrived
    std::int32_t root = -1;
    bool inter = false;
};

struct SimRequest {
    enum class Kind { None, Send, Recv, Taken, Coll };
    Kind kind = Kind::None;
    int index = -1; ///< message, post or collective; -1: PROC_NULL
    const Op* op = nullptr;
    bool active = false;
    bool persistent = false;
    std::size_t handle = 0;
};

struct RankState {
    std::size_t next = 0; ///< op
    bool inCall = false;
    bool held = false;
    std::uint32_t created = 0;
    std::uint64_t failures = 0;
    std::vector<SimRequest> requests; ///< by serial - 1
    std::vector<int> unexpected;
    std::vector<int> handles; ///< messages of matched probes; -1: PROC_NULL
    std::vector<bool> handleStarted;
    std::vector<bool> handleDone;
    std::map<std::uint64_t, int> collectives;
    // Of the current call.
    int message = -1;
    int post = -1;
    std::size_t collective = 0;
};

class Simulation {
  public:
    Simulation(const Program& program, const RunOptions& options);
    Outcome run();

  private:
    bool act(std::size_t who);
    bool beginCall(std::size_t who);
    void perform(std::size_t who, const Op& op, CallRef call);
    /// The end event if the call can end now.
    std::optional<trace::EventDetails> tryEnd(std::size_t who, const Op& op, CallRef call);
    std::optional<trace::EventDetails> tryWait(std::size_t who, const Op& op, CallRef call);
    std::optional<trace::EventDetails> tryProbe(std::size_t who, const Op& op, CallRef call);
    void record(std::size_t who, trace::EventDetails details, trace::EventKind kind);
    trace::Completion complete(std::size_t who, std::uint32_t serial, bool keep);
    [[nodiscard]] bool requestDone(std::size_t who, const SimRequest& request) const;

    bool deliver(bool all);
    void arrive(int message);
    void pair(Post& post, int message);
    [[nodiscard]] bool fits(const Post& post, const SimMessage& message) const;
    int send(std::size_t from, SendKey key, const trace::EventDetails& details);
    int post(std::size_t on, SendKey key, const trace::EventDetails& details);
    [[nodiscard]] int findUnexpected(std::size_t on, CallRef call, const trace::EventDetails& details) const;
    [[nodiscard]] trace::Status statusOf(std::size_t on, CommIndex comm, const SimMessage& message) const;
    [[nodiscard]] std::int32_t world(std::size_t of, CommIndex comm, std::int32_t peer) const;
    std::size_t enter(std::size_t on, const Op& op);
    [[nodiscard]] bool collectiveDone(std::size_t on, const Op& op, std::size_t collective) const;

    [[nodiscard]] Cut cut() const;
    [[nodiscard]] bool isAmbiguous() const;
    RankState& rank(std::int32_t r) { return m_ranks[static_cast<std::size_t>(r)]; }
    [[nodiscard]] const trace::CommInfo& info(std::size_t on, CommIndex comm) const {
        return m_program.ranks[on].comms[comm.value()];
    }
    [[nodiscard]] bool messageSent(int index) const {
        return index < 0 || !m_messages[static_cast<std::size_t>(index)].waits ||
               m_messages[static_cast<std::size_t>(index)].received;
    }
    [[nodiscard]] EventIndex threshold(std::size_t who) const {
        return m_options.thresholds.empty() ? kNoThreshold : m_options.thresholds[who];
    }

    const Program& m_program;
    const RunOptions& m_options;
    Random m_random;
    std::vector<RankState> m_ranks;
    std::vector<SimMessage> m_messages;
    std::vector<Post> m_posts;
    std::vector<SimCollective> m_collectives;
    std::map<std::string, std::size_t> m_collectiveByKey;
    std::map<std::tuple<std::int32_t, std::int32_t, std::uint64_t>, std::deque<int>> m_flying;
    Outcome m_outcome;
    TimeNs m_clock = 0;
};

} // namespace stopline::replay::test
