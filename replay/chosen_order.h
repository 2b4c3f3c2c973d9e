// What a choice asks of one rank: which of its calls are to find out again what they had, which receives keep what they got and
// which are left to MPI. Inside of the order log.
#pragma once

#include "race_choice.h"
#include "request_posts.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace stopline::replay {

/// Has to be told of all calls of the rank in order, and `posts` before it. Timeline, choice and posts have to outlive it.
class ChosenOrder {
  public:
    /// A receive of any source, and what it had got.
    struct Left {
        RequestPost post;
        trace::Status got;
        std::uint64_t cancel; ///< event that tried in vain to cancel it; 0: none did
    };

    ChosenOrder(const Timeline& timeline, RankId rank, const Choice& choice, const RequestPosts& posts);

    [[nodiscard]] const Choice& choice() const { return m_choice; }
    void begin(CallRef at, const trace::EventDetails& begin);
    /// Before the completions of its end.
    void end(CallRef at, const trace::EventDetails& begin, const trace::EventDetails& end);

    /// The event is one of those that are to be as recorded, or the first one behind: a call that begins there does so again.
    [[nodiscard]] bool comes(std::uint64_t event) const { return event <= m_upTo + 1; }
    /// What this call found out is to be so again.
    [[nodiscard]] bool again(CallRef at) const { return m_timeline.call(at).end.value() <= m_upTo; }
    /// This call posts the race, or probes, and decides it: no request has to do with it.
    [[nodiscard]] bool decidesItself(CallRef at) const { return decides(at) && m_choice.race.call == at; }
    /// The race completes here.
    [[nodiscard]] bool isRace(CallRef at, std::uint32_t serial) const {
        return serial == m_chosen && decides(at) && m_posts[serial].place().first == m_racePost;
    }
    /// The end of this call, if it completes the race and all before it is as recorded, as if it completed nothing else. It is
    /// to find the race complete again, whatever else is by then: else the program might give the race up, and its choice be
    /// lost. Not of what asks for several at once, as others of them may never be.
    [[nodiscard]] std::optional<trace::EventDetails> raceAlone(CallRef at, const trace::EventDetails& end) const;
    /// Whether what this call tells of a receive, other than the race, is to be so again; else it is left to MPI. `cancel`:
    /// event that tried to cancel it; 0: none.
    bool keeps(CallRef at, const trace::EventDetails& end, const trace::Completion& completion, std::uint64_t cancel);

    /// Of those that were left to MPI, the ones that would take what others are to get, had they not got their own: they stay as
    /// recorded, too.
    [[nodiscard]] std::vector<Left> older();
    /// The race's receive, if no call has seen it complete, as its request was freed: what it got is known by who else got
    /// something.
    [[nodiscard]] std::optional<RequestPost> unseen() const { return m_unseen; }
    /// The race's receive has its message before the program goes its own way, which might be to cancel it: the end of the call
    /// behind which it is waited for, and the number of its request. Not where the call that completes the race is the first
    /// that is not as recorded, as it completes the race again; nor where the message may only come behind that.
    struct Awaited {
        std::uint64_t event;
        std::uint32_t serial;
    };
    [[nodiscard]] std::optional<Awaited> awaited() const { return m_awaited; }

  private:
    using Place = std::pair<std::uint64_t, std::size_t>; ///< in MPI's order, as RequestPost::place()

    void noteFirstOpen(CallRef at, const trace::EventDetails& end);
    [[nodiscard]] bool decides(CallRef at) const { return m_here && decidingCall(m_choice.race) == at; }
    [[nodiscard]] bool younger(const RequestPost& post) const { return m_here && post.place() > m_racePlace; }
    [[nodiscard]] bool decidedBefore(CallRef at, const RequestPost& post, const trace::Status& got, std::uint64_t cancel) const;
    [[nodiscard]] bool wouldTakeChosen(const RequestPost& post) const;
    [[nodiscard]] bool wouldTakeShared(const RequestPost& post) const;
    void noteShared(const trace::EventDetails& asked, std::int32_t tag, Place place);
    [[nodiscard]] const trace::EventDetails& askedBy(const RequestPost& post) const;
    [[nodiscard]] RankId senderOf(const RequestPost& post, std::int32_t source) const;

    const Timeline& m_timeline;
    const Choice& m_choice;
    const RequestPosts& m_posts;
    RankId m_rank;
    bool m_here;           ///< the race is this rank's
    std::uint64_t m_upTo;  ///< what calls have found out behind this event is not to be so again
    std::uint64_t m_racePost = 0; ///< begin of the call that posts the race, or probes
    Place m_racePlace{};
    std::uint32_t m_chosen = RequestPosts::kNoSerial; ///< the race's receive, where it has a request
    std::optional<RequestPost> m_unseen;
    bool m_diverged = false; ///< a call has ended that is not to be as recorded
    std::optional<Awaited> m_awaited;
    std::vector<Left> m_left;
    /// By communicator and tag (kAnyTag: all of them): the last post or probe that is to find a message again.
    std::map<std::pair<std::uint32_t, std::int32_t>, Place> m_latestShared;
};

} // namespace stopline::replay
