// Timelines written by hand for the tests, samples and benchmarks of the diagram.
#pragma once

#include "../../../replay/timeline.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace stopline::viewer::test {

/// Builds a timeline call by call. Times are nanoseconds from the start; each call returns its number on its
/// rank.
class Story {
  public:
    explicit Story(int ranks);

    std::uint32_t init(int rank, TimeNs begin, TimeNs end);
    std::uint32_t finalize(int rank, TimeNs begin, TimeNs end);
    std::uint32_t send(int rank, int to, int tag, std::uint64_t bytes, TimeNs begin, TimeNs end);
    std::uint32_t recv(int rank, int from, int tag, std::uint64_t bytes, TimeNs begin, TimeNs end);
    /// Receive that never returns (kAnySource allowed).
    std::uint32_t recvOpen(int rank, int from, int tag, TimeNs begin);
    std::uint32_t recvAny(int rank, int from, int tag, std::uint64_t bytes, TimeNs begin, TimeNs end);
    std::uint32_t isend(int rank, int to, int tag, std::uint64_t bytes, TimeNs begin, TimeNs end);
    std::uint32_t irecv(int rank, int from, int tag, std::uint64_t bytes, TimeNs begin, TimeNs end);
    /// Completes the requests created `back` creations ago; sources and tags as the receives' statuses.
    struct Done {
        std::uint32_t back = 0;
        int source = kNoPeer;
        int tag = kNoTag;
        std::uint64_t bytes = 0;
    };
    std::uint32_t wait(int rank, const std::vector<Done>& done, TimeNs begin, TimeNs end);
    std::uint32_t collective(int rank, trace::FunctionId function, int root, TimeNs begin, TimeNs end);
    std::uint32_t collectiveOpen(int rank, trace::FunctionId function, int root, TimeNs begin);

    [[nodiscard]] replay::Timeline& timeline() { return *m_timeline; }
    [[nodiscard]] std::unique_ptr<replay::Timeline> take() { return std::move(m_timeline); }
    [[nodiscard]] static replay::CallRef ref(int rank, std::uint32_t call) {
        return {RankId{rank}, replay::CallIndex{call}};
    }

  private:
    void add(int rank, const trace::EventDetails& details, TimeNs at);
    std::uint32_t add(int rank, trace::EventDetails begin, trace::EventDetails end, TimeNs from, TimeNs to,
                      bool open);
    struct Interned {
        trace::EventDetails details;
        DetailsId id;
    };
    std::unique_ptr<replay::Timeline> m_timeline;
    std::vector<std::vector<Interned>> m_details;
};

/// The paper's story: rank 0 hands out `sent` of `rows` rows to each of the others, then all wait for ever.
[[nodiscard]] Story hangStory(int ranks, int rows, int sent);
/// Ring exchange with non-blocking calls and an Allreduce each step: `steps` steps.
[[nodiscard]] Story haloStory(int ranks, int steps);

} // namespace stopline::viewer::test
