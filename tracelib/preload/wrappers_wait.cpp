#include "wrappers.h"

namespace stopline::preload {

Operands::Operands(const MPI_Request* handles, int count)
    : m_count(count > 0 && handles != nullptr ? static_cast<std::uint32_t>(count) : 0), m_handles(m_count),
      m_places(handles), m_nodes(m_count), m_refs(m_count), m_completions(m_count) {
    if (m_handles.data() == nullptr || m_nodes.data() == nullptr || m_refs.data() == nullptr ||
        m_completions.data() == nullptr) {
        m_count = 0; // no memory: the call is recorded without its requests
    }
    for (std::uint32_t i = 0; i < m_count; ++i) {
        m_handles[i] = handles[i];
    }
}

void Operands::find() {
    m_shared = rank.requestTable.find(m_handles.data(), static_cast<int>(m_count), m_nodes.data(), m_places);
}

void Operands::look() {
    DetailsView unused;
    find();
    describe(unused);
}

bool Operands::anyPending(const MPI_Status* statuses) const {
    for (std::uint32_t i = 0; i < m_count; ++i) {
        if (statuses[i].MPI_ERROR == MPI_ERR_PENDING) {
            return true;
        }
    }
    return false;
}

void Operands::claim() {
    for (std::uint32_t i = 0; i < m_count; ++i) {
        if (m_nodes[i] != RequestTable::kNone) {
            rank.requestTable.node(m_nodes[i]).claimed = true;
        }
    }
}

void Operands::unclaim() {
    for (std::uint32_t i = 0; i < m_count; ++i) {
        if (m_nodes[i] != RequestTable::kNone) {
            rank.requestTable.node(m_nodes[i]).claimed = false;
        }
    }
}

RequestRef Operands::refOf(std::uint32_t i) {
    if (m_handles[i] == predefined.requestNull || m_handles[i] == kNoRequest) {
        return {RequestRef::kNull};
    }
    if (m_nodes[i] == RequestTable::kNone) {
        return {RequestRef::kUnknown};
    }
    const RequestNode& node = rank.requestTable.node(m_nodes[i]);
    return {node.active ? rank.requests - node.serial : RequestRef::kNull};
}

void Operands::describe(DetailsView& d) {
    for (std::uint32_t i = 0; i < m_count; ++i) {
        m_refs[i] = refOf(i);
    }
    d.requests = m_refs.data();
    d.requestCount = m_count;
    d.shared = m_shared;
}

void Operands::completeOne(std::uint32_t i, const MPI_Status* status, int code, bool release) {
    const RequestRef ref = refOf(i);
    if (ref == RequestRef{RequestRef::kNull}) {
        return;
    }
    Completion& done = m_completions[m_completed++];
    done = {ref, i, {}, trace::ErrorClass::Success, 0};
    if (code != MPI_SUCCESS) [[unlikely]] {
        done.error = errorClass(code);
        done.errorCode = lastingCode(code);
        if (!hasReceived(done.error)) {
            status = nullptr;
        }
    }
    if (ref == RequestRef{RequestRef::kUnknown}) {
        return;
    }
    RequestNode& node = rank.requestTable.node(m_nodes[i]);
    if (status != nullptr && node.kind == RequestKind::Recv) {
        done.status = traceStatusOfRequest(*status);
    } else if (status != nullptr && node.kind == RequestKind::Send) {
        done.status.cancelled = statusCancelled(*status);
    } else if (status != nullptr && node.kind == RequestKind::File) {
        done.status.bytes = statusBytes(*status);
    }
    if (!release) {
        return;
    }
    if (node.kind == RequestKind::CommDup) {
        rank.comms.settle(node.serial);
    }
    if (node.persistent) {
        node.active = false;
    } else {
        rank.requestTable.remove(m_nodes[i]);
    }
}

void Operands::complete(DetailsView& d, Shape shape, const Args& a, const MPI_Status* statuses, int code,
                        bool release) {
    m_completed = 0;
    unclaim();
    const bool good = code == MPI_SUCCESS;
    const bool inStatuses = !good && errorClass(code) == trace::ErrorClass::InStatus;
    // What a call about one request says of it. After an error the handle tells whether the request is gone: else the
    // error was about something else.
    const MPI_Request* left = a.requests != nullptr ? a.requests : a.request;
    const auto completeIfGone = [&](std::uint32_t i, const MPI_Status* status) {
        if (good || (left != nullptr && m_handles[i] != predefined.requestNull &&
                     left[i] == predefined.requestNull)) {
            completeOne(i, status, code, release);
        }
    };
    // What a call about many says of one of them: its status tells, if not all went well.
    const auto completeInStatus = [&](std::uint32_t i, const MPI_Status* status) {
        if (good) {
            completeOne(i, status, MPI_SUCCESS, release);
        } else if (inStatuses && errorClass(status->MPI_ERROR) != trace::ErrorClass::Pending) {
            completeOne(i, status, status->MPI_ERROR, release);
        }
    };
    switch (shape) {
    case Shape::One:
        if (m_count != 0) {
            completeIfGone(0, statuses);
        }
        break;
    case Shape::All:
        for (std::uint32_t i = 0; i < m_count; ++i) {
            completeInStatus(i, statuses + i);
        }
        break;
    case Shape::Any:
        if (*a.index >= 0 && static_cast<std::uint32_t>(*a.index) < m_count) {
            completeIfGone(static_cast<std::uint32_t>(*a.index), statuses);
        }
        break;
    case Shape::Some:
        for (int k = 0; (good || inStatuses) && k < *a.outcount; ++k) {
            if (a.indices[k] >= 0 && static_cast<std::uint32_t>(a.indices[k]) < m_count) {
                completeInStatus(static_cast<std::uint32_t>(a.indices[k]), statuses + k);
            }
        }
        break;
    }
    d.completions = m_completions.data();
    d.completionCount = m_completed;
    d.shared = m_shared && m_completed != 0;
}

void Operands::activate() {
    for (std::uint32_t i = 0; i < m_count; ++i) {
        if (m_nodes[i] != RequestTable::kNone) {
            rank.requestTable.node(m_nodes[i]).active = true;
        }
    }
}

void Operands::startSent() {
    for (std::uint32_t i = 0; i < m_count; ++i) {
        if (m_nodes[i] != RequestTable::kNone) {
            sent.start(rank.requestTable.node(m_nodes[i]).serial);
        }
    }
}

void Operands::forgetSent() {
    for (std::uint32_t i = 0; i < m_count; ++i) {
        if (m_nodes[i] != RequestTable::kNone) {
            sent.forget(rank.requestTable.node(m_nodes[i]).serial);
        }
    }
}

void Operands::started(const Args& a) {
    // Open MPI does so where the last message of a persistent request is complete for the program and not yet gone
    // (buffered and eager sends); it frees the old request later, and then uses its handle again.
    unclaim();
    const MPI_Request* now = a.requests != nullptr ? a.requests : a.request;
    for (std::uint32_t i = 0; i < m_count; ++i) {
        if (m_nodes[i] != RequestTable::kNone && now[i] != m_handles[i]) {
            rank.requestTable.rename(m_nodes[i], now[i]);
        }
    }
}

void Operands::forget() {
    for (std::uint32_t i = 0; i < m_count; ++i) {
        if (m_nodes[i] != RequestTable::kNone) {
            rank.requestTable.remove(m_nodes[i]);
        }
    }
}

bool Operands::follow() {
    if (m_count == 0 || m_nodes[0] == RequestTable::kNone) {
        return false;
    }
    const RequestNode& node = rank.requestTable.node(m_nodes[0]);
    return node.kind == RequestKind::Recv && node.active && rank.freed.add(node.handle, node.serial);
}

} // namespace stopline::preload
