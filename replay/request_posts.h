// When the requests of a rank were posted, for walks over its events. Inside of the library.
#pragma once

#include "../tracelib/event.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stopline::replay {

/// A request that a rank has made.
struct RequestPost {
    std::uint64_t made = 0;    ///< begin of the call that made it
    std::uint64_t started = 0; ///< begin of the last MPI_Start or MPI_Startall of it; 0: none
    std::size_t position = 0;  ///< in the list of that one
    bool anySource = false;
    bool persistent = false;

    /// Its place in MPI's order: begin of the call that posted it (0: it has not been), and its position there.
    [[nodiscard]] std::pair<std::uint64_t, std::size_t> place() const {
        return persistent ? std::pair(started, position) : std::pair(made, std::size_t{0});
    }
};

/// Has to be told of all events of a rank from its first on, in order. References are as the event at hand has them.
class RequestPosts {
  public:
    static constexpr std::uint32_t kNoSerial = 0;

    void begin(std::uint64_t event, const trace::EventDetails& begin) {
        const trace::CallClass callClass = trace::functionClass(begin.function);
        if (trace::createsRequest(callClass)) {
            RequestPost post;
            post.made = event;
            post.anySource = begin.recvPeer == kAnySource;
            post.persistent = callClass == trace::CallClass::RecvInit || callClass == trace::CallClass::SendInit;
            m_posts.push_back(post);
        } else if (callClass == trace::CallClass::Start) {
            for (std::size_t i = 0; i < begin.requests.size(); ++i) {
                if (const std::uint32_t serial = serialOf(begin.requests[i]); serial != kNoSerial) {
                    m_posts[serial - 1].started = event;
                    m_posts[serial - 1].position = i;
                }
            }
        }
    }
    /// Number of a request, from 1; kNoSerial of one that is not known.
    [[nodiscard]] std::uint32_t serialOf(trace::RequestRef ref) const {
        return ref.back >= trace::RequestRef::kUnknown || ref.back >= m_posts.size() ? kNoSerial : std::uint32_t(m_posts.size()) - ref.back;
    }
    /// Of the one that was made last.
    [[nodiscard]] std::uint32_t last() const { return std::uint32_t(m_posts.size()); }
    [[nodiscard]] const RequestPost& operator[](std::uint32_t serial) const { return m_posts[serial - 1]; }

  private:
    std::vector<RequestPost> m_posts;
};

} // namespace stopline::replay
