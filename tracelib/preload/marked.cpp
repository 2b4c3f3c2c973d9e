#include "marked.h"

#include "wrappers.h"

namespace stopline::preload {

constinit Marked marked{};

MPI_Comm Marked::twinOf(MPI_Comm comm) {
    for (std::size_t i = 0; i < m_count; ++i) {
        if (m_twins[i].of == keyOf(comm)) {
            return m_twins[i].comm;
        }
    }
    return predefined.commNull;
}

void Marked::remember(MPI_Comm comm, MPI_Comm twin) {
    // Made from a group, it has neither the attributes nor the topology of the communicator. Who failed on it
    // is told by toldOfTwin().
    real.Comm_set_errhandler(twin, predefined.errorsReturn);
    if (!m_twins.reserve(m_count + 1)) {
        complain("there is no memory for marking messages, so they are not received as recorded", 0);
        return;
    }
    m_twins[m_count++] = {keyOf(comm), twin};
}

void Marked::begin() {
    const Asking asking;
    MPI_Comm twin = predefined.commNull;
    int size = 0;
    int all = 0;
    if (real.Comm_split(predefined.world, forced.on ? 0 : MPI_UNDEFINED, 0, &twin) != MPI_SUCCESS ||
        !isSome(twin)) {
        return;
    }
    m_on = real.Comm_size(twin, &size) == MPI_SUCCESS &&
           real.Comm_size(predefined.world, &all) == MPI_SUCCESS && size == all;
    if (m_on) {
        remember(predefined.world, twin);
        controlMessages.begin(twin);
    } else {
        real.Comm_free(&twin);
    }
}

void Marked::add(MPI_Comm comm) {
    if (!m_on || !isSome(comm)) {
        return;
    }
    const Asking asking;
    MPI_Group group = predefined.groupNull;
    MPI_Comm twin = predefined.commNull;
    if (real.Comm_group(comm, &group) !=
        MPI_SUCCESS) { // of an intercommunicator the local one, as Comm_create wants it
        return;
    }
    if (real.Comm_create(comm, group, &twin) == MPI_SUCCESS && isSome(twin)) {
        remember(comm, twin);
    }
    real.Group_free(&group);
}

void Marked::release(MPI_Comm comm) {
    for (std::size_t i = 0; i < m_count; ++i) {
        if (m_twins[i].of != keyOf(comm)) {
            continue;
        }
        const Asking asking;
        real.Comm_free(&m_twins[i].comm);
        for (--m_count; i < m_count; ++i) {
            m_twins[i] = m_twins[i + 1];
        }
    }
}

void Marked::end() {
    // In the order in which they were made, which fits together on all ranks: making them was collective.
    const Asking asking;
    for (std::size_t i = 0; i < m_count; ++i) {
        real.Comm_free(&m_twins[i].comm);
    }
    m_count = 0;
    m_on = false;
}

void Marked::onTwin(MPI_Comm* comm) {
    if (const MPI_Comm twin = twinOf(*comm); twin != predefined.commNull) {
        *comm = twin;
    }
}

void Marked::put(trace::OrderReader& entry, int* source, MPI_Comm* out, MPI_Comm* in) {
    const std::uint64_t ways = entry.number();
    const std::uint64_t from = entry.number();
    if (source != nullptr && from != 0 && *source == MPI_ANY_SOURCE) {
        *source = static_cast<int>(from - 1);
    }
    if (out != nullptr && (ways & trace::kSendsMarked) != 0) {
        onTwin(out);
    }
    if (in != nullptr && (ways & trace::kGetsMarked) != 0) {
        onTwin(in);
    }
}

int tellOfTwin(MPI_Comm comm, int code) {
    real.Comm_call_errhandler(comm, code);
    return code;
}

} // namespace stopline::preload
