// Marked messages: the replay that Netzer and Miller (1992) describe, in which those messages that raced are
// told apart from all others by a tag, and receives take a tagged message only if it is meant for them.
//
// The mark is the communicator. A marked message travels on the *twin* of its communicator, which has the
// same ranks and which nobody but us knows: no receive on the communicator itself can get it, and the receive
// that it is for, which the order log knows, is posted on the twin. Their tag names the receive; ours need
// not, and so the user's tag and the statuses stay what they are. On the twin, receives are posted in their
// old order and from the source that they had. Take the first of them that got another message than in the
// recording. It got the first from its source that fits it and that no receive before it has taken. If that
// is an older one than its own, this older one, marked too, was received in the recording by a receive that
// was posted before it - else MPI's order would have given it to this one - and that receive stands on the
// twin, came first, and took it. If it is a younger one, its own had been taken by a receive before it, which
// then was the first that got another one. So within (source, tag) the order of the twin does what unique
// tags would do; messages that wait there for their receive are what the paper calls buffered, and MPI
// buffers them.
//
// By the same argument receives on the communicator itself that name their source get what they got, since
// the marked messages are missing on both sides. Those from any source do where the log says so, see
// replay/order_marks.h.
//
// Which communicators have twins, and which messages are marked, is decided from the recording for all ranks
// at once, so the making of twins is collective without a word between the ranks.
#pragma once

#include "pool.h"
#include "real.h"

#include "../order.h"

#include <cstddef>
#include <cstdint>

namespace stopline::preload {

/// One instance, in static memory, without constructor. Not thread-safe, as the replay is not (forced.h).
class Marked {
  public:
    /// After MPI_Init, collective over MPI_COMM_WORLD: makes its twin. Messages are marked only where all
    /// ranks follow their logs: none does that may call MPI from several threads at the same time.
    void begin();
    /// After a constructor, collective over what it has made.
    void add(MPI_Comm comm);
    /// Before the user frees a communicator.
    void release(MPI_Comm comm);
    /// Before MPI_Finalize: frees the twins that are left.
    void end();

    /// Puts the twin in the place of a communicator, if that has one.
    void onTwin(MPI_Comm* comm);
    /// Follows an entry of kind Marked, behind its kind: names the source where the call takes it from, and puts the twin in
    /// the place of the communicator of what it sends and of what it receives. Null: the call has no such.
    void put(trace::OrderReader& entry, int* source, MPI_Comm* out, MPI_Comm* in);

  private:
    struct Twin {
        HandleKey of;
        MPI_Comm comm;
    };
    [[nodiscard]] MPI_Comm twinOf(MPI_Comm comm);
    void remember(MPI_Comm comm, MPI_Comm twin);

    bool m_on = false;
    std::size_t m_count = 0;
    Pool<Twin, 16> m_twins; ///< in the order in which they were made
};
extern Marked marked;

/// Tells the user's error handler of what failed on the twin of his communicator: the twin's own handler
/// tells nobody. `place` is null where there can be no twin. Returns the code.
int tellOfTwin(MPI_Comm comm, int code);
inline int toldOfTwin(MPI_Comm comm, const MPI_Comm* place, int code) {
    return code == MPI_SUCCESS || place == nullptr || *place == comm ? code : tellOfTwin(comm, code);
}

} // namespace stopline::preload
