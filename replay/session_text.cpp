// Words for states, verbs, calls and frames.
#include "session_impl.h"
#include "words.h"

#include <algorithm>

namespace stopline::replay {

QChar stateLetter(const RankView& view) {
    switch (view.phase) {
    case RankPhase::NotStarted:
        return u'N';
    case RankPhase::Starting:
        return u'S';
    case RankPhase::Running:
        return u'R';
    case RankPhase::Holding:
        return u'H';
    case RankPhase::Exited:
        return u'X';
    case RankPhase::Failed:
        return u'F';
    case RankPhase::Lost:
        return u'?';
    case RankPhase::Stopped:
        break;
    }
    switch (view.why) {
    case StopWhy::Breakpoint:
        return u'B';
    case StopWhy::Watchpoint:
        return u'W';
    case StopWhy::Step:
        return u'T';
    case StopWhy::Stopline:
        return u'L';
    case StopWhy::RolledBack:
        return u'<';
    case StopWhy::Forwarded:
        return u'>';
    case StopWhy::Signal:
    case StopWhy::Abort:
    case StopWhy::MpiError:
    case StopWhy::ExitNoFinalize:
    case StopWhy::Departure:
        return u'!';
    case StopWhy::Start:
    case StopWhy::Paused:
    case StopWhy::None:
        break;
    }
    return u'P';
}

QString stateText(const RankView& view) {
    auto with = [&view](const QString& text) {
        return view.detail.isEmpty() ? text : QStringLiteral("%1 (%2)").arg(text, view.detail);
    };
    switch (view.phase) {
    case RankPhase::NotStarted:
        return QStringLiteral("not started");
    case RankPhase::Starting:
        return with(QStringLiteral("starting"));
    case RankPhase::Running:
        return with(view.insideMpi ? QStringLiteral("waiting in MPI") : QStringLiteral("running"));
    case RankPhase::Holding:
        return with(QStringLiteral("holding"));
    case RankPhase::Exited:
        if (view.exitSignal != 0) {
            return view.detail.isEmpty() ? QStringLiteral("killed") : view.detail;
        }
        return QStringLiteral("exited with code %1").arg(view.exitCode);
    case RankPhase::Failed:
        return with(QStringLiteral("failed"));
    case RankPhase::Lost:
        return with(QStringLiteral("lost"));
    case RankPhase::Stopped:
        break;
    }
    switch (view.why) {
    case StopWhy::Paused:
    case StopWhy::None:
        return with(view.insideMpi ? QStringLiteral("paused in MPI") : QStringLiteral("paused"));
    case StopWhy::Breakpoint:
        return with(QStringLiteral("stopped at breakpoint"));
    case StopWhy::Watchpoint:
        return with(QStringLiteral("stopped at watchpoint"));
    case StopWhy::Step:
        return with(QStringLiteral("stopped after step"));
    case StopWhy::Signal:
        return with(QStringLiteral("stopped by signal"));
    case StopWhy::Stopline:
        return with(QStringLiteral("stopped at stopline"));
    case StopWhy::RolledBack:
        return with(QStringLiteral("rolled back"));
    case StopWhy::Forwarded:
        return with(QStringLiteral("taken forward"));
    case StopWhy::Start:
        return with(QStringLiteral("stopped at the start"));
    case StopWhy::Abort:
    case StopWhy::MpiError:
    case StopWhy::ExitNoFinalize:
        return with(QStringLiteral("stopped before the job ends"));
    case StopWhy::Departure:
        return with(QStringLiteral("stopped: departs from the recording"));
    }
    return {};
}

QString verbName(Verb verb) {
    switch (verb) {
    case Verb::Run:
        return QStringLiteral("Run");
    case Verb::Continue:
        return QStringLiteral("Continue");
    case Verb::Pause:
        return QStringLiteral("Pause");
    case Verb::StepOver:
        return QStringLiteral("Step over");
    case Verb::StepInto:
        return QStringLiteral("Step into");
    case Verb::StepOut:
        return QStringLiteral("Step out");
    case Verb::RunTo:
        return QStringLiteral("Run to cursor");
    case Verb::Kill:
        return QStringLiteral("Kill");
    case Verb::Restart:
        return QStringLiteral("Restart");
    case Verb::Replay:
        return QStringLiteral("Replay run");
    case Verb::Go:
        return QStringLiteral("Go to stopline");
    case Verb::Undo:
        return QStringLiteral("Undo");
    case Verb::Redo:
        return QStringLiteral("Redo");
    case Verb::Rollback:
        return QStringLiteral("Roll back");
    case Verb::Forward:
        return QStringLiteral("Forward");
    }
    return {};
}

QString rankListText(const QVector<RankId>& ranks) {
    QVector<int> numbers;
    for (const RankId rank : ranks) {
        numbers << int(rank.value());
    }
    const bool one = std::all_of(numbers.begin(), numbers.end(), [&](int number) { return number == numbers.front(); });
    return numbers.isEmpty() ? QString() : (one ? QStringLiteral("rank %1") : QStringLiteral("ranks %1")).arg(rankSetText(numbers));
}

QString Session::callText(CallRef call) const {
    const Timeline& timeline = m_impl->recording->timeline();
    if (call.rank.value() >= timeline.rankCount() || call.call.value() >= timeline.callCount(call.rank)) {
        return {};
    }
    const Call& one = timeline.call(call);
    return detailsText(timeline.details(call.rank, one.beginDetails));
}

bool Session::isInternalFrame(const mi::Frame& frame) {
    if (frame.function.startsWith(u"stopline_") || frame.function == u"??") {
        return true;
    }
    auto inside = [](const QString& path) {
        if (path.isEmpty()) {
            return false;
        }
        const QString name = path.section(u'/', -1);
        return name.startsWith(u"libstopline-") || name.startsWith(u"libmpi") || name.startsWith(u"libopen-") ||
               name.startsWith(u"mca_") || path.startsWith(u"/lib/") || path.startsWith(u"/lib64/") ||
               path.startsWith(u"/lib32/") || path.startsWith(u"/usr/lib");
    };
    // Frames of libraries without debug information have no file; those of system libraries are never the user's.
    return inside(frame.from);
}

const mi::Frame* Session::userFrame(const QVector<mi::Frame>& frames) {
    const auto user = std::find_if(frames.begin(), frames.end(), [](const mi::Frame& frame) { return !isInternalFrame(frame); });
    return user == frames.end() ? nullptr : &*user;
}

} // namespace stopline::replay
