// Takes serialised details apart without keeping their lists: for the reader, which puts them into vectors, and for the
// preloaded library, which may not allocate. Every input is taken as hostile.
#pragma once

#include "byte_reader.h"
#include "codec.h"
#include "event.h"

#include <limits>

namespace stopline::trace {

inline constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();

inline RequestRef requestOfNumber(ByteReader& in, std::uint64_t number) {
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
inline std::uint64_t stepped(std::uint64_t value, std::int64_t step) {
    return value + static_cast<std::uint64_t>(step);
}

/// A list that is stored as runs of equal steps: `readStep()` reads a step, `addNext(step)` adds one element
/// that is this step behind the one before it.
template <typename ReadStep, typename AddNext>
void readRuns(ByteReader& in, std::uint64_t most, ReadStep readStep, AddNext addNext) {
    std::uint64_t left = in.varintUpTo(most);
    while (in.ok() && left != 0) {
        const auto step = readStep();
        const std::uint64_t run = in.varintUpTo(left);
        if (run == 0) {
            in.fail();
        }
        for (std::uint64_t i = 0; in.ok() && i < run; ++i) {
            addNext(step);
        }
        left -= in.ok() ? run : 0;
    }
}

template <typename Take>
void readRequests(ByteReader& in, Take&& take) {
    std::uint64_t number = 0;
    readRuns(
        in, kMaxListed, [&] { return in.signedVarint(); },
        [&](std::int64_t step) {
            number = stepped(number, step);
            take(requestOfNumber(in, number));
        });
}

inline bool fits32(std::int64_t value) {
    return value >= std::numeric_limits<std::int32_t>::min() &&
           value <= std::numeric_limits<std::int32_t>::max();
}

inline Status readStatus(ByteReader& in) {
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

inline void readError(ByteReader& in, ErrorClass& error, std::int32_t& code) {
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

inline CompletionStep readCompletionStep(ByteReader& in) {
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

template <typename Take>
void readCompletions(ByteReader& in, Take&& take) {
    std::uint64_t request = 0;
    std::uint64_t index = 0;
    auto source = static_cast<std::uint64_t>(std::int64_t{kNoPeer});
    auto tag = static_cast<std::uint64_t>(std::int64_t{kNoTag});
    std::uint64_t bytes = 0;
    readRuns(
        in, kMaxListed, [&] { return readCompletionStep(in); },
        [&](const CompletionStep& step) {
            request = stepped(request, step.request);
            index = stepped(index, step.index);
            source = stepped(source, step.source);
            tag = stepped(tag, step.tag);
            bytes = stepped(bytes, step.bytes);
            const auto signedSource = static_cast<std::int64_t>(source);
            const auto signedTag = static_cast<std::int64_t>(tag);
            if (index > kMax32 || !fits32(signedSource) || !fits32(signedTag)) {
                in.fail();
                return;
            }
            Completion added;
            added.request = requestOfNumber(in, request);
            added.index = static_cast<std::uint32_t>(index);
            added.status = {static_cast<std::int32_t>(signedSource), static_cast<std::int32_t>(signedTag),
                            bytes, step.cancelled};
            added.error = step.error;
            added.errorCode = step.errorCode;
            take(added);
        });
}

template <typename Take>
void readRanks(ByteReader& in, std::uint64_t most, Take&& take) {
    auto rank = static_cast<std::uint64_t>(std::int64_t{-1});
    readRuns(
        in, most, [&] { return in.signedVarint(); },
        [&](std::int64_t step) {
            rank = stepped(rank, step);
            if (!fits32(static_cast<std::int64_t>(rank))) {
                in.fail();
                return;
            }
            take(static_cast<std::int32_t>(static_cast<std::int64_t>(rank)));
        });
}

/// Reads details as encodeDetails() writes them. `Details` is EventDetails or DetailsView, of which the fields are set
/// and the lists are left alone: their elements go to `lists`.request(), completion() and peer(). False when the bytes
/// are not valid; what came before is set.
template <typename Details, typename Lists>
bool scanDetails(ByteReader& in, Details& d, Lists&& lists) {
    d = Details{};
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
    d.shared = (flags & kIsShared) != 0;
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
        readRequests(in, [&lists](RequestRef ref) { lists.request(ref); });
    }
    if (has(kHasError)) {
        readError(in, d.error, d.errorCode);
    }
    if (has(kHasStatus)) {
        d.status = readStatus(in);
    }
    if (has(kHasCompletions)) {
        readCompletions(in, [&lists](const Completion& completion) { lists.completion(completion); });
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
        readRanks(in, kMaxListed, [&lists](std::int32_t peer) { lists.peer(peer); });
    }
    return in.ok();
}

/// For scanDetails(): the lists are not wanted.
struct NoLists {
    void request(RequestRef) {}
    void completion(const Completion&) {}
    void peer(std::int32_t) {}
};

} // namespace stopline::trace
