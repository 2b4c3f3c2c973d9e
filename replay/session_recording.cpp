// A recording from a file in place of a job.
#include "session_impl.h"

#include <QFileInfo>

#include <algorithm>
#include <atomic>
#include <sys/wait.h>
#include <thread>

namespace stopline::replay {

/// Reads a file on a thread of its own. Its end cancels and waits.
class Session::Impl::Opening {
  public:
    Opening(Session::Impl* to, QString file)
        : m_file(std::move(file)), m_mostEvents(to->historyEvents), m_thread([this, to] { read(to); }) {}
    ~Opening() {
        cancel();
        m_thread.join();
    }
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;
    void cancel() { m_cancelled = true; }
    [[nodiscard]] const QString& file() const { return m_file; }

  private:
    void read(Session::Impl* to) {
        auto loaded = std::make_shared<std::unique_ptr<LoadedRecording>>(std::make_unique<LoadedRecording>());
        const QString wrong = loadRecording(m_file, **loaded, &m_cancelled, m_mostEvents);
        // The session joins this thread before it goes; what is posted to it goes with it.
        QMetaObject::invokeMethod(
            to->q, [to, loaded, wrong] { to->onOpened(std::move(*loaded), wrong); }, Qt::QueuedConnection);
    }

    QString m_file;
    quint64 m_mostEvents;
    std::atomic<bool> m_cancelled{false};
    std::thread m_thread; ///< last: it uses the others
};

Session::Impl::Impl(Session* session)
    : q(session), installation(Installation::find()), follower(new TraceFollower(*this)) {
    QObject::connect(q, &Session::timelineChanged, q, [this] { findRacesSoon(); });
    QObject::connect(q, &Session::timelineReplaced, q, [this] {
        foundRaces.clear();
        findRacesSoon();
    });
    QObject::connect(q, &Session::stopped, q, [this] { walkOver(); });
}
Session::Impl::~Impl() = default;

void Session::openRecording(const QString& file) {
    if (m_impl->alive()) {
        const QString why = tr("there is a job: kill it before a recording is opened");
        emit message(Severity::Warning, why, {});
        emit operationFinished(false, why);
        return;
    }
    m_impl->leaveRecording();
    m_impl->opening = std::make_unique<Impl::Opening>(m_impl.get(), file);
    emit operationChanged();
    emit verbsChanged();
}

QString Session::openedRecording() const {
    return m_impl->opened != nullptr ? m_impl->opened->path : QString();
}

void Session::Impl::cancelOpening() {
    if (opening != nullptr) {
        opening->cancel();
    }
}

QString Session::Impl::openingText() const {
    return opening == nullptr ? QString()
                              : QStringLiteral("Reading %1").arg(QFileInfo(opening->file()).fileName());
}

QString Session::Impl::whyNotOpened(Verb verb) const {
    if (opening == nullptr && opened == nullptr) {
        return {};
    }
    if (opened == nullptr) {
        return QStringLiteral("a recording is being read; cancel that first");
    }
    const QString name = QFileInfo(opened->path).fileName();
    switch (verb) {
    case Verb::Go:
    case Verb::Replay:
    case Verb::Rollback:
    case Verb::Forward:
        return opened->file.command.empty()
                   ? QStringLiteral("%1 does not say by which command it was made: it cannot be executed again").arg(name)
                   : QString();
    case Verb::Run:
    case Verb::Restart:
        return QStringLiteral("%1 is a recording, shown without its job; Replay run executes it again, a new launch starts another job").arg(name);
    default:
        return QStringLiteral("%1 is a recording: there is no job to control. Replay run, or Go to stopline, executes it again").arg(name);
    }
}

/// The job that is about to start is another execution of the recording on show.
void Session::Impl::executeOpened() {
    origin = std::move(opened);
    recordedSpec = {};
    for (const std::string& word : origin->file.command) {
        recordedSpec.command << QString::fromStdString(word);
    }
    recordedSpec.workingDirectory = QString::fromStdString(origin->file.directory);
    recordedSpec.alsoNoted = origin->file.noted;
    spec = recordedSpec;
    input = QByteArray::fromStdString(origin->file.input);
    inputEnded = origin->file.inputEnded;
    besides.sent.clear();
    files.clear();
    besides.values.clear();
    std::vector<FoundRaces> found;
    for (std::size_t i = 0; i < origin->file.ranks.size(); ++i) {
        besides.values[int(i)] = QByteArray::fromStdString(origin->file.ranks[i].values);
        found.push_back(foundRacesOf(std::as_bytes(std::span(origin->file.ranks[i].values))));
    }
    if (areComplete(found)) {
        std::size_t raced = 0;
        for (const FoundRaces& one : found) {
            raced += one.raced.size();
        }
        say(Severity::Info,
            QStringLiteral("The ranks found out while they ran which receives and probes raced (%1): replays are told of the messages of "
                           "those alone.")
                .arg(raced));
        recording->setFoundRaces(std::move(found));
    } else if (const auto limited = std::find_if(found.begin(), found.end(), [](const FoundRaces& one) { return one.looked && !one.complete; });
               limited != found.end()) {
        say(Severity::Info, QStringLiteral("The ranks could not find out while they ran which receives raced (%1): replays are told of the "
                                           "messages of all.")
                                .arg(QString::fromUtf8(limitText(limited->limit))));
    }
    recording->setSitesMoved();
    execution.end = outcomeOfRanks();
}

void Session::Impl::leaveRecording() {
    opening.reset();
    origin.reset();
    if (opened != nullptr) {
        opened.reset();
        resize(0);
        emit q->verbsChanged();
    }
}

void Session::Impl::onOpened(std::unique_ptr<LoadedRecording> loaded, const QString& wrong) {
    if (opening == nullptr || loaded == nullptr || opening->file() != loaded->path) {
        return; // left meanwhile
    }
    opening.reset();
    if (!wrong.isEmpty()) {
        say(Severity::Error, wrong);
        emit q->operationChanged();
        emit q->verbsChanged();
        emit q->operationFinished(false, wrong);
        return;
    }
    follower->forget();
    resize(0);
    const JobTable found = loaded->file.jobs();
    resize(found.all().empty() ? 0 : found.all().front().size);
    jobs = found;
    nameRanks(jobs);
    ranks = jobs.rankCount();
    lastViews.assign(std::size_t(ranks), {});
    opened = std::move(loaded);
    recording = std::move(opened->recording);
    forgetExecutions();
    commands.clear();
    redoList.clear();
    builds.clear();
    rebuilt.clear();
    for (const CallSites::Code& code : opened->sites.callers()) {
        if (!code.build.empty()) {
            builds[QString::fromStdString(code.path)] = code.build;
        }
    }
    const Timeline& timeline = recording->timeline();
    for (std::size_t i = 0; i < lastViews.size(); ++i) {
        const RecordedRank& from = opened->file.ranks[i];
        RankView& view = lastViews[i];
        view = {};
        view.rank = RankId(std::int32_t(i));
        view.phase = RankPhase::Exited;
        if (from.waitStatus == -1 || WIFSIGNALED(from.waitStatus)) {
            view.exitSignal = from.waitStatus == -1 ? -1 : WTERMSIG(from.waitStatus);
            view.detail = endText(from);
        } else {
            view.exitCode = WEXITSTATUS(from.waitStatus);
        }
        const EventIndex last = timeline.lastEvent(view.rank);
        view.insideMpi = opened->ranks[i].insideCall && last.value() > 0 && timeline.isBegin(view.rank, last);
        view.place = {last, view.insideMpi};
    }
    for (const QString& problem : opened->problems) {
        say(Severity::Warning, problem, QStringLiteral("What is sound is shown."));
    }
    for (const QString& note : opened->notes) {
        say(Severity::Warning, note);
    }
    emit q->timelineReplaced();
    emit q->timelineChanged();
    emit q->ranksChanged();
    emit q->operationChanged();
    emit q->verbsChanged();
    emit q->operationFinished(true, QStringLiteral("%1: %2 %3")
                                        .arg(QFileInfo(opened->path).fileName())
                                        .arg(ranks)
                                        .arg(ranks == 1 ? QStringLiteral("rank") : QStringLiteral("ranks")));
}

} // namespace stopline::replay
