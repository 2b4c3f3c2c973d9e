#include "input_tee.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace stopline::replay {

namespace {
constexpr qint64 kMostWaiting = 256 << 10; ///< bytes that the launcher has not taken yet, after which no more is read
constexpr int kLaterMs = 200;

/// Reading a terminal that another job has would stop us.
bool isOthersTerminal(int fd) {
    const pid_t group = ::tcgetpgrp(fd);
    return group >= 0 && group != ::getpgrp();
}
} // namespace

InputTee::InputTee(int fd, QProcess& launcher, QObject* parent) : QObject(parent), m_fd(fd), m_launcher(launcher) {
    m_later.setSingleShot(true);
    m_later.setInterval(kLaterMs);
    connect(&m_later, &QTimer::timeout, this, &InputTee::wait);
    connect(&m_launcher, &QProcess::bytesWritten, this, [this] {
        if (m_notifier != nullptr && !m_notifier->isEnabled() && !m_later.isActive() && !m_ended) {
            wait();
        }
    });
    connect(&m_launcher, &QProcess::finished, this, [this] {
        m_later.stop();
        m_notifier.reset();
    });
}

void InputTee::start() {
    if (::fcntl(m_fd, F_GETFD) < 0) { // started without any
        end();
        return;
    }
    m_notifier = std::make_unique<QSocketNotifier>(m_fd, QSocketNotifier::Read);
    connect(m_notifier.get(), &QSocketNotifier::activated, this, &InputTee::read);
}

void InputTee::wait() {
    if (m_notifier != nullptr && !m_ended) {
        m_notifier->setEnabled(m_launcher.bytesToWrite() < kMostWaiting);
    }
}

void InputTee::read() {
    if (isOthersTerminal(m_fd)) {
        m_notifier->setEnabled(false);
        m_later.start();
        return;
    }
    std::array<char, 64 << 10> buffer{};
    const ssize_t got = ::read(m_fd, buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0) {
        end();
        return;
    }
    const qsizetype room = kMostBytes - m_bytes.size();
    m_bytes.append(buffer.data(), std::min<qsizetype>(got, room));
    m_cutShort = m_cutShort || got > room;
    m_launcher.write(buffer.data(), got);
    wait();
}

/// The launcher gets the end behind all that it has not taken yet.
void InputTee::end() {
    m_ended = true;
    if (m_notifier != nullptr) {
        m_notifier->setEnabled(false);
    }
    m_launcher.closeWriteChannel();
}

} // namespace stopline::replay
