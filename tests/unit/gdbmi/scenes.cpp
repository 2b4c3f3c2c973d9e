#include "scenes.h"

#include "gdb_fixture.h"

namespace stopline::mi {

namespace {

using What = SceneStep::What;

QString textOf(const Frame& frame) {
    return QStringLiteral("%1 %2:%3").arg(frame.function, frame.file).arg(frame.line);
}

QString textOf(const StopEvent& event) {
    return QStringLiteral("stop %1 signal '%2' code %3 at %4")
        .arg(static_cast<int>(event.cause))
        .arg(event.signalName)
        .arg(event.exitCode)
        .arg(textOf(event.frame));
}

template <typename T, typename Text>
QString textOf(const Result<T>& result, Text text) {
    return result ? text(result.value()) : QStringLiteral("error: ") + result.error().text;
}

QString readStep(const SceneStep& step, GdbSession& session) {
    switch (step.what) {
    case What::UserLibraries:
        return textOf(answerOf<Unit>([&](auto handler) { session.loadUserLibraries(handler); }),
                      [](Unit) { return QStringLiteral("user libraries"); });
    case What::Break:
        return textOf(
            answerOf<Breakpoint>([&](auto h) { session.insertBreakpoint(step.text, {}, false, h); }),
            [](const Breakpoint& b) {
                return QStringLiteral("breakpoint %1 %2:%3").arg(b.function, b.file).arg(b.line);
            });
    case What::Stack:
        return textOf(answerOf<QVector<Frame>>([&](auto handler) { session.stack(1, 50, handler); }),
                      [](const QVector<Frame>& frames) {
                          QStringList texts;
                          for (const Frame& frame : frames) {
                              texts.append(textOf(frame));
                          }
                          return QStringLiteral("stack ") + texts.join(QStringLiteral(" < "));
                      });
    case What::Variables:
        return textOf(answerOf<QVector<Variable>>([&](auto handler) { session.variables(1, 0, handler); }),
                      [](const QVector<Variable>& variables) {
                          QStringList texts;
                          for (const Variable& variable : variables) {
                              texts.append(variable.type + QLatin1Char(' ') + variable.name);
                          }
                          return QStringLiteral("variables ") + texts.join(QStringLiteral(", "));
                      });
    case What::Evaluate:
        return textOf(answerOf<QString>([&](auto h) { session.evaluate(step.text, 1, 0, h); }),
                      [](const QString& value) { return QStringLiteral("value ") + value; });
    case What::Threads:
        return textOf(
            answerOf<QVector<Thread>>([&](auto handler) { session.threads(handler); }),
            [](const QVector<Thread>& all) { return QStringLiteral("threads %1").arg(all.size()); });
    default:
        return {};
    }
}

QString resumeStep(const SceneStep& step, GdbSession& session) {
    std::optional<StopEvent> event;
    QObject context;
    const auto take = [&event](const StopEvent& e) { event = e; };
    QObject::connect(&session, &GdbSession::stopped, &context, take);
    QObject::connect(&session, &GdbSession::exited, &context, take);
    const auto status = answerOf<Unit>([&](auto handler) {
        switch (step.what) {
        case What::Next:
            session.resume(Resume::Next, 1, 0, handler);
            break;
        case What::Step:
            session.resume(Resume::Step, 1, 0, handler);
            break;
        case What::Finish:
            session.resume(Resume::Finish, 1, 0, handler);
            break;
        case What::Advance:
            session.advance(step.text, 1, handler);
            break;
        default:
            session.resume(Resume::Continue, 1, 0, handler);
        }
    });
    if (!status) {
        return QStringLiteral("error: ") + status.error().text;
    }
    waitUntil([&] { return event.has_value() || session.state() == GdbState::Dead; });
    return event ? textOf(*event) : QStringLiteral("nothing");
}

} // namespace

QVector<Scene> scenes() {
    const QString c = QStringLiteral("gdbmi_target");
    const SceneStep go{What::Evaluate, QStringLiteral("go = 1")};
    return {
        {QStringLiteral("loop"),
         c,
         {},
         {{What::Stack},
          go,
          {What::Break, QStringLiteral("add")},
          {What::Continue},
          {What::Stack},
          {What::Variables},
          {What::Finish},
          {What::Next},
          {What::Next},
          {What::Step},
          {What::Evaluate, QStringLiteral("point")},
          {What::Evaluate, QStringLiteral("no_such_name")},
          {What::Evaluate, QStringLiteral("add(1, 2) + add(3, 4)")},
          {What::Advance, QStringLiteral("crash")}}},
        {QStringLiteral("crash"),
         c,
         {QStringLiteral("crash")},
         {go,
          {What::Continue},
          {What::Stack},
          {What::Variables},
          {What::Evaluate, QStringLiteral("*nowhere")},
          {What::Continue}}},
        {QStringLiteral("exit"),
         c,
         {QStringLiteral("exit")},
         {go,
          {What::Break, QStringLiteral("user_function")},
          {What::UserLibraries},
          {What::Continue},
          {What::Variables},
          {What::Continue}}},
        {QStringLiteral("signals"), c, {QStringLiteral("signals")}, {go, {What::Continue}}},
        {QStringLiteral("threads"),
         c,
         {QStringLiteral("threads")},
         {{What::Threads}, go, {What::Break, QStringLiteral("turn")}, {What::Continue}}},
        {QStringLiteral("names"),
         QStringLiteral("gdbmi_names"),
         {},
         {go,
          {What::Break, QStringLiteral("shapes::Box<std::string>::twice")},
          {What::Break, QStringLiteral("twice")},
          {What::Continue},
          {What::Stack},
          {What::Variables},
          {What::Finish}}},
    };
}

QStringList playScene(const Scene& scene, GdbSession& session, qint64 pid) {
    QStringList texts;
    const auto ready = answerOf<Unit>([&](auto handler) { session.initialise(handler); });
    const auto attached = answerOf<Unit>([&](auto handler) { session.attach(pid, handler); });
    texts.append(ready && attached ? QStringLiteral("attached") : QStringLiteral("not attached"));
    for (const SceneStep& step : scene.steps) {
        switch (step.what) {
        case What::Continue:
        case What::Next:
        case What::Step:
        case What::Finish:
        case What::Advance:
            texts.append(resumeStep(step, session));
            break;
        default:
            texts.append(readStep(step, session));
        }
    }
    // What the session asks for by itself must be over before the caller's next request.
    (void)answerOf<QVector<Breakpoint>>([&](auto handler) { session.breakpoints(handler); });
    return texts;
}

} // namespace stopline::mi
