// One-sided communication: windows, what is done through them, and its synchronisation. Part of wrappers.h.
#pragma once

#include "scratch.h"
#include "wrappers.h"

namespace stopline::preload {

inline CommIndex winIndex(MPI_Win win) {
    return rank.comms.indexOf(keyOf(win));
}

template <FunctionId F, typename Call>
int tracedWinCreate(const Args& a, CodeAddress site, Call call) {
    return tracedMake<F>(
        a, site, trace::CommKind::Window, [&] { return *a.winPointer; }, call, [](DetailsView&) {});
}

template <FunctionId F, typename Call>
int tracedWinFree(const Args& a, CodeAddress site, Call call) {
    const MPI_Win freed = *a.winPointer;
    return tracedUnmake<F>(
        site, freed, [&] { return winIndex(freed); }, call);
}

/// Assertions and lock types as the trace has them.
inline std::int32_t traceAssertion(int assertion) {
    return ((assertion & MPI_MODE_NOCHECK) != 0 ? trace::kNoCheck : 0) |
           ((assertion & MPI_MODE_NOPRECEDE) != 0 ? trace::kNoPrecede : 0) |
           ((assertion & MPI_MODE_NOPUT) != 0 ? trace::kNoPut : 0) |
           ((assertion & MPI_MODE_NOSTORE) != 0 ? trace::kNoStore : 0) |
           ((assertion & MPI_MODE_NOSUCCEED) != 0 ? trace::kNoSucceed : 0);
}
inline std::int32_t traceLock(int type) {
    return type == MPI_LOCK_EXCLUSIVE ? trace::kLockExclusive : type == MPI_LOCK_SHARED ? trace::kLockShared : 0;
}

/// The members of a group as ranks in a window; empty where MPI will refuse the one or the other.
class WindowGroup {
  public:
    WindowGroup(MPI_Group group, MPI_Win win);
    [[nodiscard]] const std::int32_t* ranks() const { return m_ranks; }
    [[nodiscard]] std::uint32_t size() const { return m_size; }

  private:
    static constexpr std::size_t kFew = 32;
    Scratch<std::int32_t, kFew, 5> m_own;
    std::int32_t* m_ranks = nullptr;
    std::uint32_t m_size = 0;
};

/// What a call that synchronises says: the window, whom it is about, how.
template <FunctionId F>
void fillWinSync(DetailsView& d, const Args& a) {
    d.comm = winIndex(a.win);
    constexpr bool kOne = F == FunctionId::Win_lock || F == FunctionId::Win_unlock ||
                          F == FunctionId::Win_flush || F == FunctionId::Win_flush_local;
    if constexpr (kOne) {
        d.sendPeer = traceDestination(a.target_rank);
    }
    d.mode = F == FunctionId::Win_lock ? traceLock(a.lock_type) : traceAssertion(a.assertion);
}

template <FunctionId F, typename Call>
int tracedWinSync(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    constexpr bool kOfGroup = F == FunctionId::Win_post || F == FunctionId::Win_start;
    if constexpr (kOfGroup) {
        const WindowGroup group(a.group, a.win);
        return performed(
            frame,
            [&](DetailsView& d) {
                fillWinSync<F>(d, a);
                d.peers = group.ranks();
                d.peerCount = group.size();
            },
            call);
    } else {
        return performed(
            frame, [&](DetailsView& d) { fillWinSync<F>(d, a); }, call);
    }
}

template <FunctionId F, typename Call>
int tracedWinCollective(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    return performed(
        frame,
        [&](DetailsView& d) {
            d.comm = winIndex(a.win);
            d.mode = traceAssertion(a.assertion);
        },
        call);
}

template <FunctionId F, typename Call>
int tracedWinTest(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    return polled(
        frame, [&](DetailsView& d) { d.comm = winIndex(a.win); }, call, [&] { return *a.flag == 0; },
        [](DetailsView&, int) {}, [&] { *a.flag = 0; }, [&] { return untilYes(call, a.flag); });
}

/// Which way the data go: out of the origin, into it, or both.
template <FunctionId F>
void fillRma(DetailsView& d, const Args& a) {
    d.comm = winIndex(a.win);
    d.sendPeer = traceDestination(a.target_rank);
    switch (trace::plainFunction(F)) {
    case FunctionId::Get:
    case FunctionId::Rget:
        d.recvBytes = bytesOf(a.origin_count, a.origin_datatype);
        break;
    case FunctionId::Get_accumulate:
    case FunctionId::Rget_accumulate:
        d.sendBytes = bytesOf(a.origin_count, a.origin_datatype);
        d.recvBytes = bytesOf(a.result_count, a.result_datatype);
        break;
    case FunctionId::Fetch_and_op:
    case FunctionId::Compare_and_swap:
        d.sendBytes = bytesOf(1, a.datatype);
        d.recvBytes = d.sendBytes;
        break;
    default:
        d.sendBytes = bytesOf(a.origin_count, a.origin_datatype);
        break;
    }
}

template <FunctionId F, typename Call>
int tracedRma(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    return performed(
        frame, [&](DetailsView& d) { fillRma<F>(d, a); }, call);
}

template <FunctionId F, typename Call>
int tracedRmaRequest(const Args& a, CodeAddress site, Call call) {
    return tracedCreate<F>(a, site, RequestKind::Plain, call, [&](DetailsView& d) { fillRma<F>(d, a); });
}

} // namespace stopline::preload
