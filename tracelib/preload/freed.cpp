#include "frame.h"
#include "real.h"

#include <algorithm>

namespace stopline::preload {

bool FreedRequests::add(MPI_Request handle, std::uint32_t serial) {
    if (!m_freed.reserve(m_count + 1)) {
        return false;
    }
    m_freed[m_count++] = {handle, serial, {}};
    return true;
}

void FreedRequests::replace(MPI_Request handle, MPI_Request by) {
    for (std::size_t i = m_count; i-- > 0;) {
        if (m_freed[i].handle == handle) {
            m_freed[i].handle = by;
            return;
        }
    }
}

const FreedRequests::Freed* FreedRequests::find(std::uint32_t serial) {
    for (std::size_t i = 0; i < m_count; ++i) {
        if (m_freed[i].serial == serial) {
            return &m_freed[i];
        }
    }
    return nullptr;
}

void FreedRequests::poll() {
    const Asking asking;
    for (std::size_t i = 0; i < m_count; ++i) {
        Freed& freed = m_freed[i];
        int flag = 0;
        if (freed.handle == kNoRequest) {
            continue;
        }
        // Asking does not call the user's error handler, as completing would: nobody is to hear of a freed
        // request.
        if (real.Request_get_status(freed.handle, &flag, &freed.status) != MPI_SUCCESS) {
            freed.status.MPI_SOURCE = MPI_ANY_SOURCE; // it has ended, and brought no message that is known
            freed.handle = kNoRequest;
        } else if (flag != 0) {
            real.Request_free(&freed.handle);
            freed.handle = kNoRequest;
        }
    }
}

void FreedRequests::pollForTheLastTime() {
    poll();
    const Asking asking;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < m_count; ++i) {
        if (m_freed[i].handle == kNoRequest) {
            m_freed[kept++] = m_freed[i];
        } else {
            real.Request_free(&m_freed[i].handle); // as the user asked
        }
    }
    m_count = kept;
}

std::span<const trace::Completion> FreedRequests::takeComplete(std::uint32_t newest) {
    const auto complete = static_cast<std::size_t>(
        std::count_if(m_freed.data(), m_freed.data() + m_count, [](const Freed& one) { return one.handle == kNoRequest; }));
    const std::size_t room = m_told.reserve(std::min(complete, kAtOnce)) ? kAtOnce : m_told.capacity();
    std::size_t taken = 0;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < m_count; ++i) {
        if (m_freed[i].handle == kNoRequest && taken < room) {
            m_told[taken] = {{newest - m_freed[i].serial}, static_cast<std::uint32_t>(taken), traceStatusOfRequest(m_freed[i].status)};
            ++taken;
        } else {
            m_freed[kept++] = m_freed[i];
        }
    }
    m_count = kept;
    return {m_told.data(), taken};
}

} // namespace stopline::preload
