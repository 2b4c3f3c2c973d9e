// A program under a real gdb, for the tests of the session.
#pragma once

#include "../../../gdbmi/gdb_process.h"
#include "../../../gdbmi/gdb_session.h"

#include <gtest/gtest.h>

#include <QElapsedTimer>
#include <QEventLoop>
#include <QTimer>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stopline::mi {

inline constexpr int kLongestWaitMs = 60000; ///< only a hang takes so long

/// Runs the event loop until the condition holds; false after the longest wait.
inline bool waitUntil(const std::function<bool()>& condition, int longestMs = kLongestWaitMs) {
    QElapsedTimer since;
    since.start();
    QEventLoop loop;
    QTimer tick;
    QObject::connect(&tick, &QTimer::timeout, &loop, &QEventLoop::quit);
    tick.start(5);
    while (!condition()) {
        if (since.elapsed() > longestMs) {
            return false;
        }
        loop.exec();
    }
    return true;
}

/// Makes a request and waits for its answer.
template <typename T>
Result<T> answerOf(const std::function<void(GdbSession::Handler<T>)>& request) {
    auto answer = std::make_shared<std::optional<Result<T>>>();
    int calls = 0;
    request([answer, &calls](Result<T> result) {
        ++calls;
        answer->emplace(std::move(result));
    });
    EXPECT_EQ(calls, 0) << "the handler was called from inside the request";
    if (!waitUntil([&] { return answer->has_value(); })) {
        return Error{ErrorCode::TimedOut, QStringLiteral("the test waited too long")};
    }
    EXPECT_EQ(calls, 1);
    return **answer;
}

/// A child process that prints "ready" and then waits for its variable `go`. Not a QProcess: that waits
/// without a bound for a child which was killed and whose end gdb, its tracer, has not yet taken notice of.
class Program {
  public:
    explicit Program(const QString& path, const QStringList& arguments = {}) {
        std::vector<std::string> words{path.toStdString()};
        for (const QString& argument : arguments) {
            words.push_back(argument.toStdString());
        }
        std::vector<char*> pointers;
        for (std::string& word : words) {
            pointers.push_back(word.data());
        }
        pointers.push_back(nullptr);
        int output[2] = {-1, -1};
        if (::pipe2(output, O_CLOEXEC) != 0) {
            return;
        }
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, output[1], 1);
        if (::posix_spawn(&m_pid, words[0].c_str(), &actions, nullptr, pointers.data(), environ) != 0) {
            m_pid = -1;
        }
        posix_spawn_file_actions_destroy(&actions);
        ::close(output[1]);
        m_output = output[0];
        pollfd readable{m_output, POLLIN, 0};
        char text[64];
        const bool ready =
            ::poll(&readable, 1, kLongestWaitMs) == 1 && ::read(m_output, text, sizeof text) > 0;
        EXPECT_TRUE(ready) << words[0] << " does not start";
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program() {
        if (m_pid > 0) {
            ::kill(m_pid, SIGKILL);
            EXPECT_TRUE(waitUntil([this] { return ::waitpid(m_pid, nullptr, WNOHANG) != 0; }));
        }
        if (m_output >= 0) {
            ::close(m_output);
        }
    }
    [[nodiscard]] qint64 pid() const { return m_pid; }

  private:
    pid_t m_pid = -1;
    int m_output = -1;
};

class GdbTest : public ::testing::Test {
  protected:
    void SetUp() override { startGdb(); }
    // gdb first: a killed program is not gone as long as gdb traces it.
    void TearDown() override {
        session.reset();
        gdb.reset();
        programs.clear();
    }

    Program& start(const QString& path, const QStringList& arguments = {}) {
        programs.push_back(std::make_unique<Program>(path, arguments));
        return *programs.back();
    }

    void startGdb() {
        session.reset();
        gdb = std::make_unique<GdbProcess>();
        session = std::make_unique<GdbSession>(gdb.get());
        session->setWatchdog(std::chrono::milliseconds(0));
        session->setDeadline(std::chrono::milliseconds(kLongestWaitMs));
        QObject::connect(session.get(), &GdbSession::stopped, session.get(),
                         [this](const StopEvent& event) { stops.append(event); });
        QObject::connect(session.get(), &GdbSession::exited, session.get(),
                         [this](const StopEvent& event) { exits.append(event); });
        QObject::connect(session.get(), &GdbSession::died, session.get(),
                         [this](const QString& why) { deaths.append(why); });
        gdb->start();
        const auto status = answerOf<Unit>([this](auto handler) { session->initialise(handler); });
        ASSERT_TRUE(status.ok()) << status.error().text.toStdString();
    }

    void attach(const Program& program) {
        const auto status = answerOf<Unit>([&](auto handler) { session->attach(program.pid(), handler); });
        ASSERT_TRUE(status.ok()) << status.error().text.toStdString();
        ASSERT_EQ(session->state(), GdbState::Stopped);
        ASSERT_TRUE(stops.isEmpty());
    }

    void attachAndGo(const Program& program) {
        attach(program);
        const auto value = evaluate(QStringLiteral("go = 1"));
        ASSERT_TRUE(value.ok()) << value.error().text.toStdString();
    }

    /// Resumes and waits for the next stop or exit.
    StopEvent resume(Resume how, int frame = 0) {
        const qsizetype before = stops.size();
        const qsizetype exitsBefore = exits.size();
        const auto status = answerOf<Unit>([&](auto handler) { session->resume(how, 1, frame, handler); });
        EXPECT_TRUE(status.ok()) << (status ? "" : status.error().text.toStdString());
        return nextStop(before, exitsBefore);
    }

    StopEvent nextStop(qsizetype stopsBefore, qsizetype exitsBefore) {
        EXPECT_TRUE(waitUntil([&] { return stops.size() > stopsBefore || exits.size() > exitsBefore; }));
        return stops.size() > stopsBefore ? stops.last() : exits.isEmpty() ? StopEvent{} : exits.last();
    }

    Result<Breakpoint> breakAt(const QString& location, const QString& condition = {},
                               bool temporary = false) {
        return answerOf<Breakpoint>(
            [&](auto handler) { session->insertBreakpoint(location, condition, temporary, handler); });
    }

    Result<QString> evaluate(const QString& expression, int frame = 0) {
        return answerOf<QString>([&](auto handler) { session->evaluate(expression, 1, frame, handler); });
    }

    QVector<Frame> stack(int thread = 1) {
        const auto frames =
            answerOf<QVector<Frame>>([&](auto handler) { session->stack(thread, 100, handler); });
        EXPECT_TRUE(frames.ok()) << (frames ? "" : frames.error().text.toStdString());
        return frames ? frames.value() : QVector<Frame>{};
    }

    std::vector<std::unique_ptr<Program>> programs;
    std::unique_ptr<GdbProcess> gdb;
    std::unique_ptr<GdbSession> session;
    QVector<StopEvent> stops, exits;
    QStringList deaths;
};

/// Line of a test program that carries the comment "line: <mark>".
int lineOf(const QString& source, const QString& mark);
QString sourcePath(const QString& source);
QString programPath(const QString& program);

} // namespace stopline::mi
