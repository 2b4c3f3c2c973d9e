// Who may connect to the window and who may not.
#include "../../../../gdbmi/agent_frames.h"
#include "../../../../gdbmi/agent_link.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QHostAddress>
#include <QTcpSocket>
#include <QTimer>

#include <functional>
#include <gtest/gtest.h>

namespace stopline::agent {
namespace {

class Server : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(server.listen().toStdString(), "");
        QObject::connect(&server, &AgentServer::rejected, &server,
                         [this](const QString& why) { rejected << why; });
        QObject::connect(&server, &AgentServer::agentConnected, &server, [this](AgentLink* link) {
            links << link;
            link->configure({});
        });
    }
    bool waitFor(const std::function<bool()>& done, int ms = 10000) {
        QElapsedTimer timer;
        timer.start();
        bool ok = done();
        while (!ok && timer.elapsed() < ms) {
            QEventLoop loop;
            QTimer::singleShot(2, &loop, &QEventLoop::quit);
            loop.exec();
            ok = done();
        }
        return ok;
    }
    std::unique_ptr<QTcpSocket> connectTo() {
        auto socket = std::make_unique<QTcpSocket>();
        const QString address = server.connectAddress();
        socket->connectToHost(QHostAddress(address.section(u':', 0, 0)), address.section(u':', 1).toUShort());
        EXPECT_TRUE(socket->waitForConnected(5000));
        return socket;
    }
    Fields hello() const {
        return {{"version", std::to_string(kProtocolVersion)},
                {"token", server.token().toStdString()},
                {"rank", "3"},
                {"size", "4"},
                {"host", "somewhere"},
                {"pid", "77"},
                {"program", "a.out"},
                {"directory", "/tmp"},
                {"clock", "5"}};
    }
    static void say(QTcpSocket& socket, const std::string& bytes) {
        socket.write(bytes.data(), static_cast<qint64>(bytes.size()));
        socket.flush();
    }
    static std::string helloFrame(const Fields& fields) {
        return encodeFrame(Channel::Hello, {}, encodeFields(fields));
    }
    void expectRejected(const std::string& bytes, const char* word) {
        const auto socket = connectTo();
        const qsizetype before = rejected.size();
        QByteArray answer;
        QObject::connect(socket.get(), &QTcpSocket::readyRead, &server, [&] { answer += socket->readAll(); });
        say(*socket, bytes);
        EXPECT_TRUE(waitFor([&] {
            return rejected.size() > before && socket->state() == QAbstractSocket::UnconnectedState;
        })) << word;
        EXPECT_TRUE(rejected.value(before).contains(QLatin1StringView(word)))
            << rejected.value(before).toStdString();
        EXPECT_TRUE(links.isEmpty());
        EXPECT_EQ(answer, QByteArray()); // not a byte for strangers
    }

    AgentServer server;
    QStringList rejected;
    QList<AgentLink*> links;
};

TEST_F(Server, RightTokenOpensAndConfigComes) {
    const auto socket = connectTo();
    // Byte by byte, and a State right behind the Hello.
    const std::string bytes =
        helloFrame(hello()) + encodeFrame(Channel::State, {}, "pid 12\nalive 1\nevent 7\n");
    for (const char c : bytes) {
        say(*socket, std::string(1, c));
    }
    ASSERT_TRUE(waitFor([&] { return links.size() == 1 && links[0]->status().pid == 12; }));
    EXPECT_EQ(links[0]->hello().rank, 3);
    EXPECT_EQ(links[0]->hello().job, kFirstJob);
    EXPECT_EQ(links[0]->hello().spawner, QString());
    EXPECT_EQ(links[0]->hello().size, 4);
    EXPECT_EQ(links[0]->hello().agentPid, 77);
    EXPECT_EQ(links[0]->status().event, EventIndex{7});
    EXPECT_TRUE(links[0]->status().alive);
    FrameReader reader;
    Frame frame;
    ASSERT_TRUE(waitFor([&] {
        const QByteArray got = socket->readAll();
        reader.append({got.constData(), static_cast<std::size_t>(got.size())});
        return reader.next(frame);
    }));
    EXPECT_EQ(frame.channel(), Channel::Config);
    EXPECT_EQ(textField(decodeFields(frame.body), "gdb"), "gdb");
    EXPECT_EQ(unsignedField(decodeFields(frame.body), "threshold", 0), kNoThreshold.value());
    EXPECT_TRUE(rejected.isEmpty());
}

TEST_F(Server, StrangersAreDropped) {
    Fields fields = hello();
    fields["token"] = "";
    expectRejected(helloFrame(fields), "token");
    fields["token"] = std::string(server.token().size(), '0');
    expectRejected(helloFrame(fields), "token");
    fields.erase("token");
    expectRejected(helloFrame(fields), "token");
    fields = hello();
    fields["version"] = "99";
    expectRejected(helloFrame(fields), "version");
    fields = hello();
    fields["rank"] = "-1";
    expectRejected(helloFrame(fields), "rank");
    fields["rank"] = "99999999999";
    expectRejected(helloFrame(fields), "rank");
    expectRejected(encodeFrame(Channel::State, {}, "pid 1\n"), "Hello");
    expectRejected("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n", "no frame");
    expectRejected(encodeFrameHeader(Channel::Hello, {}, 1u << 20), "larger");
    std::string other = helloFrame(hello());
    other[2] = 7;
    expectRejected(other, "version 7");
    const QString old = server.token();
    server.renewToken();
    EXPECT_NE(server.token(), old);
    fields = hello();
    fields["token"] = old.toStdString();
    expectRejected(helloFrame(fields), "token");
}

TEST_F(Server, SilenceIsDropped) {
    const auto socket = connectTo();
    say(*socket, helloFrame(hello()).substr(0, 15)); // and no more
    EXPECT_TRUE(waitFor([&] { return rejected.size() == 1; }, 15000));
    EXPECT_TRUE(rejected.value(0).contains(u"said nothing")) << rejected.value(0).toStdString();
    EXPECT_TRUE(links.isEmpty());
}

TEST_F(Server, NonsenseAfterHelloEndsTheLink) {
    const auto socket = connectTo();
    QString why;
    bool pulled = true;
    say(*socket, helloFrame(hello()));
    ASSERT_TRUE(waitFor([&] { return links.size() == 1; }));
    QObject::connect(links[0], &AgentLink::closed, &server, [&](const QString& text) { why = text; });
    links[0]->pull([&](bool ok) { pulled = ok; });
    say(*socket, "nonsense of some length that is no frame");
    ASSERT_TRUE(waitFor([&] { return !why.isEmpty(); }));
    EXPECT_FALSE(pulled);
    EXPECT_FALSE(links[0]->connected());
    bool again = true;
    links[0]->pull([&](bool ok) { again = ok; });
    EXPECT_TRUE(again); // never from inside the call
    EXPECT_TRUE(waitFor([&] { return !again; }));
}

TEST_F(Server, TraceThatDoesNotFitEndsTheLink) {
    for (const int wrong : {0, 1, 2}) {
        links.clear();
        const auto socket = connectTo();
        say(*socket, helloFrame(hello()));
        ASSERT_TRUE(waitFor([&] { return links.size() == 1; }));
        bool answered = false;
        links[0]->pull([&](bool ok) { answered = !ok; });
        TraceHeader header{};
        header.id = wrong == 0 ? 99 : 1;
        header.headerBytes = sizeof(trace::MappingHeader);
        header.blocksFrom = wrong == 1 ? 4 : 0;
        header.blocksBytes = wrong == 2 ? UINT64_MAX - 100 : 0;
        std::string body(reinterpret_cast<const char*>(&header), sizeof header);
        body.append(header.headerBytes, '\0');
        say(*socket, encodeFrame(Channel::Trace, {}, body));
        EXPECT_TRUE(waitFor([&] { return answered && !links[0]->connected(); })) << wrong;
    }
}

} // namespace
} // namespace stopline::agent
