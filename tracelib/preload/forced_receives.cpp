// Persistent receives of a re-execution, and those of ours that stand for them.
#include "forced.h"
#include "wrappers.h"

#include <climits>

namespace stopline::preload {

void Forced::rememberReceive(const Args& a) {
    if (a.count > INT_MAX || *a.request == predefined.requestNull) {
        return;
    }
    const Asking asking;
    MPI_Datatype copy = predefined.datatypeNull;
    if (real.Type_dup(a.datatype, &copy) != MPI_SUCCESS) {
        return;
    }
    const RankLock lock;
    const std::size_t count = m_receiveCount.load(std::memory_order_relaxed);
    if (!m_receives.reserve(count + 1)) {
        real.Type_free(&copy);
        return;
    }
    m_receives[count] = {*a.request, predefined.requestNull, const_cast<void*>(a.buf), static_cast<int>(a.count), a.tag, copy, a.comm};
    m_receiveCount.store(count + 1, std::memory_order_relaxed);
}

Forced::Receive* Forced::find(MPI_Request handle) {
    const std::size_t count = m_receiveCount.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < count; ++i) {
        if (m_receives[i].handle == handle) {
            return &m_receives[i];
        }
    }
    return nullptr;
}

std::optional<Forced::Receive> Forced::copyOf(MPI_Request handle) {
    const RankLock lock;
    const Receive* receive = find(handle);
    return receive == nullptr ? std::nullopt : std::optional(*receive);
}

/// MPI may have made another request of it.
void Forced::renamed(MPI_Request handle, MPI_Request now) {
    const RankLock lock;
    if (Receive* receive = find(handle)) {
        receive->handle = now;
    }
}

bool Forced::forget(MPI_Request request, bool followed) {
    std::optional<Receive> gone;
    {
        const RankLock lock;
        Receive* receive = find(request);
        if (receive == nullptr) {
            return false;
        }
        gone = *receive;
        const std::size_t last = m_receiveCount.load(std::memory_order_relaxed) - 1;
        *receive = m_receives[last];
        m_receiveCount.store(last, std::memory_order_relaxed);
        if (gone->shadow != predefined.requestNull) {
            m_shadows.fetch_sub(1, std::memory_order_relaxed);
            if (followed) {
                rank.freed.replace(request, gone->shadow);
            }
        }
    }
    const Asking asking;
    const bool shadowed = gone->shadow != predefined.requestNull;
    if (shadowed && !followed) {
        real.Request_free(&gone->shadow);
    }
    real.Type_free(&gone->datatype);
    return shadowed && followed;
}

MPI_Request Forced::shadowOf(MPI_Request request) {
    const RankLock lock;
    const Receive* receive = request == predefined.requestNull ? nullptr : find(request);
    return receive == nullptr ? predefined.requestNull : receive->shadow;
}

void Forced::shadowIs(MPI_Request request, MPI_Request now) {
    const RankLock lock;
    Receive* receive = find(request);
    if (receive == nullptr || receive->shadow == now) {
        return;
    }
    const bool was = receive->shadow != predefined.requestNull;
    const bool is = now != predefined.requestNull;
    receive->shadow = now;
    if (is && !was) {
        m_shadows.fetch_add(1, std::memory_order_relaxed);
    } else if (was && !is) {
        m_shadows.fetch_sub(1, std::memory_order_relaxed);
    }
}

void Shadows::substitute() {
    if (m_users.data() == nullptr) { // no memory: MPI sees requests that are not on
        m_count = 0;
        return;
    }
    for (std::size_t i = 0; i < m_count; ++i) {
        const MPI_Request shadow = forced.shadowOf(m_requests[i]);
        m_users[i] = predefined.requestNull;
        if (shadow != predefined.requestNull) {
            m_users[i] = m_requests[i];
            m_requests[i] = shadow;
        }
    }
}

void Shadows::restore() {
    for (std::size_t i = 0; i < m_count; ++i) {
        if (m_users[i] != predefined.requestNull) {
            forced.shadowIs(m_users[i], m_requests[i]);
            m_requests[i] = m_users[i];
        }
    }
}

} // namespace stopline::preload
