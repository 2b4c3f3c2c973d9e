#include "agent_link_impl.h"

#include "agent_process.h"

#include <QFile>
#include <QPointer>
#include <QTimer>

#include <cstring>

namespace stopline::agent {
namespace {

/// A rank that dies with its agent is gone a moment after it, on a busy machine some more.
constexpr int kDyingMs = 1500;
constexpr int kDyingStepMs = 10;

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
    status.endedWithJob = flag("withjob");
    status.gdbPid = numberField(fields, "gdb", 0);
    status.recordingOff = static_cast<int>(numberField(fields, "recordingoff", 0));
    return status;
}

} // namespace

AgentLink::AgentLink() : m_impl(std::make_unique<Impl>()) {
    m_impl->link = this;
    m_impl->transport = std::make_unique<LinkTransport>(
        [this](const QByteArray& bytes) { m_impl->send(Channel::Mi, bytesView(bytes)); });
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
const QByteArray& AgentLink::values() const {
    return m_impl->values;
}
const trace::RankImage& AgentLink::image() const {
    return m_impl->image;
}
void AgentLink::releaseBlocks(std::uint64_t upTo) {
    trace::releaseBlocks(m_impl->image, upTo);
}

void AgentLink::configure(const RankConfig& config) {
    m_impl->address.incarnation = config.incarnation.value();
    constexpr qsizetype kPart = kMaxFrameBytes / 4;
    for (const auto& [channel, log] : {std::pair(Channel::Order, &config.order), std::pair(Channel::Values, &config.values)}) {
        for (qsizetype at = 0; at < log->size(); at += kPart) {
            m_impl->send(channel, bytesView(*log).substr(std::size_t(at), std::size_t(kPart)));
        }
    }
    m_impl->send(Channel::Config,
                 Fields{{"gate", std::to_string(static_cast<unsigned>(config.gate))},
                        {"threshold", std::to_string(config.threshold.value())},
                        {"incarnation", std::to_string(config.incarnation.value())},
                        {"library", QFile::encodeName(config.libraryDirectory).toStdString()},
                        {"gdb", QFile::encodeName(config.gdbProgram).toStdString()},
                        {"mapdir", QFile::encodeName(config.mapDirectory).toStdString()},
                        {"keep", std::to_string(config.keepBytes)},
                        {"randomize", config.randomizeAddresses ? "1" : "0"},
                        {"noted", std::to_string(config.alsoNoted)},
                        {"jitter", std::to_string(config.jitter)},
                        {"races", config.findRaces ? "1" : "0"},
                        {"record", config.record ? "1" : "0"}});
}

void AgentLink::setName(const QString& name) {
    m_impl->name = name;
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
void AgentLink::leaveOrder() {
    m_impl->command("leaveorder");
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
Fields AgentLink::Impl::trace() const {
    return {{"id", std::to_string(pullId)},
            {"dictionary", std::to_string(image.dictionary.size())},
            {"comms", std::to_string(image.comms.size())},
            {"stops", std::to_string(image.stops.size())},
            {"blocks", std::to_string(image.blocksFrom + image.blocks.size())},
            {"values", std::to_string(values.size())}};
}

void AgentLink::Impl::askForTrace() {
    ++pullId;
    send(Channel::Pull, trace());
}

void AgentLink::Impl::receive() {
    const QPointer<AgentLink> guard(link);
    if (socket->isOpen()) { // what came with the end of the connection has been read before it was closed
        reader.append(bytesView(socket->readAll()));
    }
    Frame frame;
    while (!closed && reader.next(frame)) {
        handle(frame);
        if (guard.isNull()) {
            return; // a receiver of a signal has deleted the link
        }
    }
    if (!closed && !reader.error().empty()) {
        end(QStringLiteral("The agent of rank %1 sent something that cannot be read: %2.")
                .arg(name)
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
    case Channel::Values:
        values.append(frame.body.data(), static_cast<qsizetype>(frame.body.size()));
        break;
    case Channel::Modules:
        handleModules(decodeFields(frame.body));
        break;
    case Channel::Fault: {
        const Fields fields = decodeFields(frame.body);
        emit link->fault(fieldText(fields, "code"), fieldText(fields, "text"), fieldText(fields, "remedy"));
        break;
    }
    case Channel::Trace: {
        if (pulls.empty()) {
            break;
        }
        bool complete = false;
        if (!takeTrace(frame.body, complete)) {
            end(QStringLiteral("The agent of rank %1 sent a recording that does not fit.")
                    .arg(name));
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
        transport->end(QStringLiteral("The gdb of rank %1 has ended.").arg(name));
        if (guard.isNull()) {
            return;
        }
    }
    const RankStatus now = status; // a receiver may cause a newer one
    emit link->statusChanged(before, now);
}

void AgentLink::Impl::handleModules(const Fields& fields) {
    modules = textField(fields, "modules");
    if (ownMapping == nullptr && mappingWanted) {
        // A path of another host, or of another container, leads to another file or to none.
        auto own = std::make_unique<Mapping>();
        if (own->attach(textField(fields, "map"), unsignedField(fields, "device", 0), unsignedField(fields, "inode", 0))) {
            ownMapping = std::move(own);
        }
    }
    emit link->modulesTold();
}

const std::string& AgentLink::modules() const {
    return m_impl->modules;
}

void AgentLink::readOrphan(std::function<void(Orphan)> then) {
    m_impl->readOrphan(0, std::move(then));
}

void AgentLink::Impl::readOrphan(int waitedMs, std::function<void(Orphan)> then) {
    const bool dead = status.ended || status.pid <= 0 || hasEnded(static_cast<pid_t>(status.pid));
    if (!dead && mappingWanted && waitedMs < kDyingMs) {
        QTimer::singleShot(kDyingStepMs, link,
                           [this, waitedMs, then = std::move(then)] { readOrphan(waitedMs + kDyingStepMs, then); });
        return;
    }
    then(!dead ? Orphan::Lives : readMapping() ? Orphan::Read : Orphan::Unreadable);
}

bool AgentLink::Impl::readMapping() {
    if (ownMapping == nullptr) {
        return false;
    }
    bool complete = false;
    while (!complete) {
        if (!takeTrace(ownMapping->copyForWindow(trace()), complete)) {
            return false;
        }
    }
    for (std::string part; !(part = ownMapping->noted(std::uint64_t(values.size()))).empty();) {
        values.append(part.data(), qsizetype(part.size()));
    }
    return true;
}

void AgentLink::forgetMapping() {
    m_impl->mappingWanted = false;
    m_impl->ownMapping.reset();
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
    std::string_view mapped;
    std::string_view staging;
    std::string_view dictionary;
    std::string_view comms;
    std::string_view stops;
    std::string_view blocks;
    std::string_view start;
    if (!take(header.headerBytes, mapped) || !take(header.stagingBytes, staging) ||
        !take(header.dictionaryBytes, dictionary) || !take(header.commsBytes, comms) ||
        !take(header.stopsBytes, stops) || !take(header.blocksBytes, blocks) || !take(header.startBytes, start) ||
        !body.empty()) {
        return false;
    }
    if (header.dictionaryFrom != image.dictionary.size() || header.commsFrom != image.comms.size() ||
        header.stopsFrom != image.stops.size() ||
        (start.empty() && header.blocksFrom != image.blocksFrom + image.blocks.size())) {
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
    assign(image.header, mapped);
    assign(image.staging, staging);
    append(image.dictionary, dictionary);
    append(image.comms, comms);
    append(image.stops, stops);
    if (!start.empty()) { // the rank was faster than we: what came between is gone
        image.blocks.clear();
        image.blocksFrom = header.blocksFrom;
        assign(image.start, start);
    }
    append(image.blocks, blocks);
    std::uint64_t blockLength = 0;
    std::memcpy(&blockLength, mapped.data() + offsetof(trace::MappingHeader, blockLength),
                sizeof blockLength);
    complete = blocks.empty() || image.blocksFrom + image.blocks.size() >= blockLength;
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

} // namespace stopline::agent
