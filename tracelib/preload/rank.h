// The rank that this process plays: claiming the mapping, states, recording, holding. One instance, in static
// memory.
#pragma once

#include "comms.h"
#include "requests.h"

#include "../mapping.h"
#include "../recorder.h"

#include <atomic>
#include <cstdint>

namespace stopline::preload {

using trace::DetailsView;
using trace::FunctionId;

/// How far the process has come with MPI.
enum class Phase : std::uint8_t {
    Outside,  ///< not our process, or before MPI_Init: nothing is recorded
    Starting, ///< inside MPI_Init
    Live,   ///< between the end of MPI_Init and the begin of MPI_Finalize: MPI can be asked to make progress
    Ending, ///< inside MPI_Finalize
    Finalized,
};

/// What a thread needs. Initial-exec and without constructors: no call to find it; named for the assembly.
struct ThreadState {
    std::uint32_t depth; ///< > 0 inside a traced call: what MPI itself calls is not traced
    std::int32_t tid;    ///< 0 before the first traced call
    std::uint16_t ordinal;
    bool stoppedForEnd;          ///< this call has stopped before teardown once already
    bool asking;                 ///< MPI is asked for our own purposes: nobody is to hear of its errors
    std::uint64_t fortranCaller; ///< return address noted by a Fortran entry point, 0 for none
    std::uint64_t fortranCallerBefore; ///< by the one before it, whose inside may be what the last one was called from
};
extern __thread ThreadState thread asm("stoplineThread") __attribute__((tls_model("initial-exec")));

/// While a wrapper asks MPI about what the user's call names. That may be wrong: then the user's call is to
/// say so, to the user's error handler, and not the question.
class Asking {
  public:
    Asking() { thread.asking = true; }
    ~Asking() { thread.asking = false; }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;
};

/// The poll whose begin has been recorded and whose end has not.
struct OpenPoll {
    std::atomic<bool> open; ///< looked at without the lock, changed and decided on under it
    FunctionId function;
    std::uint16_t thread;
    CodeAddress site;
    std::uint64_t failures;
    // What its begin has asked for: of a probe, else nothing.
    CommIndex comm;
    std::int32_t source;
    std::int32_t tag;
};

struct Rank {
    trace::MappingHeader* header; ///< null: not traced
    std::atomic<bool> recording; ///< events are wanted: from the begin of MPI_Init to the end of MPI_Finalize
    bool owner;                  ///< this process has claimed the mapping
    bool multiple;               ///< MPI_THREAD_MULTIPLE: several threads may be in wrappers
    Phase phase;
    std::int32_t pid;
    std::int32_t tagUpperBound;
    std::uint32_t threads;  ///< ordinals given
    std::uint32_t requests; ///< serials given
    std::uint32_t messages; ///< matched messages so far
    std::uint64_t jitter;   ///< state of the generator of delays; 0: calls are not delayed
    OpenPoll poll;
    trace::Recorder recorder;
    CommTable comms;
    RequestTable requestTable;
    MessageTable messageTable;
    FreedRequests freed;
};
extern Rank rank;

/// Guards everything in `rank` where threads may be several. Never held over a call into MPI that can block.
class RankLock {
  public:
    RankLock() {
        if (rank.multiple) [[unlikely]] {
            take();
        }
    }
    ~RankLock() {
        if (rank.multiple) [[unlikely]] {
            give();
        }
    }
    RankLock(const RankLock&) = delete;
    RankLock& operator=(const RankLock&) = delete;

  private:
    static void take();
    static void give();
};

// --- session.cpp ---
/// Makes this process the rank and maps the recording, unless another one is the rank; true when this one is.
bool claim();
void setState(trace::RankState state);
/// Waits for the debugger if `gate` is where it wants to join.
void waitAtGate(trace::Gate gate);
/// Makes the mapping's file larger (GrowFunction).
int growFile(void* context, std::uint64_t bytes);
/// Path of the agent that has started this rank; false: it cannot be told, or the mapping is not an agent's.
bool findAgent(char* path, std::size_t bytes);
/// Says something to the user, once for each process and text.
void complain(const char* what, int error);

// --- hold.cpp ---
/// Holds at an event that has reached the threshold, unless another thread does.
void holdAt(std::uint64_t event);
/// Called after an event has been recorded, outside the lock: holds if it was the threshold.
inline void holdIfWanted(std::uint64_t event) {
    if (event >= rank.header->threshold.load(std::memory_order_acquire)) [[unlikely]] {
        holdAt(event);
    }
}
/// ordinal + 1 of the thread that is held, 0 for none; a futex word.
extern std::atomic<std::uint32_t> holder;
void waitForHolder();
/// Lets MPI work on what is under way, without any effect on the program. Not before MPI_Init has returned.
void makeProgress();
/// Books the time since `begin` as held: instead of whatever else has been added to `heldAtBegin` since, and
/// as a stop of its own in the recording.
void bookHeld(TimeNs begin, TimeNs heldAtBegin);
/// A thread that comes to a call while another one is held waits for it.
inline void waitWhileOtherHolds() {
    if (holder.load(std::memory_order_acquire) != 0) [[unlikely]] {
        waitForHolder();
    }
}
/// Stops before something that would end the rank, if a debugger is there. Once for each reason to end.
void stopBeforeEnd(trace::StopReason reason, std::int32_t code);
bool debuggerIsThere();

// --- jitter.cpp ---
/// Delays the calling thread now and then, so that orders happen which seldom do.
void delayNowAndThen();

// --- clock.cpp ---
/// CLOCK_MONOTONIC in ns.
TimeNs clockNow();
/// Execution time of a moment.
inline TimeNs executionTime(TimeNs moment) {
    return moment - rank.header->originNs.load(std::memory_order_relaxed) -
           rank.header->heldNs.load(std::memory_order_relaxed);
}

// --- futex.cpp ---
void futexWake(std::atomic<std::uint32_t>& word);
/// Waits while `word` is `value`, at most `timeoutNs`.
void futexWait(std::atomic<std::uint32_t>& word, std::uint32_t value, TimeNs timeoutNs);

} // namespace stopline::preload

/// Where gdb stops a rank: entered when a rank has been released at its threshold, or is about to end.
extern "C" __attribute__((visibility("default"))) void stopline_stop_here();
