#include "frame.h"

#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

namespace stopline::preload {

void registerThread() {
    const int savedErrno = errno;
    thread.tid = static_cast<std::int32_t>(syscall(SYS_gettid));
    errno = savedErrno;
    const RankLock lock;
    thread.ordinal = static_cast<std::uint16_t>(rank.threads < 0xffff ? rank.threads++ : 0xffff);
    if (thread.ordinal != 0) {
        forced.foundThread();
    }
}

trace::ErrorClass errorClass(int code) {
    const Asking asking;
    int result = code;
    if (real.Error_class(code, &result) != MPI_SUCCESS) {
        return trace::ErrorClass::Unlisted;
    }
    switch (result) {
    case MPI_SUCCESS:
        return trace::ErrorClass::Success;
#define STOPLINE_ERROR(name, mpiName)                                                                        \
    case MPI_ERR_##mpiName:                                                                                  \
        return trace::ErrorClass::name;
#include "../errors.def"
#undef STOPLINE_ERROR
    default:
        return trace::ErrorClass::Unlisted;
    }
}

void addFreedNow(DetailsView& d) {
    rank.freed.poll();
    const std::span<const Completion> complete = rank.freed.takeComplete(rank.requests);
    d.completions = complete.data();
    d.completionCount = static_cast<std::uint32_t>(complete.size());
}

std::uint64_t Frame::closePoll(const DetailsView& details, TimeNs execution) {
    const std::uint64_t failures = rank.poll.failures;
    rank.poll.open.store(false, std::memory_order_relaxed);
    if (forced.concernsPoll()) {
        forced.poll.on = false;
    }
    const std::uint64_t number = rank.recorder.append(details, execution, failures);
    tell(details, number);
    rank.header->pollOpen.store(0, std::memory_order_relaxed);
    rank.header->pollFailures.store(0, std::memory_order_relaxed);
    return number;
}

void Frame::endOpenPollNow() {
    std::uint64_t number = 0;
    {
        const RankLock lock;
        if (!pollIsOpen()) {
            return;
        }
        // Described as the poll that was begun, not by the last one that failed: how often is a matter of
        // chance.
        DetailsView d;
        d.kind = EventKind::End;
        d.function = rank.poll.function;
        d.thread = rank.poll.thread;
        d.site = rank.poll.site;
        d.flag = false;
        number = closePoll(d, executionTime(clockNow()));
    }
    if (forced.concerns(number)) [[unlikely]] {
        forced.await(number);
    }
    holdIfWanted(number);
}

} // namespace stopline::preload
