// Small programs run as an MPI library may run them, and all the other ways in which they could have run:
// which messages a receive or probe of any source could have got while everything before it was as recorded.
// All others get what they got as soon as it is sent, except that they leave to the one in question what it
// would take; what else they could have got then instead is not asked for, as the order of data does not tell
// it. Shares no code with the timeline or the race analysis.
#pragma once

#include "../../../replay/order_marks.h"
#include "script.h"

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace stopline::replay::test {

/// One step of a rank. Receives and sends are numbered over all ranks.
struct OracleStep {
    enum class Kind : std::uint8_t {
        Send,   ///< starts a message
        Sent,   ///< waits until it has matched (Ssend)
        Post,   ///< posts a receive
        Wait,   ///< waits until a receive has matched
        Free,   ///< does not want to hear of a receive any more
        Cancel, ///< withdraws a receive that has not matched
        Probe,  ///< waits for a message to look at
        Enter,  ///< a barrier
        Leave,
    } kind = Kind::Send;
    int id = 0;         ///< of the message, the receive, or the probe (counted with the receives)
    int call = 0;       ///< which call of the rank, from 0
    int peer = 0;       ///< receives and probes: source, or -1 for any
    int tag = 0;        ///< -1: any
    bool fails = false; ///< a probe that was made once and saw nothing
};

struct OracleCall {
    enum class Kind : std::uint8_t {
        Send,
        Ssend,
        Recv,
        Irecv,
        Wait,
        Free,
        Cancel,
        WaitCancelled,
        Probe,
        Iprobe,
        Barrier
    } kind = Kind::Send;
    int peer = 0;
    int tag = 0;
    int request = 0; ///< Wait, Free, Cancel: the receive
};

struct OracleOptions {
    int ranks = 3;
    int messages = 5;
    bool nonBlocking = true;
    bool synchronous = false;
    bool freed = false; ///< some non-blocking receives are freed instead of waited for
};

class OracleProgram {
  public:
    OracleProgram(std::mt19937_64& random, const OracleOptions& options);
    /// Runs it once, in an order that `random` picks. False when it hung.
    bool record(std::mt19937_64& random);
    /// The trace of the recorded run, with MPI_Finalize.
    void write(Job& job) const;
    /// By rank and call of each receive or probe of any source: the sends (rank and call) that it could have
    /// got besides. Calls count from 1, as a job's MPI_Init is call 0.
    using Found = std::map<std::pair<int, int>, std::set<std::pair<int, int>>>;
    [[nodiscard]] Found alternatives() const;
    [[nodiscard]] std::string text() const;
    /// Some receive was freed and had, when it was so, no message.
    [[nodiscard]] bool hasFreed() const { return m_hasFreed; }
    /// Marks that mark nothing and leave all receives and probes of any source open but those that are in `forced`.
    [[nodiscard]] OrderMarks only(const Found& forced) const;
    /// Tries all the ways in which an execution with these marks can run: what then is not as recorded, or hangs; empty:
    /// nothing.
    [[nodiscard]] std::string replayed(const OrderMarks& marks) const;

  private:
    struct MessageInfo {
        int from = 0;
        int to = 0;
        int tag = 0;
        int call = 0;
    };
    struct Window {
        int rank = 0;
        int call = 0;
        int peer = 0;
        int tag = 0;
        bool probe = false;
        bool fails = false;
        bool freed = false;
    };
    struct State {
        std::vector<int> at;      ///< by rank: steps done
        std::vector<int> got;     ///< by receive: message, -1 none, -2 cancelled
        std::vector<char> posted; ///< by receive
        friend auto operator<=>(const State&, const State&) = default;
    };

    struct Forcing;
    void addRank(int rank, const std::vector<OracleCall>& calls);
    [[nodiscard]] State begin() const;
    [[nodiscard]] bool fits(int receive, int message) const;
    [[nodiscard]] bool isSent(const State& state, int message) const;
    [[nodiscard]] bool hasMatched(const State& state, int message) const;
    /// The first message of its sender that fits and is left, but for one.
    [[nodiscard]] bool isFirst(const State& state, int receive, int message, int besides = -1) const;
    /// The receive is the first that was posted of those that fit and have none.
    [[nodiscard]] bool isNext(const State& state, int receive, int message) const;
    /// The target is open and would take the message before this receive (-1: a probe) could have it.
    [[nodiscard]] bool takes(const State& state, int target, int message, int receive) const;
    [[nodiscard]] bool visible(const State& state, int probe, int message) const;
    /// Steps a rank; false when it cannot go on. `seen` is what a probe is to see, as recorded.
    [[nodiscard]] bool canStep(const State& state, int rank) const;
    /// Picks freed receives which the end of the call tells to be complete that the rank has just come to.
    void tell(const State& state, int rank, std::mt19937_64& random);
    void step(State& state, int rank) const;

    int m_ranks;
    std::vector<std::vector<OracleCall>> m_calls;
    std::vector<std::vector<OracleStep>> m_steps;
    std::vector<MessageInfo> m_messages;
    std::vector<Window> m_windows;         ///< receives and probes
    std::vector<std::vector<int>> m_order; ///< by rank: receives in posting order
    std::vector<int> m_got;                ///< as recorded: what each receive got, each probe saw
    std::vector<int> m_told;               ///< by receive that was freed: at the end of which call it is told; kNotTold: none yet
    bool m_hasFreed = false;
    static constexpr int kNotTold = -1;
};

} // namespace stopline::replay::test
