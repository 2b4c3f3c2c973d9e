#include "agent_connection.h"

#include "agent_hold.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace stopline::agent {
namespace {

int connectOne(const addrinfo& target, int timeoutMs, std::string& error) {
    const int fd = ::socket(target.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, target.ai_protocol);
    if (fd < 0) {
        error = std::strerror(errno);
        return -1;
    }
    int problem = 0;
    if (::connect(fd, target.ai_addr, target.ai_addrlen) != 0) {
        problem = errno;
        if (problem == EINPROGRESS) {
            pollfd wait{fd, POLLOUT, 0};
            socklen_t size = sizeof problem;
            const int ready = ::poll(&wait, 1, timeoutMs);
            if (ready == 0) {
                problem = ETIMEDOUT;
            } else if (ready < 0 || ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size) != 0) {
                problem = errno;
            }
        }
    }
    if (problem != 0) {
        error = std::strerror(problem);
        ::close(fd);
        return -1;
    }
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

} // namespace

int connectTo(const std::string& address, int timeoutMs, std::string& error) {
    const std::size_t colon = address.rfind(':');
    if (colon == std::string::npos || colon == 0) {
        error = "it is not of the form host:port";
        return -1;
    }
    std::string host = address.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    }
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int result = ::getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &found);
    if (result != 0) {
        error = ::gai_strerror(result);
        return -1;
    }
    int fd = -1;
    for (const addrinfo* target = found; target != nullptr && fd < 0; target = target->ai_next) {
        fd = connectOne(*target, timeoutMs, error);
    }
    ::freeaddrinfo(found);
    return fd;
}

Connection::~Connection() {
    if (m_fd >= 0) {
        ::close(m_fd);
    }
}

void Connection::send(Channel channel, std::string_view body) {
    if (!m_open) {
        return;
    }
    std::string frame = encodeFrame(channel, m_address, body);
    m_queued += frame.size();
    m_queue.push_back(std::move(frame));
    flush();
}

void Connection::flush() {
    while (m_open && !m_queue.empty()) {
        const std::string& front = m_queue.front();
        const ssize_t sent = ::send(m_fd, front.data() + m_sent, front.size() - m_sent, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR) {
                continue;
            }
            if (errno != EAGAIN && errno != EWOULDBLOCK) {
                m_open = false;
            }
            return;
        }
        m_sent += static_cast<std::size_t>(sent);
        m_queued -= static_cast<std::size_t>(sent);
        if (m_sent == front.size()) {
            m_queue.pop_front();
            m_sent = 0;
        }
    }
}

void Connection::flushFor(int milliseconds) {
    const std::int64_t end = monotonicNs() + std::int64_t{milliseconds} * 1'000'000;
    flush();
    while (m_open && !m_queue.empty()) {
        const std::int64_t left = (end - monotonicNs()) / 1'000'000;
        pollfd wait{m_fd, POLLOUT, 0};
        if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) == 0) {
            return;
        }
        flush();
    }
}

bool Connection::receive() {
    char buffer[65536];
    while (m_open) {
        const ssize_t got = ::recv(m_fd, buffer, sizeof buffer, 0);
        if (got > 0) {
            m_reader.append(std::string_view(buffer, static_cast<std::size_t>(got)));
            if (static_cast<std::size_t>(got) < sizeof buffer) {
                break;
            }
        } else if (got < 0 && errno == EINTR) {
            continue;
        } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            break;
        } else {
            m_open = false;
        }
    }
    return m_open && m_reader.error().empty();
}

} // namespace stopline::agent
