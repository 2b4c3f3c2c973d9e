// What the rank sends beside what it sent in the execution that is followed: hashes in the log of values.
#include "rank.h"
#include "sent.h"
#include "values_impl.h"

namespace stopline::preload {

using trace::ValueKind;

namespace {

std::uint64_t toldHash; ///< as last told

/// The rank holds at its next event, as at a threshold, so that it is still there when the debugger sees why; not once the
/// log has been left, as then nobody asks any more.
void differs() {
    const std::uint64_t event = rank.recorder.lastEvent();
    std::uint64_t none = 0;
    if (!following.header->sentDiffers.compare_exchange_strong(none, event, std::memory_order_relaxed) ||
        following.header->orderLeft.load(std::memory_order_relaxed) != 0) {
        return;
    }
    std::uint64_t threshold = following.header->threshold.load(std::memory_order_relaxed);
    while (threshold > event && !following.header->threshold.compare_exchange_weak(threshold, event, std::memory_order_seq_cst)) {
    }
    if (following.header->orderLeft.load(std::memory_order_seq_cst) != 0) { // meanwhile, and before the debugger took it back
        threshold = event;
        following.header->threshold.compare_exchange_strong(threshold, kNoThreshold.value(), std::memory_order_acq_rel);
    }
}

} // namespace

void passHashes() {
    for (; following.log.kind() == ValueKind::Sent; following.next()) {
        if (!sent.hashes) {
            continue;
        }
        if (following.log.event() > rank.recorder.lastEvent()) {
            return;
        }
        if (static_cast<std::uint64_t>(following.log.value()) != toldHash) {
            differs();
        }
    }
}

void noteSent(std::uint64_t hash) {
    toldHash = hash;
    if (valueState.noting && !valueState.busy && rank.owner && isMainThread()) {
        valueState.busy = true;
        noteValue(ValueKind::Sent, static_cast<std::int64_t>(hash));
        valueState.busy = false;
    }
}

void compareSent(std::uint64_t hash, bool after) {
    toldHash = hash;
    if (!following.on || !isMainThread()) {
        return;
    }
    const std::uint64_t now = rank.recorder.lastEvent();
    for (; following.log.kind() == ValueKind::Sent && following.log.event() <= now; following.next()) {
        if (static_cast<std::uint64_t>(following.log.value()) != hash) {
            if (!after && following.log.event() == now) {
                return; // of this very message
            }
            differs();
        }
    }
}

} // namespace stopline::preload
