#include "codec.h"

namespace stopline::trace {

namespace {

/// Requests as numbers whose differences repeat: the two special values get the smallest.
std::int64_t requestNumber(RequestRef ref) {
    if (ref.back == RequestRef::kNull) {
        return 0;
    }
    if (ref.back == RequestRef::kUnknown) {
        return 1;
    }
    return std::int64_t{ref.back} + 2;
}

/// Lists are runs of equal differences, so that a Waitall over a thousand requests takes a few bytes.
/// `stepTo(i)` is the difference of element i to the one before it.
template <typename StepTo, typename WriteStep>
void writeRuns(ByteWriter& out, std::uint32_t count, StepTo stepTo, WriteStep writeStep) {
    out.varint(count);
    for (std::uint32_t i = 0; i < count;) {
        const auto step = stepTo(i);
        const std::uint32_t first = i;
        while (i < count && stepTo(i) == step) {
            ++i;
        }
        writeStep(step);
        out.varint(i - first);
    }
}

void writeRequests(ByteWriter& out, const RequestRef* refs, std::uint32_t count) {
    writeRuns(
        out, count,
        [refs](std::uint32_t i) {
            return requestNumber(refs[i]) - (i == 0 ? 0 : requestNumber(refs[i - 1]));
        },
        [&out](std::int64_t step) { out.signedVarint(step); });
}

void writeStatus(ByteWriter& out, const Status& status) {
    out.byte(status.cancelled ? 1 : 0);
    out.signedVarint(status.source);
    out.signedVarint(status.tag);
    out.varint(status.bytes);
}

void writeError(ByteWriter& out, ErrorClass error, std::int32_t code) {
    out.varint(static_cast<std::uint32_t>(error));
    out.signedVarint(code);
}

/// One completion as differences to the one before it.
struct CompletionStep {
    std::int64_t request, index, source, tag, bytes;
    ErrorClass error; // itself, as its code and whether cancelled
    std::int32_t errorCode;
    bool cancelled;
    friend bool operator==(const CompletionStep&, const CompletionStep&) = default;
};

CompletionStep stepBetween(const Completion& from, const Completion& to) {
    return {requestNumber(to.request) - requestNumber(from.request),
            std::int64_t{to.index} - std::int64_t{from.index},
            std::int64_t{to.status.source} - from.status.source,
            std::int64_t{to.status.tag} - from.status.tag,
            static_cast<std::int64_t>(to.status.bytes - from.status.bytes),
            to.error,
            to.errorCode,
            to.status.cancelled};
}

void writeCompletions(ByteWriter& out, const Completion* list, std::uint32_t count) {
    writeRuns(
        out, count,
        [list](std::uint32_t i) { return stepBetween(i == 0 ? Completion{} : list[i - 1], list[i]); },
        [&out](const CompletionStep& step) {
            const bool failed = step.error != ErrorClass::Success || step.errorCode != 0;
            out.byte(static_cast<std::uint8_t>((step.cancelled ? kIsCancelled : 0) | (failed ? kHasFailed : 0)));
            if (failed) {
                writeError(out, step.error, step.errorCode);
            }
            for (const std::int64_t part : {step.request, step.index, step.source, step.tag, step.bytes}) {
                out.signedVarint(part);
            }
        });
}

/// All bits of an id are used: a varint would be longer.
void writeWord(ByteWriter& out, std::uint64_t word) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
        out.byte(static_cast<std::uint8_t>(word >> shift));
    }
}

void writeRanks(ByteWriter& out, const std::int32_t* ranks, std::uint32_t count) {
    writeRuns(
        out, count,
        [ranks](std::uint32_t i) { return std::int64_t{ranks[i]} - (i == 0 ? -1 : ranks[i - 1]); },
        [&out](std::int64_t step) { out.signedVarint(step); });
}

} // namespace

std::size_t encodeDetails(const DetailsView& d, std::byte* bytes, std::size_t capacity) {
    std::uint32_t fields = 0;
    const auto present = [&fields](bool condition, std::uint32_t bit) { fields |= condition ? bit : 0U; };
    present(d.thread != 0, kHasThread);
    present(d.site.value() != 0, kHasSite);
    present(d.comm != kNoComm, kHasComm);
    present(d.sendPeer != kNoPeer, kHasSendPeer);
    present(d.sendTag != kNoTag, kHasSendTag);
    present(d.sendBytes != 0, kHasSendBytes);
    present(d.recvPeer != kNoPeer, kHasRecvPeer);
    present(d.recvTag != kNoTag, kHasRecvTag);
    present(d.recvBytes != 0, kHasRecvBytes);
    present(d.root != kNoPeer, kHasRoot);
    present(d.requestCount != 0, kHasRequests);
    present(d.error != ErrorClass::Success || d.errorCode != 0, kHasError);
    present(!(d.status == Status{}), kHasStatus);
    present(d.completionCount != 0, kHasCompletions);
    present(d.newComm != kNoComm, kHasNewComm);
    present(!(d.message == RequestRef{}), kHasMessage);
    present(d.mode != 0, kHasMode);
    present(d.peerCount != 0, kHasPeers);

    ByteWriter out(bytes, capacity);
    out.byte(static_cast<std::uint8_t>((d.kind == EventKind::End ? kIsEnd : 0) | (d.flag ? 0 : kFlagFalse) |
                                       (d.truncated ? kIsTruncated : 0) | (d.shared ? kIsShared : 0)));
    out.varint(static_cast<std::uint16_t>(d.function));
    out.varint(fields);
    if ((fields & kHasThread) != 0) {
        out.varint(d.thread);
    }
    if ((fields & kHasSite) != 0) {
        out.varint(d.site.value());
    }
    if ((fields & kHasComm) != 0) {
        out.varint(d.comm.value());
    }
    if ((fields & kHasSendPeer) != 0) {
        out.signedVarint(d.sendPeer);
    }
    if ((fields & kHasSendTag) != 0) {
        out.signedVarint(d.sendTag);
    }
    if ((fields & kHasSendBytes) != 0) {
        out.varint(d.sendBytes);
    }
    if ((fields & kHasRecvPeer) != 0) {
        out.signedVarint(d.recvPeer);
    }
    if ((fields & kHasRecvTag) != 0) {
        out.signedVarint(d.recvTag);
    }
    if ((fields & kHasRecvBytes) != 0) {
        out.varint(d.recvBytes);
    }
    if ((fields & kHasRoot) != 0) {
        out.signedVarint(d.root);
    }
    if ((fields & kHasRequests) != 0) {
        writeRequests(out, d.requests, d.requestCount);
    }
    if ((fields & kHasError) != 0) {
        writeError(out, d.error, d.errorCode);
    }
    if ((fields & kHasStatus) != 0) {
        writeStatus(out, d.status);
    }
    if ((fields & kHasCompletions) != 0) {
        writeCompletions(out, d.completions, d.completionCount);
    }
    if ((fields & kHasNewComm) != 0) {
        out.varint(d.newComm.value());
    }
    if ((fields & kHasMessage) != 0) {
        out.varint(static_cast<std::uint64_t>(requestNumber(d.message)));
    }
    if ((fields & kHasMode) != 0) {
        out.signedVarint(d.mode);
    }
    if ((fields & kHasPeers) != 0) {
        writeRanks(out, d.peers, d.peerCount);
    }
    return out.ok() ? out.used() : 0;
}

std::size_t encodeComm(const CommView& comm, std::byte* bytes, std::size_t capacity) {
    ByteWriter out(bytes, capacity);
    writeWord(out, comm.id);
    out.byte(static_cast<std::uint8_t>(comm.kind));
    out.varint(comm.parent.value());
    out.varint(comm.ordinal);
    writeRanks(out, comm.members, comm.memberCount);
    writeRanks(out, comm.remote, comm.remoteCount);
    out.varint(comm.jobCount);
    for (std::uint32_t i = 0; i < comm.jobCount; ++i) {
        writeWord(out, comm.jobs[i].job);
        out.varint(comm.jobs[i].count);
    }
    return out.ok() ? out.used() : 0;
}

} // namespace stopline::trace
