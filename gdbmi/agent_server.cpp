// The door: who may connect, and what it takes.
#include "agent_link_impl.h"

#include <QFile>
#include <QHostAddress>
#include <QHostInfo>
#include <QNetworkInterface>
#include <QPointer>
#include <QRandomGenerator>
#include <QTcpServer>
#include <QTimer>

#include <algorithm>
#include <ctime>

namespace stopline::agent {
namespace {

/// Before a connection has shown the token it may not say much, nor take long, nor come in any number.
constexpr std::uint32_t kHelloLimit = 64 * 1024;
constexpr int kHelloTimeoutMs = 5000;
constexpr int kMaxStrangers = 512;

qint64 monotonicNow() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return qint64{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

QString ownBootId() {
    QFile file(QStringLiteral("/proc/sys/kernel/random/boot_id"));
    return file.open(QIODevice::ReadOnly) ? QString::fromLatin1(file.readAll()).trimmed() : QString();
}

} // namespace

struct AgentServer::Impl {
    AgentServer* server = nullptr;
    QTcpServer listener;
    QByteArray token;
    QString address;
    int strangers = 0;

    void accept(QTcpSocket* socket);
    void reject(QTcpSocket* socket, const QString& why);
    /// Empty, or why this Hello does not open the door.
    [[nodiscard]] QString check(const Frame& frame, const Fields& fields) const;
};

AgentServer::AgentServer(QObject* parent) : QObject(parent), m_impl(std::make_unique<Impl>()) {
    m_impl->server = this;
    renewToken();
    connect(&m_impl->listener, &QTcpServer::newConnection, this, [this] {
        while (QTcpSocket* socket = m_impl->listener.nextPendingConnection()) {
            m_impl->accept(socket);
        }
    });
}

AgentServer::~AgentServer() = default;

QString AgentServer::listen(bool allAddresses) {
    close();
    renewToken();
    const QHostAddress address(allAddresses ? QHostAddress::Any : QHostAddress::LocalHost);
    if (!m_impl->listener.listen(address)) {
        return QStringLiteral("Cannot listen for the ranks' agents: %1.").arg(m_impl->listener.errorString());
    }
    m_impl->listener.setMaxPendingConnections(kMaxStrangers);
    QString host = QStringLiteral("127.0.0.1");
    if (allAddresses) {
        const QList<QHostAddress> own = QNetworkInterface::allAddresses();
        const auto found = std::find_if(own.begin(), own.end(), [](const QHostAddress& candidate) {
            return candidate.protocol() == QAbstractSocket::IPv4Protocol && !candidate.isLoopback() &&
                   !candidate.isLinkLocal();
        });
        host = found != own.end() ? found->toString() : QHostInfo::localHostName();
    }
    m_impl->address = host + u':' + QString::number(m_impl->listener.serverPort());
    return {};
}

QString AgentServer::connectAddress() const {
    return m_impl->address;
}

QString AgentServer::token() const {
    return QString::fromLatin1(m_impl->token);
}

void AgentServer::renewToken() {
    quint32 words[8];
    QRandomGenerator::system()->fillRange(words);
    m_impl->token = QByteArray(reinterpret_cast<const char*>(words), sizeof words).toHex();
}

void AgentServer::close() {
    m_impl->listener.close();
    m_impl->address.clear();
}

void AgentServer::Impl::reject(QTcpSocket* socket, const QString& why) {
    socket->disconnect(server);
    socket->abort();
    socket->deleteLater();
    --strangers;
    emit server->rejected(why);
}

QString AgentServer::Impl::check(const Frame& frame, const Fields& fields) const {
    if (frame.channel() != Channel::Hello) {
        return QStringLiteral("it did not begin with Hello");
    }
    if (!equalConstantTime(textField(fields, "token"), bytesView(token))) {
        return QStringLiteral("it does not know this launch's token");
    }
    if (numberField(fields, "version", -1) != kProtocolVersion) {
        return QStringLiteral("it speaks version %1 of the agent protocol, this window version %2")
            .arg(fieldText(fields, "version"))
            .arg(kProtocolVersion);
    }
    if (numberField(fields, "rank", -1) < 0 || numberField(fields, "rank", -1) > INT32_MAX) {
        return QStringLiteral("it names no rank");
    }
    return {};
}

void AgentServer::Impl::accept(QTcpSocket* socket) {
    if (++strangers > kMaxStrangers) {
        reject(socket, QStringLiteral("Connection dropped: too many that have not shown the token."));
        return;
    }
    socket->setParent(server);
    socket->setSocketOption(QAbstractSocket::LowDelayOption, 1);
    const QString peer = socket->peerAddress().toString();
    auto* timer = new QTimer(socket);
    timer->setSingleShot(true);
    const auto reader = std::make_shared<FrameReader>(kHelloLimit);
    QObject::connect(timer, &QTimer::timeout, server, [this, socket, peer] {
        reject(socket, QStringLiteral("Connection from %1 dropped: it said nothing.").arg(peer));
    });
    QObject::connect(socket, &QTcpSocket::disconnected, server, [this, socket, peer] {
        reject(socket, QStringLiteral("Connection from %1 ended before it showed the token.").arg(peer));
    });
    const auto read = [this, socket, peer, timer, reader] {
        reader->append(bytesView(socket->read(kHelloLimit + sizeof(FrameHeader))));
        Frame frame;
        if (!reader->next(frame)) {
            if (!reader->error().empty()) {
                reject(socket, QStringLiteral("Connection from %1 dropped: %2.")
                                   .arg(peer, QString::fromStdString(reader->error())));
            }
            return;
        }
        const Fields fields = decodeFields(frame.body);
        if (const QString wrong = check(frame, fields); !wrong.isEmpty()) {
            reject(socket, QStringLiteral("Connection from %1 dropped: %2.").arg(peer, wrong));
            return;
        }
        delete timer;
        --strangers;
        auto* link = new AgentLink;
        link->setParent(server);
        socket->disconnect(server);
        socket->setParent(link);
        AgentLink::Impl& impl = *link->m_impl;
        impl.socket = socket;
        impl.reader = std::move(*reader);
        impl.reader.setLimit(kMaxFrameBytes);
        impl.hello.rank = static_cast<std::int32_t>(numberField(fields, "rank", -1));
        const QString spawned = fieldText(fields, "spawned");
        impl.hello.job = spawned.section(u' ', 0, 0).toULongLong(nullptr, 16);
        impl.hello.spawner = spawned.section(u' ', 1, 1);
        impl.name = QString::number(impl.hello.rank);
        impl.hello.size = static_cast<int>(numberField(fields, "size", 0));
        impl.hello.host = fieldText(fields, "host");
        impl.hello.program = fieldText(fields, "program");
        impl.hello.directory = fieldText(fields, "directory");
        impl.hello.agentPid = numberField(fields, "pid", 0);
        impl.hello.clockOffsetNs =
            fieldText(fields, "boot") == ownBootId() ? 0 : monotonicNow() - numberField(fields, "clock", 0);
        impl.address.rank = static_cast<std::uint32_t>(impl.hello.rank);
        QObject::connect(socket, &QTcpSocket::readyRead, link, [link] { link->m_impl->receive(); });
        QObject::connect(socket, &QTcpSocket::disconnected, link, [link] {
            if (link->m_impl->closed) {
                return; // by ourselves
            }
            const QPointer<AgentLink> stillThere(link);
            link->m_impl->receive();
            if (!stillThere.isNull()) {
                link->m_impl->end(QStringLiteral("The agent of rank %1 on %2 has ended.")
                                      .arg(link->m_impl->name)
                                      .arg(link->m_impl->hello.host));
            }
        });
        const QPointer<AgentLink> guard(link);
        emit server->agentConnected(link);
        if (!guard.isNull()) {
            link->m_impl->receive(); // what came in one piece with the Hello
        }
    };
    QObject::connect(socket, &QTcpSocket::readyRead, server, read);
    timer->start(kHelloTimeoutMs);
    if (socket->bytesAvailable() > 0) {
        read();
    }
}

} // namespace stopline::agent
