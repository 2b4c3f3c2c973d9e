// What the link and the server that makes it share; private to both.
#pragma once

#include "agent_frames.h"
#include "agent_link.h"
#include "agent_mapping.h"

#include <QTcpSocket>

#include <deque>
#include <functional>
#include <string_view>

namespace stopline::agent {

[[nodiscard]] inline QString fieldText(const Fields& fields, std::string_view name) {
    return QString::fromStdString(textField(fields, name));
}

[[nodiscard]] inline std::string_view bytesView(const QByteArray& bytes) {
    return {bytes.constData(), static_cast<std::size_t>(bytes.size())};
}

/// MI as frames of the link's connection.
class LinkTransport : public mi::MiTransport {
  public:
    using Sender = std::function<void(const QByteArray&)>;
    explicit LinkTransport(Sender sender) : m_sender(std::move(sender)) {}
    void send(const QByteArray& bytes) override { m_sender(bytes); }
    void end(const QString& why) {
        if (!m_ended) {
            m_ended = true;
            emit closed(why);
        }
    }

  private:
    Sender m_sender;
    bool m_ended = false;
};

struct AgentLink::Impl {
    AgentLink* link = nullptr;
    QTcpSocket* socket = nullptr;
    FrameReader reader;
    FrameAddress address;
    Hello hello;
    QString name; ///< of the rank
    RankStatus status;
    trace::RankImage image;
    std::unique_ptr<LinkTransport> transport;
    std::deque<std::function<void(bool)>> pulls;
    quint64 pullId = 0;
    std::string modules;
    QByteArray values;
    std::unique_ptr<Mapping> ownMapping; ///< of a rank on this host: for the case that its agent is killed
    bool mappingWanted = true;
    bool closed = false;

    void send(Channel channel, std::string_view body) {
        if (!closed && socket->state() == QAbstractSocket::ConnectedState) {
            const std::string frame = encodeFrame(channel, address, body);
            socket->write(frame.data(), static_cast<qint64>(frame.size()));
        }
    }
    void send(Channel channel, const Fields& fields) { send(channel, encodeFields(fields)); }
    void command(const char* what) { send(Channel::Command, Fields{{"do", what}}); }

    void receive();
    void handle(const Frame& frame);
    void handleState(const Fields& fields);
    void handleModules(const Fields& fields);
    bool takeTrace(std::string_view body, bool& complete);
    void readOrphan(int waitedMs, std::function<void(Orphan)> then);
    bool readMapping(); ///< of a dead rank
    [[nodiscard]] Fields trace() const; ///< of a Pull for what is not in the image yet
    void askForTrace();
    void end(const QString& why);
};

} // namespace stopline::agent
