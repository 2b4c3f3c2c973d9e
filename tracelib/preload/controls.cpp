#include "controls.h"

#include "wrappers.h"

namespace stopline::preload {

constinit ControlMessages controlMessages{};

namespace {

/// How long a message is kept back. Ranks that run are not that late; those that the user has stopped are.
constexpr TimeNs kLongest = 5'000'000'000;
constexpr int kTag = 0;

} // namespace

void ControlMessages::follow(std::span<const std::byte> bytes) {
    m_wanted = true;
    m_log = trace::ControlReader(bytes);
}

void ControlMessages::begin(MPI_Comm world) {
    if (!m_wanted) {
        return;
    }
    const Asking asking;
    int size = 0;
    if (real.Comm_dup(world, &m_comm) != MPI_SUCCESS) {
        return;
    }
    real.Comm_set_errhandler(m_comm, predefined.errorsReturn);
    if (real.Comm_size(m_comm, &size) != MPI_SUCCESS || !m_peers.reserve(std::size_t(size))) {
        complain("there is no memory for control messages, so more messages than before may have to be buffered", 0);
        real.Comm_free(&m_comm);
        return;
    }
    m_size = size;
    m_next = m_log.event();
}

void ControlMessages::end() {
    m_next = kNever;
    if (m_size != 0) {
        const Asking asking;
        real.Comm_free(&m_comm);
        m_size = 0;
    }
}

void ControlMessages::exchange(std::uint64_t event) {
    if (forced.left() || !forced.on) {
        m_next = kNever;
        return;
    }
    for (; m_log.event() <= event; m_log.next()) {
        // What the program has passed without its event coming has gone another way: whoever compares will say so.
        const bool known = m_log.event() == event && m_log.peer() < std::uint64_t(m_size);
        if (known && m_log.isReceived()) {
            await(int(m_log.peer()));
        } else if (known) {
            send(int(m_log.peer()));
        }
    }
    m_next = m_log.event();
}

void ControlMessages::send(int peer) {
    const Asking asking;
    MPI_Request request = predefined.requestNull;
    // Nobody waits for it here: the receiver may be far behind.
    if (real.Isend(nullptr, 0, predefined.byte, peer, kTag, m_comm, &request) == MPI_SUCCESS) {
        real.Request_free(&request);
    }
}

void ControlMessages::take(int peer) {
    MPI_Status status;
    int flag = 0;
    Peer& from = m_peers[std::size_t(peer)];
    while (from.got < from.wanted && real.Iprobe(peer, kTag, m_comm, &flag, &status) == MPI_SUCCESS && flag != 0 &&
           real.Recv(nullptr, 0, predefined.byte, peer, kTag, m_comm, &status) == MPI_SUCCESS) {
        ++from.got;
    }
}

void ControlMessages::await(int peer) {
    const Asking asking;
    Peer& from = m_peers[std::size_t(peer)];
    ++from.wanted;
    take(peer);
    const TimeNs since = clockNow();
    for (Patience patience; !from.late && from.got < from.wanted && patience.again(); take(peer)) {
        from.late = clockNow() - since > kLongest;
    }
    from.late = from.got < from.wanted;
}

} // namespace stopline::preload
