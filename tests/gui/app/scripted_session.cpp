#include "scripted_session_impl.h"

#include <QCoreApplication>

#include <utility>

namespace stopline::replay {

namespace {

std::map<const Session*, Scripted*>& scripts() {
    static std::map<const Session*, Scripted*> all;
    return all;
}

QString focusName(const Scripted& s) {
    QStringList names;
    for (const RankId rank : s.focus.group) {
        names << QString::number(rank.value());
    }
    return s.focus.rank ? QString::number(s.focus.rank->value()) : names.isEmpty() ? QStringLiteral("all") : names.join(u'+');
}

template <typename T>
void answer(const Scripted& s, const std::function<void(Result<T>)>& handler, Result<T> result) {
    if (s.answers) {
        // From the event loop, as the real one does.
        QMetaObject::invokeMethod(
            qApp, [handler, result] { handler(result); }, Qt::QueuedConnection);
    }
}

} // namespace

Scripted& scriptOf(Session& session) {
    return *scripts().at(&session);
}

QChar stateLetter(const RankView& view) {
    switch (view.phase) {
    case RankPhase::NotStarted:
        return u'N';
    case RankPhase::Running:
        return u'R';
    case RankPhase::Exited:
        return u'X';
    case RankPhase::Stopped:
        return view.why == StopWhy::Breakpoint ? u'B' : view.why == StopWhy::Signal ? u'!' : u'P';
    default:
        return u'?';
    }
}

QString stateText(const RankView& view) {
    switch (view.phase) {
    case RankPhase::NotStarted:
        return QStringLiteral("not started");
    case RankPhase::Running:
        return view.insideMpi ? QStringLiteral("waiting in MPI") : QStringLiteral("running");
    case RankPhase::Exited:
        return QStringLiteral("exited with code %1").arg(view.exitCode);
    case RankPhase::Stopped:
        return view.why == StopWhy::Breakpoint ? QStringLiteral("stopped at breakpoint")
               : view.why == StopWhy::Signal   ? QStringLiteral("stopped by signal (%1)").arg(view.detail)
                                               : QStringLiteral("paused");
    default:
        return QStringLiteral("lost");
    }
}

QString verbName(Verb verb) {
    static const QStringList names{
        QStringLiteral("Run"),       QStringLiteral("Continue"),  QStringLiteral("Pause"),
        QStringLiteral("Step over"), QStringLiteral("Step into"), QStringLiteral("Step out"),
        QStringLiteral("Run to"),    QStringLiteral("Kill"),      QStringLiteral("Restart"),
        QStringLiteral("Replay run"),
        QStringLiteral("Go"),        QStringLiteral("Undo"),      QStringLiteral("Redo"),
        QStringLiteral("Roll back"), QStringLiteral("Forward")};
    return names.value(static_cast<int>(verb));
}

Session::Session(QObject* parent) : QObject(parent), m_impl(std::make_unique<Impl>()) {
    scripts()[this] = m_impl.get();
}

Session::~Session() {
    scripts().erase(this);
}

void Session::setLaunch(const LaunchSpec& spec) {
    m_impl->launch = spec;
}
const LaunchSpec& Session::launch() const {
    return m_impl->launch;
}
int Session::rankCount() const {
    return static_cast<int>(m_impl->ranks.size());
}

RankView Session::rank(RankId rank) const {
    const bool known = rank.value() >= 0 && rank.value() < rankCount();
    RankView view = known ? m_impl->ranks[static_cast<std::size_t>(rank.value())] : RankView{};
    view.rank = rank;
    return view;
}

void Session::openRecording(const QString& file) {
    m_impl->calls << QStringLiteral("open ") + file;
    m_impl->opened = file;
    emit timelineReplaced();
    emit operationFinished(m_impl->operationOk, m_impl->operationText);
}
QString Session::openedRecording() const {
    return m_impl->opened;
}
bool Session::jobExists() const {
    return m_impl->job;
}

std::uint32_t Session::launches() const {
    return m_impl->launches;
}

bool Session::allStopped() const {
    for (const RankView& view : m_impl->ranks) {
        if (view.phase == RankPhase::Running) {
            return false;
        }
    }
    return true;
}

Cut Session::places() const {
    Cut cut;
    for (const RankView& view : m_impl->ranks) {
        cut.push_back(view.place);
    }
    return cut;
}

void Session::setFocus(Focus focus) {
    m_impl->focus = focus;
    if (focus.rank) {
        m_impl->shown = *focus.rank;
    }
    emit focusChanged();
}

Focus Session::focus() const {
    return m_impl->focus;
}
RankId Session::shownRank() const {
    return m_impl->shown;
}

void Session::setShownRank(RankId rank) {
    m_impl->shown = rank;
    emit focusChanged();
}

void Session::setStopAtStart(bool stop) {
    m_impl->calls << QStringLiteral("stopAtStart %1").arg(stop);
}
void Session::run() {
    m_impl->calls << QStringLiteral("run");
    m_impl->countLaunch();
}
void Session::continueRun() {
    m_impl->calls << QStringLiteral("continue ") + focusName(*m_impl);
}
void Session::pause() {
    m_impl->calls << QStringLiteral("pause ") + focusName(*m_impl);
}
void Session::stepOver() {
    m_impl->calls << QStringLiteral("stepOver ") + focusName(*m_impl);
}
void Session::stepInto() {
    m_impl->calls << QStringLiteral("stepInto ") + focusName(*m_impl);
}
void Session::stepOut() {
    m_impl->calls << QStringLiteral("stepOut ") + focusName(*m_impl);
}
void Session::runTo(const QString& file, int line) {
    m_impl->calls << QStringLiteral("runTo %1 %2").arg(file.section(u'/', -1)).arg(line);
}

void Session::kill() {
    m_impl->calls << QStringLiteral("kill");
    m_impl->job = false;
    emit jobEnded(QStringLiteral("killed"));
}

void Session::restart() {
    m_impl->calls << QStringLiteral("restart");
    m_impl->countLaunch();
}

void Session::replay() {
    m_impl->calls << QStringLiteral("replay");
    m_impl->countLaunch();
}

Session::Comparison Session::comparison() const {
    return {};
}

QString Session::whyNot(Verb verb) const {
    const auto found = m_impl->whyNot.find(verb);
    return found == m_impl->whyNot.end() ? QString() : found->second;
}

QString Session::operation() const {
    return m_impl->operation;
}
void Session::cancel() {
    m_impl->calls << QStringLiteral("cancel");
}

int Session::addBreakpoint(const QString& location, const QString& condition,
                           std::optional<RankId> onlyRank) {
    UserBreakpoint b;
    b.id = m_impl->breakpoints.isEmpty() ? 1 : m_impl->breakpoints.last().id + 1;
    b.location = location;
    b.condition = condition;
    b.onlyRank = onlyRank;
    b.refused = m_impl->refuses;
    m_impl->breakpoints << b;
    emit breakpointsChanged();
    return b.id;
}

void Session::removeBreakpoint(int id) {
    m_impl->breakpoints.removeIf([id](const UserBreakpoint& b) { return b.id == id; });
    emit breakpointsChanged();
}

void Session::setBreakpointEnabled(int id, bool enabled) {
    for (UserBreakpoint& b : m_impl->breakpoints) {
        if (b.id == id) {
            b.enabled = enabled;
        }
    }
    emit breakpointsChanged();
}

QVector<UserBreakpoint> Session::breakpoints() const {
    return m_impl->breakpoints;
}

void Session::stack(RankId, Handler<QVector<mi::Frame>> handler) {
    answer<QVector<mi::Frame>>(*m_impl, handler, m_impl->frames);
}

void Session::variables(RankId, int, Handler<QVector<mi::Variable>> handler) {
    answer<QVector<mi::Variable>>(*m_impl, handler, m_impl->variables);
}

void Session::evaluate(RankId, int, const QString& expression, Handler<QString> handler) {
    const auto found = m_impl->values.find(expression);
    if (found == m_impl->values.end()) {
        answer<QString>(*m_impl, handler,
                        Error{ErrorCode::GdbError,
                              QStringLiteral("No symbol \"%1\" in current context.").arg(expression)});
    } else {
        answer<QString>(*m_impl, handler, found->second);
    }
}

void Session::openValue(RankId, int, const QString& expression, Handler<mi::ValueTree> handler) {
    const auto found = m_impl->trees.find(expression);
    m_impl->calls << QStringLiteral("openValue ") + expression;
    if (found == m_impl->trees.end()) {
        answer<mi::ValueTree>(*m_impl, handler, Error{ErrorCode::GdbError, QStringLiteral("unable to open")});
    } else {
        answer<mi::ValueTree>(*m_impl, handler, found->second);
    }
}

void Session::valueParts(RankId, const QString& handle, int from, int to,
                         Handler<QVector<mi::ValueTree>> handler) {
    m_impl->calls << QStringLiteral("valueParts %1 %2 %3").arg(handle).arg(from).arg(to);
    answer<QVector<mi::ValueTree>>(*m_impl, handler, m_impl->parts[handle].mid(from, to - from));
}

void Session::updateValues(RankId, Handler<QVector<mi::ValueChange>> handler) {
    answer<QVector<mi::ValueChange>>(*m_impl, handler, std::exchange(m_impl->changes, {}));
}

void Session::closeValue(RankId, const QString& handle) {
    m_impl->calls << QStringLiteral("closeValue ") + handle;
}

RankView Session::live(RankId rank) const {
    const auto found = m_impl->live.find(rank.value());
    return found == m_impl->live.end() ? this->rank(rank) : found->second;
}

void Session::lookAt(RankId rank) {
    m_impl->calls << QStringLiteral("lookAt %1").arg(rank.value());
    if (const auto found = m_impl->seen.find(rank.value()); found != m_impl->seen.end()) {
        const auto see = [this, rank, view = found->second] {
            m_impl->ranks[static_cast<std::size_t>(rank.value())] = view;
            emit rankChanged(rank);
        };
        QMetaObject::invokeMethod(this, see, Qt::QueuedConnection);
    }
}

bool Session::breakpointSettled(int) const {
    return m_impl->settled;
}

void Session::gdbCommand(RankId, const QString& command, Handler<QString> handler) {
    answer<QString>(*m_impl, handler, command + QStringLiteral(" done\n"));
}

bool Session::isInternalFrame(const mi::Frame& frame) {
    return frame.from.contains(QStringLiteral("libmpi"));
}

} // namespace stopline::replay
