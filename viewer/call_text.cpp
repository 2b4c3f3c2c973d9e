#include "call_text.h"

#include "../replay/completion_words.h"
#include "../replay/words.h"
#include "call_style.h"
#include "ruler.h"

#include <QStringList>

#include <algorithm>
#include <array>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

using replay::CallRef;
using replay::MessageState;

namespace {

QString fromView(std::string_view text) {
    return QString::fromUtf8(text.data(), qsizetype(text.size()));
}

QString shortName(const QString& function) {
    return function.startsWith("MPI_"_L1) ? function.mid(4) : function;
}

QString tagText(std::int32_t tag) {
    return tag == kAnyTag ? u"any tag"_s : u"tag %1"_s.arg(tag);
}

QString rankEvent(const replay::Timeline& timeline, CallRef ref, bool end) {
    const replay::Call& call = timeline.call(ref);
    const EventIndex event = end && call.end != EventIndex{0} ? call.end : call.begin;
    return u"rank %1 event %2 (%3)"_s.arg(rankText(ref.rank))
        .arg(event.value())
        .arg(functionText(timeline, ref));
}

QString kindText(trace::CommKind kind) {
    static constexpr std::array<const char16_t*, 14> kNames{u"world",
                                                            u"self",
                                                            u"dup",
                                                            u"split",
                                                            u"split by type",
                                                            u"created",
                                                            u"created by a group",
                                                            u"intercommunicator",
                                                            u"merged",
                                                            u"topology",
                                                            u"other",
                                                            u"with another job",
                                                            u"window",
                                                            u"file"};
    const auto at = std::size_t(kind);
    return at < kNames.size() ? QString::fromUtf16(kNames[at]) : QString();
}

void addPeers(QStringList& lines, const replay::Timeline& timeline, RankId rank,
              const trace::EventDetails& begin, const trace::EventDetails* end) {
    if (begin.sendPeer != kNoPeer && begin.sendTag != kNoTag) {
        lines << u"to %1, %2, %3"_s.arg(peerText(timeline, rank, begin.comm, begin.sendPeer),
                                        tagText(begin.sendTag), bytesText(begin.sendBytes));
    } else if (begin.sendPeer != kNoPeer) { // one-sided, or its synchronisation
        QString line = u"at "_s + peerText(timeline, rank, begin.comm, begin.sendPeer);
        line += begin.sendBytes > 0 ? u", puts "_s + bytesText(begin.sendBytes) : QString();
        line += begin.recvBytes > 0 ? u", gets "_s + bytesText(begin.recvBytes) : QString();
        lines << line;
    }
    if (!begin.peers.empty()) {
        QVector<int> ranks;
        for (const std::int32_t peer : begin.peers) {
            ranks << worldRank(timeline, rank, begin.comm, peer);
        }
        lines << u"with rank "_s + rankSetText(ranks);
    }
    if (begin.recvPeer != kNoPeer) {
        QString line = u"from %1, %2"_s.arg(peerText(timeline, rank, begin.comm, begin.recvPeer),
                                            tagText(begin.recvTag));
        if (begin.recvBytes > 0) {
            line += u", room for %1"_s.arg(bytesText(begin.recvBytes));
        }
        if (end != nullptr && end->status.source != kNoPeer) {
            line += u"; got %1 from %2, %3"_s.arg(bytesText(end->status.bytes),
                                                  peerText(timeline, rank, begin.comm, end->status.source),
                                                  tagText(end->status.tag));
        }
        if (begin.recvPeer == kAnySource) {
            line += u" (wildcard)"_s;
        }
        lines << line;
    }
}

/// What is known of the data that a one-sided call moves.
void addTransfer(QStringList& lines, const replay::Timeline& timeline, CallRef ref) {
    const auto index = timeline.transferOf(ref);
    if (!index) {
        return;
    }
    const replay::Transfer transfer = timeline.transfer(*index);
    const auto line = [&](const QString& what, const replay::MaybeCall& call, bool end) {
        if (call) {
            lines << what + rankEvent(timeline, *call, end);
        }
    };
    line(u"memory opened by "_s, transfer.exposed, false);
    line(u"complete here with "_s, transfer.local, true);
    line(u"complete at the target with "_s, transfer.remote, true);
    line(u"the target may rely on it after "_s, transfer.seen, true);
    if (!transfer.local && !transfer.remote) {
        lines << u"not complete"_s;
    }
}

/// The requests of a Wait or Test that ended with an error of their own.
void addFailedRequests(QStringList& lines, const trace::EventDetails& end) {
    constexpr int kMost = 4;
    int failed = 0;
    for (const trace::Completion& done : end.completions) {
        if (done.error != trace::ErrorClass::Success && ++failed <= kMost) {
            lines << u"request [%1] failed with %2"_s.arg(done.index).arg(errorText(done.error, done.errorCode));
        }
    }
    if (failed > kMost) {
        lines << u"and %1 more requests failed"_s.arg(failed - kMost);
    }
}

void addCollective(QStringList& lines, const replay::Timeline& timeline, CallRef ref) {
    const auto index = timeline.collectiveOf(ref);
    if (!index || index->value() >= timeline.collectives().size()) {
        return;
    }
    const replay::Collective& collective = timeline.collectives()[index->value()];
    QStringList missing;
    qsizetype arrived = 0;
    for (std::size_t i = 0; i < collective.members.size(); ++i) {
        if (i < collective.arrived.size() && collective.arrived[i]) {
            ++arrived;
        } else if (missing.size() < 8) {
            missing << rankText(collective.members[i]);
        }
    }
    QString line = u"%1 of %2 members arrived"_s.arg(arrived).arg(collective.members.size());
    if (!missing.isEmpty()) {
        line += (collective.early ? u"; before the start of the history, or missing: rank "_s : u"; missing: rank "_s) +
                missing.join(u", "_s);
        if (qsizetype(collective.members.size()) - arrived > missing.size()) {
            line += u" and more"_s;
        }
    }
    lines << line;
    if (collective.root) {
        lines << u"root: rank %1"_s.arg(rankText(*collective.root));
    }
    if (collective.mismatch) {
        lines << u"members call different functions or name different roots"_s;
    }
}

} // namespace

QString functionText(const replay::Timeline& timeline, CallRef call) {
    return fromView(
        trace::functionName(timeline.details(call.rank, timeline.call(call).beginDetails).function));
}

QString commText(const replay::Timeline& timeline, RankId rank, CommIndex comm) {
    if (comm == kNoComm) {
        return {};
    }
    if (comm == kCommWorld) {
        return u"MPI_COMM_WORLD"_s;
    }
    if (comm == kCommSelf) {
        return u"MPI_COMM_SELF"_s;
    }
    return u"communicator %1 (%2)"_s.arg(comm.value()).arg(kindText(timeline.comm(rank, comm).kind));
}

std::int32_t worldRank(const replay::Timeline& timeline, RankId rank, CommIndex comm, std::int32_t peer) {
    if (peer < 0 || comm == kNoComm) {
        return -1;
    }
    const trace::CommInfo& info = timeline.comm(rank, comm);
    const auto& group = info.remote.empty() ? info.members : info.remote;
    if (std::size_t(peer) < group.size()) {
        return group[std::size_t(peer)];
    }
    return comm == kCommWorld ? peer : -1;
}

QString peerText(const replay::Timeline& timeline, RankId rank, CommIndex comm, std::int32_t peer) {
    switch (peer) {
    case kAnySource:
        return u"any source"_s;
    case kProcNull:
        return u"nobody (MPI_PROC_NULL)"_s;
    case kRootInter:
        return u"this group (MPI_ROOT)"_s;
    case kNoPeer:
        return {};
    default:
        break;
    }
    const std::int32_t world = worldRank(timeline, rank, comm, peer);
    if (world < 0) {
        return u"rank %1 of its communicator"_s.arg(peer);
    }
    return world == peer ? u"rank %1"_s.arg(rankText(RankId{world}))
                         : u"rank %1 (%2 of its communicator)"_s.arg(rankText(RankId{world})).arg(peer);
}

QString boxLabelText(const replay::Timeline& timeline, CallRef ref, const QFontMetrics& metrics, int width) {
    const trace::EventDetails& begin = timeline.details(ref.rank, timeline.call(ref).beginDetails);
    const QString name = shortName(functionText(timeline, ref));
    QStringList forms;
    const auto peer = [&](std::int32_t p) {
        const std::int32_t world = worldRank(timeline, ref.rank, begin.comm, p);
        return p == kAnySource  ? u"any"_s
               : p == kProcNull ? u"nobody"_s
                                : world >= 0     ? rankText(RankId{world})
                                : QString::number(p);
    };
    if (begin.sendPeer != kNoPeer) {
        const QString to = u"%1 to %2"_s.arg(name, peer(begin.sendPeer));
        const std::uint64_t bytes = std::max(begin.sendBytes, begin.recvBytes);
        if (begin.sendTag != kNoTag) {
            forms << u"%1, %2, %3"_s.arg(to, tagText(begin.sendTag), bytesText(begin.sendBytes));
        } else if (bytes > 0) {
            forms << u"%1, %2"_s.arg(to, bytesText(bytes));
        }
        forms << to;
    } else if (begin.recvPeer != kNoPeer) {
        const QString from = u"%1 from %2"_s.arg(name, peer(begin.recvPeer));
        forms << u"%1, %2"_s.arg(from, tagText(begin.recvTag)) << from;
    } else if (begin.root != kNoPeer) {
        forms << u"%1, root %2"_s.arg(name, peer(begin.root));
    } else if (begin.requests.size() > 1) {
        forms << u"%1 (%2 requests)"_s.arg(name).arg(begin.requests.size());
    }
    forms << name;
    for (const QString& form : forms) {
        if (metrics.horizontalAdvance(form) <= width) {
            return form;
        }
    }
    return {};
}

QString messageLabelText(const replay::Message& message) {
    const auto rank = [](RankId id) { return id.value() < 0 ? u"?"_s : rankText(id); };
    QString text = u"%1 → %2, %3"_s.arg(rank(message.sender), rank(message.receiver), tagText(message.tag));
    if (message.send) {
        text += u", "_s + bytesText(message.bytes);
    }
    return text;
}

QString messageStateText(const replay::Timeline& timeline, const replay::Message& message, CallRef seenFrom) {
    const bool sender = message.send && *message.send == seenFrom;
    if (const auto rank = timeline.halfLostBy(message)) {
        const QString known = sender ? u"sent"_s : message.done ? u"received"_s : u"posted"_s;
        return rank->value() < 0 ? known + u"; a recording broke off"_s
                                 : u"%1; the recording of rank %2 broke off"_s.arg(known).arg(rankText(*rank));
    }
    switch (message.state) {
    case MessageState::Matched:
        if (sender) {
            const auto& other = message.done ? message.done : message.post;
            return other ? u"matched with "_s + rankEvent(timeline, *other, true) : u"matched"_s;
        }
        return message.send ? u"matched with "_s + rankEvent(timeline, *message.send, false) : u"matched"_s;
    case MessageState::Posted:
        if (sender) {
            return message.post ? u"pending: posted by "_s + rankEvent(timeline, *message.post, false) +
                                      u", not complete"_s
                                : u"pending"_s;
        }
        return message.send
                   ? u"pending: sent by "_s + rankEvent(timeline, *message.send, false) + u", not complete"_s
                   : u"pending"_s;
    case MessageState::Unreceived:
        return u"pending: sent, no receive yet"_s;
    case MessageState::Unsent:
        return u"pending: posted, nothing sent yet"_s;
    case MessageState::Cancelled:
        return u"cancelled"_s;
    case MessageState::Early:
        return message.send ? u"received before the start of the history"_s : u"sent before the start of the history"_s;
    }
    return {};
}

QString raceText(std::uint32_t races, std::uint32_t alternatives) {
    const QString others = alternatives == 1
                               ? u"1 other message could have come"_s
                               : u"%1 other messages could have come"_s.arg(alternatives);
    return races == 1 ? u"raced: "_s + others : u"raced %1 times: up to %2"_s.arg(races).arg(others);
}

QStringList callLines(const replay::Timeline& timeline, CallRef ref, const QString& site) {
    const replay::Call& call = timeline.call(ref);
    const trace::EventDetails& begin = timeline.details(ref.rank, call.beginDetails);
    const bool finished = call.end != EventIndex{0};
    const trace::EventDetails* end = finished ? &timeline.details(ref.rank, call.endDetails) : nullptr;
    QStringList lines;
    lines << functionText(timeline, ref);
    lines << (finished ? u"rank %1, events %2 to %3"_s.arg(rankText(ref.rank))
                             .arg(call.begin.value())
                             .arg(call.end.value())
                       : u"rank %1, event %2, not finished"_s.arg(rankText(ref.rank)).arg(call.begin.value()));
    const TimeNs at = timeline.axisTime(ref.rank, call.begin);
    QString when = u"at "_s + timeLabel(at, std::max<TimeNs>(1, at / 100'000), at);
    if (finished) {
        const TimeNs took = timeline.axisTime(ref.rank, call.end) - at;
        when += took > 0 ? u", takes "_s + durationText(took) : u", too short to tell how long"_s;
    }
    lines << when + u" (approx.)"_s;
    addPeers(lines, timeline, ref.rank, begin, end);
    if (begin.comm != kNoComm) {
        const trace::CommInfo& comm = timeline.comm(ref.rank, begin.comm);
        QString line = commText(timeline, ref.rank, begin.comm);
        const std::size_t members = comm.members.size() + comm.remote.size();
        if (members > 0) {
            line += u", %1 members"_s.arg(members);
        }
        lines << line;
    }
    addCollective(lines, timeline, ref);
    addTransfer(lines, timeline, ref);
    constexpr std::size_t kMost = 4;
    const std::vector<replay::MessageIndex> messages = timeline.messagesOf(ref);
    for (std::size_t i = 0; i < messages.size() && i < kMost; ++i) {
        lines << messageStateText(timeline, timeline.messages()[messages[i].value()], ref);
    }
    if (messages.size() > kMost) {
        lines << u"and %1 more messages"_s.arg(messages.size() - kMost);
    }
    if (end != nullptr) {
        replay::CompletionNames names = replay::completionNames(timeline, ref.rank);
        names.peer = [&](CommIndex comm, std::int32_t peer) { return peerText(timeline, ref.rank, comm, peer); };
        names.errors = false; // they have lines of their own
        if (const QString completed = replay::completedText(timeline, ref.rank, call.end, names); !completed.isEmpty()) {
            lines << completed;
        }
    }
    if (!begin.requests.empty()) {
        lines << u"%n requests"_s.replace(u"%n"_s, QString::number(begin.requests.size()));
    }
    if (call.pollFailures > 0) {
        lines << u"polled %1 times without success"_s.arg(call.pollFailures);
    }
    if (end != nullptr && end->error != trace::ErrorClass::Success) {
        lines << u"failed with "_s + errorText(end->error, end->errorCode);
    }
    if (end != nullptr) {
        addFailedRequests(lines, *end);
    }
    if (!site.isEmpty()) {
        lines << site;
    }
    return lines;
}

QString accessibleCallText(const replay::Timeline& timeline, CallRef ref) {
    return callLines(timeline, ref, {}).join(u"; "_s);
}

} // namespace stopline::viewer
