// The requests of a rank that are not complete: handle -> serials.
//
// MPI libraries give one and the same handle to all sends that are complete at once and to receives from MPI_PROC_NULL,
// and give the handle of a completed request to the next one. So a handle stands for a queue of serials,
// oldest first. Which sends are complete at once is a matter of chance: the transport had room (MPICH has one handle for
// each kind of request that is, Open MPI one for all), or else the send gets a handle of its own. Which of several that
// share one a call names cannot be told by the handle: the one goes first that was made in the same variable, and
// the event says that it may have been another. Who compares two runs goes by that, see replay/request_names.h.
#pragma once

#include "dialect.h"
#include "pool.h"

#include "../codec.h"

#include <atomic>
#include <span>

namespace stopline::preload {

/// No handle at all, not even MPI_REQUEST_NULL.
inline constexpr MPI_Request kNoRequest{};

enum class RequestKind : std::uint8_t {
    Send,
    Recv,
    Collective,
    CommDup,
    File,  ///< of its status only the bytes mean anything
    Plain, ///< one-sided, generalised: its status means nothing here
};

struct RequestNode {
    MPI_Request handle;
    std::uint32_t serial;
    std::uint32_t next; ///< node number, 0 for none
    RequestKind kind;
    bool persistent;
    bool active;  ///< false: persistent and not started, or complete
    bool claimed; ///< a Wait of some thread is about it: others get another one of the same handle
    const void* place;   ///< of the handle when it was made: the user's variable; null once another of its handle was
    std::uint32_t given; ///< search in which it was found last
};

/// Not thread-safe. Static zeroed memory; node numbers start at 1.
class RequestTable {
  public:
    static constexpr std::uint32_t kNone = 0;

    /// Adds a request under its handle; silently forgets it when there is no memory.
    void add(MPI_Request handle, std::uint32_t serial, RequestKind kind, bool persistent, const void* place = nullptr);
    /// Finds the nodes of a list of handles; the n-th occurrence of a handle gets its n-th oldest node that
    /// is not claimed; one before it that was made at `places` + n goes first, if it is not far. kNone where there is
    /// none. True when one of them is not the only one of its handle: then the handle does not tell which it is.
    bool find(const MPI_Request* handles, int count, std::uint32_t* nodes, const MPI_Request* places = nullptr);
    [[nodiscard]] RequestNode& node(std::uint32_t number) { return m_nodes[number]; }
    /// The handle of the request with this serial; kNoRequest where there is none. Looks at all of them.
    [[nodiscard]] MPI_Request handleOf(std::uint32_t serial);
    /// Forgets a node.
    void remove(std::uint32_t number);
    /// The request is known by another handle from now on; forgotten when there is no memory.
    void rename(std::uint32_t number, MPI_Request handle);

  private:
    struct Slot {
        MPI_Request handle; ///< kNoRequest: free
        std::uint32_t head;
        std::uint32_t tail;
        std::uint32_t cursor; ///< next node to give in the search `stamp`
        std::uint32_t stamp;
    };
    [[nodiscard]] std::size_t home(MPI_Request handle);
    [[nodiscard]] Slot* slotOf(MPI_Request handle);
    bool growSlots();
    /// Makes the node the youngest of the handle it has; false when there is no memory.
    bool link(std::uint32_t number);
    /// Takes the node out of the queue of its handle; false when it is in none.
    bool unlink(std::uint32_t number);
    void release(std::uint32_t number);
    void eraseSlot(std::size_t at);

    Pool<Slot, 1024> m_slots;
    Pool<RequestNode, 1024> m_nodes;
    std::size_t m_slotCount = 0;
    std::size_t m_usedSlots = 0;
    std::uint32_t m_nodeCount = 0;
    std::uint32_t m_freeNodes = 0;
    std::uint32_t m_stamp = 0;
};

/// Receives whose requests the user has freed while they were on. MPI is not told before they are complete,
/// so that the messages they get are known. Not thread-safe.
class FreedRequests {
  public:
    struct Freed {
        MPI_Request handle; ///< kNoRequest: complete, `status` says how
        std::uint32_t serial;
        MPI_Status status;
    };
    static constexpr std::size_t kAtOnce = 1024; ///< completions that one event tells; after the last nothing can be told

    [[nodiscard]] bool empty() const { return m_count == 0; }
    /// False when there is no memory for it: then it is to be freed as always.
    bool add(MPI_Request handle, std::uint32_t serial);
    /// What is kept as `handle` is another request of MPI's. Does nothing where none is.
    void replace(MPI_Request handle, MPI_Request by);
    /// How the receive with this serial is: null where none is kept.
    [[nodiscard]] const Freed* find(std::uint32_t serial);
    /// Asks MPI which are complete by now, and frees those.
    void poll();
    /// Before MPI ends: asks once more, and frees the others unseen.
    void pollForTheLastTime();
    /// Takes complete ones out, oldest first, as an event tells of them; `newest` is the serial of the last request. They last
    /// until the next time.
    [[nodiscard]] std::span<const trace::Completion> takeComplete(std::uint32_t newest);

  private:
    Pool<Freed, 16> m_freed;
    Pool<trace::Completion, 16> m_told;
    std::atomic<std::size_t> m_count = 0; ///< looked at without the lock, changed under it
};

/// Messages taken by Mprobe and Improbe and not yet received.
struct MatchedMessage {
    MPI_Message handle;
    std::uint32_t serial;
    CommIndex comm;
    std::int32_t source;
    std::int32_t tag;
};

class MessageTable {
  public:
    void add(const MatchedMessage& message);
    /// Takes a message out; false when it is not known.
    bool take(MPI_Message handle, MatchedMessage& message);

  private:
    Pool<MatchedMessage, 64> m_messages;
    std::size_t m_count = 0;
};

} // namespace stopline::preload
