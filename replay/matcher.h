// Pairs sends with receives, incrementally and in any interleaving of the ranks' events.
//
// Rule (MPI's non-overtaking order): on one (communicator, source, destination, tag) the k-th send belongs to
// the k-th receive in the order of posting. A receive joins the channel
//  - when it is posted, if its source and tag are known then: pairing is final unless an older wildcard joins
//  later;
//  - when its completion names source and tag, if it was posted with a wildcard, at the place of its posting;
//  - at the end of a matched probe, which takes the message out of the matching.
// A cancelled send or receive leaves the channel. A wildcard receive that has not completed belongs to no
// channel.
//
// The message of an Mrecv or Imrecv: handles are not traced, so it is the oldest message that matched probes
// of the rank took (on that communicator, when the call names it) and that nothing has started to receive.
// When its status then names another source or tag, it gets the oldest taken message that fits: one that
// nothing has started to receive, else it changes places with whoever started it.
//
// Cost: constant for each send and each receive. A wildcard that joins, or a cancelled one that leaves, costs
// the number of pairs behind its place; in a correct program those are the receives posted between its post
// and its completion that took messages of the same sender and tag.
#pragma once

#include "timeline_data.h"

namespace stopline::replay {

class Matcher {
  public:
    explicit Matcher(TimelineData& data) : m_data(data) {}

    /// A call starts a send with these begin details (those of the *_init for persistent ones).
    /// Returns the half, or kNone when there is no message.
    std::uint32_t send(std::int32_t rank, std::uint32_t call, std::uint32_t details);
    /// A call posts a receive. Returns the half, or kNone.
    std::uint32_t post(std::int32_t rank, std::uint32_t call, std::uint32_t details);
    /// The end of `call` shows the send or receive complete. Does nothing when that was seen before.
    void sendDone(std::uint32_t half, std::uint32_t call, bool cancelled);
    void recvDone(std::uint32_t half, std::uint32_t call, const trace::Status& status);
    /// MPI has refused what a call was to send or receive: it never was.
    void withdrawSend(std::uint32_t half);
    void withdrawRecv(std::uint32_t half);
    /// So many sends (receives), more or fewer, of a channel lie before the start of the rank's history.
    void addMissing(std::uint32_t comm, std::int32_t source, std::int32_t destination, std::int32_t tag, bool sends,
                    std::int64_t count);
    /// Probes before the start of the receiver's history may have seen the messages of the next so many receives.
    void addSeen(std::uint32_t comm, std::int32_t source, std::int32_t destination, std::int32_t tag,
                 std::uint32_t count);
    /// How many of a rank's messages lie before the start of its history is not known.
    void missUnknown(std::int32_t rank);
    /// A probe succeeded at the end of `call`; `takes`: a matched probe.
    void probed(std::int32_t rank, std::uint32_t call, const trace::EventDetails& begin,
                const trace::EventDetails& end, bool takes);
    /// An Mrecv or Imrecv starts; `request` is kNone for Mrecv. Returns the half, or kNone.
    std::uint32_t startMatched(std::int32_t rank, std::uint32_t call, CommIndex comm, trace::RequestRef message,
                               std::uint32_t request);
    /// Before recvDone() of such a receive: corrects which message it is. Returns the right half, or kNone
    /// when the status says that it received from PROC_NULL.
    std::uint32_t settleMatched(std::int32_t rank, std::uint32_t half, const trace::Status& status);

  private:
    DetailsCache& resolve(std::int32_t rank, std::uint32_t details);
    std::uint32_t channel(std::uint32_t comm, std::int32_t source, std::int32_t destination,
                          std::int32_t tag);
    std::uint32_t newHalf(std::int32_t rank, std::uint32_t call, std::uint32_t details);
    void join(std::uint32_t half, std::uint32_t channel);
    void leaveRecv(std::uint32_t half);
    void leaveSend(std::uint32_t half);
    /// Pairs anew what is at or behind this place in the order of receives, which may be that of a missing one.
    void repair(Channel& channel, std::int64_t from);
    /// The other half of a message lies before the start of its rank's history.
    void setEarly(std::uint32_t message);
    [[nodiscard]] bool isEarly(const MessageHalves& halves) const;
    std::uint32_t prototype(std::int32_t rank, const trace::EventDetails& d, bool send,
                            std::uint32_t channel);
    /// A record of one half alone, which counts as open.
    std::uint32_t newRecord(const Message& record, std::uint32_t send, std::uint32_t recv);
    std::uint32_t newMessage(std::uint32_t recv);
    void freeMessage(std::uint32_t message);
    /// Recomputes the public record from its halves.
    void refresh(std::uint32_t message);
    void setState(std::uint32_t message, MessageState state);
    [[nodiscard]] bool fits(const MatchedMessage& matched, const trace::Status& status) const;

    /// The calls of both halves have got or lost an edge.
    void touchMessage(std::uint32_t message);
    /// The same for the probes that saw, or now see, the send at this place or behind it.
    void touchProbes(const Channel& ch, std::int64_t receive);
    void open(std::uint32_t message);
    void close(std::uint32_t message);
    void growTable();

    TimelineData& m_data;
    std::vector<std::uint32_t> m_table; ///< channels by hash, open addressing; kNone: free
};

/// Ssend and its kin: complete only when the receiver has started. Bsend and its kin never wait.
[[nodiscard]] bool isSynchronousSend(trace::FunctionId function);
[[nodiscard]] bool isBufferedSend(trace::FunctionId function);

} // namespace stopline::replay
