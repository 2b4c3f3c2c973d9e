#include "agent_link.h"

#include "agent_frames.h"

#include <QFile>
#include <QHostAddress>
#include <QHostInfo>
#include <QNetworkInterface>
#include <QPointer>
#include <QRandomGenerator>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTimer>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <deque>

namespace stopline::agent {
namespace {

/// Before a connection has shown the token it may not say much, nor take long, nor come in any number.
constexpr std::uint32_t kHelloLimit = 64 * 1024;
constexpr int kHelloTimeoutMs = 5000;
constexpr int kMaxStrangers = 512;

QString text(const Fields& fields, std::string_view name) {
    return QString::fromStdString(textField(fields, name));
}

std::string_view view(const QByteArray& bytes) {
    return {bytes.constData(), static_cast<std::size_t>(bytes.size())};
}

qint64 monotonicNow() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return qint64{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

QString ownBootId() {
    QFile file(QStringLiteral("/proc/sys/kernel/random/boot_id"));
    return file.open(QIODevice::ReadOnly) ? QString::fromLatin1(file.readAll()).trimmed() : QString();
}

RankStatus statusFrom(const Fields& fields) {
    const auto flag = [&](std::string_view name) { return numberField(fields, name, 0) != 0; };
    RankStatus status;
    status.pid = numberField(fields, "pid", 0);
    status.state = static_cast<trace::RankState>(unsignedField(fields, "state", 0));
    status.event = EventIndex{unsignedField(fields, "event", 0)};
    status.insideCall = flag("inside");
    status.pollOpen = flag("poll");
    status.inHold = flag("hold");
    status.atGate = flag("gate");
    status.reason = static_cast<trace::StopReason>(unsignedField(fields, "reason", 0));
    status.code = static_cast<int>(numberField(fields, "code", 0));
    status.stopFunction = unsignedField(fields, "stopfunction", 0);
    status.libraryBase = unsignedField(fields, "librarybase", 0);
    status.mpiLinked = flag("mpi");
    status.worldRank = static_cast<int>(numberField(fields, "world", -1));
    status.worldSize = static_cast<int>(numberField(fields, "size", 0));
    status.alive = flag("alive");
    status.ended = !status.alive;
    status.waitStatus = static_cast<int>(numberField(fields, "exit", 0));
    status.gdbPid = numberField(fields, "gdb", 0);
    status.recordingOff = static_cast<int>(numberField(fields, "recordingoff", 0));
    return status;
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

} // namespace

struct AgentLink::Impl {
    AgentLink* link = nullptr;
    QTcpSocket* socket = nullptr;
    FrameReader reader;
    FrameAddress address;
    Hello hello;
    RankStatus status;
    trace::RankImage image;
    std::unique_ptr<LinkTransport> transport;
    std::deque<std::function<void(bool)>> pulls;
    quint64 pullId = 0;
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
    bool takeTrace(std::string_view body, bool& complete);
    void askForTrace();
    void end(const QString& why);
};

AgentLink::AgentLink() : m_impl(std::make_unique<Impl>()) {
    m_impl->link = this;
    m_impl->transport = std::make_unique<LinkTransport>(
        [this](const QByteArray& bytes) { m_impl->send(Channel::Mi, view(bytes)); });
}

AgentLink::~AgentLink() {
    if (m_impl->socket != nullptr) {
        m_impl->socket->disconnect(this);
        m_impl->socket->abort();
    }
}

const Hello& AgentLink::hello() const {
    return m_impl->hello;
}
const RankStatus& AgentLink::status() const {
    return m_impl->status;
}
bool AgentLink::connected() const {
    return !m_impl->closed;
}
mi::MiTransport* AgentLink::gdb() {
    return m_impl->transport.get();
}
const trace::RankImage& AgentLink::image() const {
    return m_impl->image;
}

void AgentLink::configure(const RankConfig& config) {
    m_impl->address.incarnation = config.incarnation.value();
    m_impl->send(Channel::Config,
                 Fields{{"gate", std::to_string(static_cast<unsigned>(config.gate))},
                        {"threshold", std::to_string(config.threshold.value())},
                        {"incarnation", std::to_string(config.incarnation.value())},
                        {"library", QFile::encodeName(config.libraryDirectory).toStdString()},
                        {"gdb", QFile::encodeName(config.gdbProgram).toStdString()},
                        {"mapdir", QFile::encodeName(config.mapDirectory).toStdString()},
                        {"randomize", config.randomizeAddresses ? "1" : "0"}});
}

void AgentLink::openGate() {
    m_impl->command("opengate");
}
void AgentLink::setThreshold(EventIndex event) {
    m_impl->send(Channel::Command, Fields{{"do", "threshold"}, {"value", std::to_string(event.value())}});
}
void AgentLink::release() {
    m_impl->command("release");
}
void AgentLink::stopRank() {
    m_impl->command("stop");
}
void AgentLink::kill() {
    m_impl->command("kill");
}
void AgentLink::finish() {
    m_impl->command("finish");
}
void AgentLink::poll() {
    m_impl->command("poll");
}

void AgentLink::pull(std::function<void(bool)> handler) {
    if (m_impl->closed) {
        QMetaObject::invokeMethod(
            this, [handler = std::move(handler)] { handler(false); }, Qt::QueuedConnection);
        return;
    }
    m_impl->pulls.push_back(std::move(handler));
    if (m_impl->pulls.size() == 1) {
        m_impl->askForTrace();
    }
}

// One request at a time: each asks for what lies beyond the image as the one before has left it.
void AgentLink::Impl::askForTrace() {
    send(Channel::Pull, Fields{{"id", std::to_string(++pullId)},
                               {"dictionary", std::to_string(image.dictionary.size())},
                               {"comms", std::to_string(image.comms.size())},
                               {"stops", std::to_string(image.stops.size())},
                               {"blocks", std::to_string(image.blocks.size())}});
}

void AgentLink::Impl::receive() {
    const QPointer<AgentLink> guard(link);
    reader.append(view(socket->readAll()));
    Frame frame;
    while (!closed && reader.next(frame)) {
        handle(frame);
        if (guard.isNull()) {
            return; // a receiver of a signal has deleted the link
        }
    }
    if (!closed && !reader.error().empty()) {
        end(QStringLiteral("The agent of rank %1 sent something that cannot be read: %2.")
                .arg(hello.rank.value())
                .arg(QString::fromStdString(reader.error())));
    }
}

void AgentLink::Impl::handle(const Frame& frame) {
    switch (frame.channel()) {
    case Channel::Mi:
        emit transport->received(QByteArray(frame.body.data(), static_cast<qsizetype>(frame.body.size())));
        break;
    case Channel::Output:
        if (!frame.body.empty()) {
            emit link->output(
                frame.body[0] == 2 ? 2 : 1,
                QByteArray(frame.body.data() + 1, static_cast<qsizetype>(frame.body.size()) - 1));
        }
        break;
    case Channel::State:
        handleState(decodeFields(frame.body));
        break;
    case Channel::Fault: {
        const Fields fields = decodeFields(frame.body);
        emit link->fault(text(fields, "code"), text(fields, "text"), text(fields, "remedy"));
        break;
    }
    case Channel::Trace: {
        if (pulls.empty()) {
            break;
        }
        bool complete = false;
        if (!takeTrace(frame.body, complete)) {
            end(QStringLiteral("The agent of rank %1 sent a recording that does not fit.")
                    .arg(hello.rank.value()));
        } else if (!complete) {
            askForTrace();
        } else {
            const auto handler = std::move(pulls.front());
            pulls.pop_front();
            if (!pulls.empty()) {
                askForTrace();
            }
            handler(true);
        }
        break;
    }
    default:
        break;
    }
}

void AgentLink::Impl::handleState(const Fields& fields) {
    const RankStatus before = status;
    status = statusFrom(fields);
    const QPointer<AgentLink> guard(link);
    if (before.gdbPid != 0 && status.gdbPid == 0) {
        transport->end(QStringLiteral("The gdb of rank %1 has ended.").arg(hello.rank.value()));
        if (guard.isNull()) {
            return;
        }
    }
    const RankStatus now = status; // a receiver may cause a newer one
    emit link->statusChanged(before, now);
}

bool AgentLink::Impl::takeTrace(std::string_view body, bool& complete) {
    TraceHeader header{};
    if (body.size() < sizeof header) {
        return false;
    }
    std::memcpy(&header, body.data(), sizeof header);
    body.remove_prefix(sizeof header);
    if (header.id != pullId || header.headerBytes < sizeof(trace::MappingHeader)) {
        return false;
    }
    const auto take = [&body](std::uint64_t bytes, std::string_view& part) {
        if (bytes > body.size()) {
            return false;
        }
        part = body.substr(0, bytes);
        body.remove_prefix(bytes);
        return true;
    };
    std::string_view mapping;
    std::string_view staging;
    std::string_view dictionary;
    std::string_view comms;
    std::string_view stops;
    std::string_view blocks;
    if (!take(header.headerBytes, mapping) || !take(header.stagingBytes, staging) ||
        !take(header.dictionaryBytes, dictionary) || !take(header.commsBytes, comms) ||
        !take(header.stopsBytes, stops) || !take(header.blocksBytes, blocks) || !body.empty()) {
        return false;
    }
    if (header.dictionaryFrom != image.dictionary.size() || header.commsFrom != image.comms.size() ||
        header.stopsFrom != image.stops.size() || header.blocksFrom != image.blocks.size()) {
        return false;
    }
    const auto assign = [](std::vector<std::byte>& to, std::string_view part) {
        const auto* bytes = reinterpret_cast<const std::byte*>(part.data());
        to.assign(bytes, bytes + part.size());
    };
    const auto append = [](std::vector<std::byte>& to, std::string_view part) {
        const auto* bytes = reinterpret_cast<const std::byte*>(part.data());
        to.insert(to.end(), bytes, bytes + part.size());
    };
    assign(image.header, mapping);
    assign(image.staging, staging);
    append(image.dictionary, dictionary);
    append(image.comms, comms);
    append(image.stops, stops);
    append(image.blocks, blocks);
    std::uint64_t blockLength = 0;
    std::memcpy(&blockLength, mapping.data() + offsetof(trace::MappingHeader, blockLength),
                sizeof blockLength);
    complete = blocks.empty() || image.blocks.size() >= blockLength;
    return true;
}

void AgentLink::Impl::end(const QString& why) {
    if (closed) {
        return;
    }
    closed = true;
    socket->abort();
    const QPointer<AgentLink> guard(link);
    const auto waiting = std::move(pulls);
    pulls.clear();
    for (const auto& handler : waiting) {
        handler(false);
        if (guard.isNull()) {
            return;
        }
    }
    transport->end(why);
    if (!guard.isNull()) {
        emit link->closed(why);
    }
}

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
    if (!equalConstantTime(textField(fields, "token"), view(token))) {
        return QStringLiteral("it does not know this launch's token");
    }
    if (numberField(fields, "version", -1) != kProtocolVersion) {
        return QStringLiteral("it speaks version %1 of the agent protocol, this window version %2")
            .arg(text(fields, "version"))
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
        reader->append(view(socket->read(kHelloLimit + sizeof(FrameHeader))));
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
        impl.hello.rank = RankId{static_cast<std::int32_t>(numberField(fields, "rank", -1))};
        impl.hello.size = static_cast<int>(numberField(fields, "size", 0));
        impl.hello.host = text(fields, "host");
        impl.hello.program = text(fields, "program");
        impl.hello.directory = text(fields, "directory");
        impl.hello.agentPid = numberField(fields, "pid", 0);
        impl.hello.clockOffsetNs =
            text(fields, "boot") == ownBootId() ? 0 : monotonicNow() - numberField(fields, "clock", 0);
        impl.address.rank = static_cast<std::uint32_t>(impl.hello.rank.value());
        QObject::connect(socket, &QTcpSocket::readyRead, link, [link] { link->m_impl->receive(); });
        QObject::connect(socket, &QTcpSocket::disconnected, link, [link] {
            const QPointer<AgentLink> guard(link);
            link->m_impl->receive();
            if (!guard.isNull()) {
                link->m_impl->end(QStringLiteral("The agent of rank %1 on %2 has ended.")
                                      .arg(link->m_impl->hello.rank.value())
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
