#include "decode.h"

#include "codec.h"
#include "reader.h"

#include <limits>

namespace stopline::trace {

std::uint8_t ByteReader::byte() {
    if (!m_ok || m_used == m_bytes.size()) {
        m_ok = false;
        return 0;
    }
    return static_cast<std::uint8_t>(m_bytes[m_used++]);
}

std::uint64_t ByteReader::varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::uint8_t part = byte();
        const std::uint64_t bits = part & 0x7fU;
        if (shift == 63 && bits > 1) {
            break;
        }
        value |= bits << shift;
        if ((part & 0x80U) == 0) {
            return m_ok ? value : 0;
        }
    }
    m_ok = false;
    return 0;
}

std::int64_t ByteReader::signedVarint() {
    return unzigzag(varint());
}

std::uint64_t ByteReader::varintUpTo(std::uint64_t limit) {
    const std::uint64_t value = varint();
    if (value > limit) {
        m_ok = false;
        return 0;
    }
    return value;
}

std::int32_t ByteReader::signed32() {
    const std::int64_t value = signedVarint();
    if (value < std::numeric_limits<std::int32_t>::min() ||
        value > std::numeric_limits<std::int32_t>::max()) {
        m_ok = false;
        return 0;
    }
    return static_cast<std::int32_t>(value);
}

void ByteReader::skip(std::size_t bytes) {
    if (bytes > m_bytes.size() - m_used) {
        m_ok = false;
    } else {
        m_used += bytes;
    }
}

namespace {

constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();

RequestRef requestOfNumber(ByteReader& in, std::uint64_t number) {
    if (number == 0) {
        return {RequestRef::kNull};
    }
    if (number == 1) {
        return {RequestRef::kUnknown};
    }
    if (number - 2 >= RequestRef::kUnknown) {
        in.fail();
        return {};
    }
    return {static_cast<std::uint32_t>(number - 2)};
}

/// Adds without overflow being undefined; hostile differences wrap and are then refused by the range check.
std::uint64_t add(std::uint64_t value, std::int64_t step) {
    return value + static_cast<std::uint64_t>(step);
}

/// A list that is stored as runs of equal steps: `readStep()` reads a step, `addNext(step)` adds one element
/// that is this step behind the one before it.
template <typename T, typename ReadStep, typename AddNext>
void readRuns(ByteReader& in, std::vector<T>& list, std::uint64_t most, ReadStep readStep, AddNext addNext) {
    const std::uint64_t count = in.varintUpTo(most);
    while (in.ok() && list.size() < count) {
        const auto step = readStep();
        const std::uint64_t run = in.varintUpTo(count - list.size());
        if (run == 0) {
            in.fail();
        }
        for (std::uint64_t i = 0; in.ok() && i < run; ++i) {
            addNext(step);
        }
    }
}

void readRequests(ByteReader& in, std::vector<RequestRef>& list) {
    std::uint64_t number = 0;
    readRuns(
        in, list, kMaxListed, [&] { return in.signedVarint(); },
        [&](std::int64_t step) {
            number = add(number, step);
            list.push_back(requestOfNumber(in, number));
        });
}

bool fits32(std::int64_t value) {
    return value >= std::numeric_limits<std::int32_t>::min() &&
           value <= std::numeric_limits<std::int32_t>::max();
}

Status readStatus(ByteReader& in) {
    Status status;
    const std::uint8_t cancelled = in.byte();
    if (cancelled > 1) {
        in.fail();
    }
    status.cancelled = cancelled != 0;
    status.source = in.signed32();
    status.tag = in.signed32();
    status.bytes = in.varint();
    return status;
}

void readError(ByteReader& in, ErrorClass& error, std::int32_t& code) {
    error = static_cast<ErrorClass>(in.varintUpTo(static_cast<std::uint64_t>(ErrorClass::Unlisted)));
    code = in.signed32();
}

/// One completion as differences to the one before it.
struct CompletionStep {
    bool cancelled;
    ErrorClass error;
    std::int32_t errorCode;
    std::int64_t request, index, source, tag, bytes;
};

CompletionStep readCompletionStep(ByteReader& in) {
    const std::uint8_t flags = in.byte();
    if (flags > kAllCompletionFlags) {
        in.fail();
    }
    CompletionStep step{(flags & kIsCancelled) != 0, ErrorClass::Success, 0, 0, 0, 0, 0, 0};
    if ((flags & kHasFailed) != 0) {
        readError(in, step.error, step.errorCode);
    }
    for (std::int64_t* part : {&step.request, &step.index, &step.source, &step.tag, &step.bytes}) {
        *part = in.signedVarint();
    }
    return step;
}

void readCompletions(ByteReader& in, std::vector<Completion>& list) {
    std::uint64_t request = 0;
    std::uint64_t index = 0;
    auto source = static_cast<std::uint64_t>(std::int64_t{kNoPeer});
    auto tag = static_cast<std::uint64_t>(std::int64_t{kNoTag});
    std::uint64_t bytes = 0;
    readRuns(
        in, list, kMaxListed, [&] { return readCompletionStep(in); },
        [&](const CompletionStep& step) {
            request = add(request, step.request);
            index = add(index, step.index);
            source = add(source, step.source);
            tag = add(tag, step.tag);
            bytes = add(bytes, step.bytes);
            const auto signedSource = static_cast<std::int64_t>(source);
            const auto signedTag = static_cast<std::int64_t>(tag);
            if (index > kMax32 || !fits32(signedSource) || !fits32(signedTag)) {
                in.fail();
                return;
            }
            Completion& added = list.emplace_back();
            added.request = requestOfNumber(in, request);
            added.index = static_cast<std::uint32_t>(index);
            added.status = {static_cast<std::int32_t>(signedSource), static_cast<std::int32_t>(signedTag),
                            bytes, step.cancelled};
            added.error = step.error;
            added.errorCode = step.errorCode;
        });
}

void readRanks(ByteReader& in, std::vector<std::int32_t>& list, std::uint64_t most) {
    auto rank = static_cast<std::uint64_t>(std::int64_t{-1});
    readRuns(
        in, list, most, [&] { return in.signedVarint(); },
        [&](std::int64_t step) {
            rank = add(rank, step);
            if (!fits32(static_cast<std::int64_t>(rank))) {
                in.fail();
                return;
            }
            list.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(rank)));
        });
}

std::uint64_t readWord(ByteReader& in) {
    std::uint64_t word = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        word |= std::uint64_t{in.byte()} << shift;
    }
    return word;
}

/// All members are of some job, or nothing is said of any.
void readJobs(ByteReader& in, CommInfo& comm) {
    const std::uint64_t members = comm.members.size() + comm.remote.size();
    const std::uint64_t runs = in.varintUpTo(members);
    std::uint64_t named = 0;
    for (std::uint64_t i = 0; i < runs && in.ok(); ++i) {
        const JobKey job = readWord(in);
        const std::uint64_t count = in.varintUpTo(members - named);
        named += count;
        comm.jobs.push_back({job, static_cast<std::uint32_t>(count)});
    }
    if (runs != 0 && named != members) {
        in.fail();
    }
}

} // namespace

bool readDetails(ByteReader& in, EventDetails& d) {
    d = EventDetails{};
    const std::uint8_t flags = in.byte();
    const std::uint64_t function = in.varint();
    const std::uint64_t fields = in.varint();
    if (flags > kAllFlags || function >= static_cast<std::uint64_t>(FunctionId::Count) ||
        fields > kAllFields) {
        in.fail();
        return false;
    }
    const auto has = [fields](DetailsField bit) { return (fields & bit) != 0; };
    d.kind = (flags & kIsEnd) != 0 ? EventKind::End : EventKind::Begin;
    d.flag = (flags & kFlagFalse) == 0;
    d.truncated = (flags & kIsTruncated) != 0;
    d.function = static_cast<FunctionId>(function);
    if (has(kHasThread)) {
        d.thread = static_cast<std::uint16_t>(in.varintUpTo(std::numeric_limits<std::uint16_t>::max()));
    }
    if (has(kHasSite)) {
        d.site = CodeAddress{in.varint()};
    }
    if (has(kHasComm)) {
        d.comm = CommIndex{static_cast<std::uint32_t>(in.varintUpTo(kMax32))};
    }
    if (has(kHasSendPeer)) {
        d.sendPeer = in.signed32();
    }
    if (has(kHasSendTag)) {
        d.sendTag = in.signed32();
    }
    if (has(kHasSendBytes)) {
        d.sendBytes = in.varint();
    }
    if (has(kHasRecvPeer)) {
        d.recvPeer = in.signed32();
    }
    if (has(kHasRecvTag)) {
        d.recvTag = in.signed32();
    }
    if (has(kHasRecvBytes)) {
        d.recvBytes = in.varint();
    }
    if (has(kHasRoot)) {
        d.root = in.signed32();
    }
    if (has(kHasRequests)) {
        readRequests(in, d.requests);
    }
    if (has(kHasError)) {
        readError(in, d.error, d.errorCode);
    }
    if (has(kHasStatus)) {
        d.status = readStatus(in);
    }
    if (has(kHasCompletions)) {
        readCompletions(in, d.completions);
    }
    if (has(kHasNewComm)) {
        d.newComm = CommIndex{static_cast<std::uint32_t>(in.varintUpTo(kMax32))};
    }
    if (has(kHasMessage)) {
        d.message = requestOfNumber(in, in.varint());
    }
    if (has(kHasMode)) {
        d.mode = in.signed32();
    }
    if (has(kHasPeers)) {
        readRanks(in, d.peers, kMaxListed);
    }
    return in.ok();
}

bool readComm(ByteReader& in, CommInfo& comm) {
    comm = CommInfo{};
    comm.id = readWord(in);
    const std::uint8_t kind = in.byte();
    if (kind > static_cast<std::uint8_t>(CommKind::File)) {
        in.fail();
        return false;
    }
    comm.kind = static_cast<CommKind>(kind);
    comm.parent = CommIndex{static_cast<std::uint32_t>(in.varintUpTo(kMax32))};
    comm.ordinal = static_cast<std::uint32_t>(in.varintUpTo(kMax32));
    readRanks(in, comm.members, kMaxMembers);
    readRanks(in, comm.remote, kMaxMembers);
    readJobs(in, comm);
    return in.ok();
}

bool decodeDetails(std::span<const std::byte> bytes, EventDetails& details, std::size_t& used) {
    ByteReader in(bytes);
    const bool good = readDetails(in, details);
    used = good ? in.used() : 0;
    return good;
}

DetailsView viewOf(const EventDetails& d) {
    DetailsView view;
    view.kind = d.kind;
    view.flag = d.flag;
    view.truncated = d.truncated;
    view.function = d.function;
    view.thread = d.thread;
    view.site = d.site;
    view.comm = d.comm;
    view.sendPeer = d.sendPeer;
    view.sendTag = d.sendTag;
    view.sendBytes = d.sendBytes;
    view.recvPeer = d.recvPeer;
    view.recvTag = d.recvTag;
    view.recvBytes = d.recvBytes;
    view.root = d.root;
    view.error = d.error;
    view.errorCode = d.errorCode;
    view.status = d.status;
    view.newComm = d.newComm;
    view.message = d.message;
    view.mode = d.mode;
    view.requests = d.requests.data();
    view.requestCount = static_cast<std::uint32_t>(d.requests.size());
    view.completions = d.completions.data();
    view.completionCount = static_cast<std::uint32_t>(d.completions.size());
    view.peers = d.peers.data();
    view.peerCount = static_cast<std::uint32_t>(d.peers.size());
    return view;
}

std::vector<std::byte> encodeDetails(const EventDetails& d) {
    const DetailsView view = viewOf(d);
    // No field takes more than twelve bytes, no list entry more than eight such fields with their run.
    std::vector<std::byte> bytes(256 + 24 * (d.requests.size() + d.peers.size()) + 96 * d.completions.size());
    bytes.resize(encodeDetails(view, bytes.data(), bytes.size()));
    return bytes;
}

std::uint8_t encodeDelta(TimeNs delta) {
    return codeOfDelta(delta);
}

TimeNs decodeDelta(std::uint8_t code) {
    return deltaOfCode(code);
}

} // namespace stopline::trace
