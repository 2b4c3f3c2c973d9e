// The agent's connection to the window: frames in, a queue of frames out.
#pragma once

#include "agent_frames.h"

#include <deque>
#include <string>

namespace stopline::agent {

/// Connects to "host:port" (IPv6 in brackets). Returns a non-blocking socket, or -1 with `error` set.
[[nodiscard]] int connectTo(const std::string& address, int timeoutMs, std::string& error);

class Connection {
  public:
    explicit Connection(int fd) : m_fd(fd) {}
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void setAddress(const FrameAddress& address) { m_address = address; }
    [[nodiscard]] int fd() const { return m_fd; }
    [[nodiscard]] bool open() const { return m_open; }
    [[nodiscard]] std::size_t queued() const { return m_queued; }

    /// Queues a frame and sends what the socket takes at once.
    void send(Channel channel, std::string_view body);
    void send(Channel channel, const Fields& fields) { send(channel, encodeFields(fields)); }
    void flush(); ///< sends what the socket takes without waiting
    /// Waits until everything is sent, the connection ends or the time is over.
    void flushFor(int milliseconds);
    /// Reads what has come; false when the connection has ended or the window speaks nonsense.
    bool receive();
    bool next(Frame& frame) { return m_reader.next(frame); }

  private:
    int m_fd;
    bool m_open = true;
    FrameAddress m_address;
    FrameReader m_reader;
    std::deque<std::string> m_queue;
    std::size_t m_sent = 0; ///< of the first in the queue
    std::size_t m_queued = 0;
};

} // namespace stopline::agent
