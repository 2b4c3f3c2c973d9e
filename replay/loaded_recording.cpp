#include "loaded_recording.h"

#include "../tracelib/history_advance.h"
#include "history_share.h"
#include "signals.h"
#include "words.h"

#include <QFile>
#include <QFileInfo>

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

namespace stopline::replay {

namespace {

template <typename T>
T headerWord(const trace::RankImage& image, std::size_t offset) {
    T value{};
    if (offset + sizeof value <= image.header.size()) {
        std::memcpy(&value, image.header.data() + offset, sizeof value);
    }
    return value;
}

QString buildText(const std::string& build) {
    return build.empty() ? QStringLiteral("without a build id") : QString::fromStdString(build.substr(0, 12));
}

void noteChanged(const CallSites::Changed& changed, LoadedRecording& loaded) {
    const QString path = QString::fromStdString(changed.path);
    const QString lines =
        changed.resolved
            ? QStringLiteral("lines are those of the recorded build; a source file may have changed since")
            : QStringLiteral("calls whose lines are not in the recording have none");
    if (changed.now.empty() && !QFileInfo::exists(path)) {
        loaded.notes << QStringLiteral("%1 is not there any more: %2.").arg(path, lines);
        return;
    }
    loaded.notes << QStringLiteral("%1 has been built anew since the recording (build %2, now %3): %4.")
                        .arg(path, buildText(changed.recorded), buildText(changed.now), lines);
}

/// The rank waited for its agent to look at its code: it begins behind that.
void leaveOutGate(trace::RankImage& image) {
    std::uint64_t waited = 0;
    std::vector<std::byte> stops;
    for (std::size_t at = 0; at + sizeof(trace::MappedStop) <= image.stops.size();
         at += sizeof(trace::MappedStop)) {
        std::uint64_t words[4]; // event, begin, end, ready
        static_assert(sizeof words == sizeof(trace::MappedStop));
        std::memcpy(words, image.stops.data() + at, sizeof words);
        if (words[0] == 0 && words[3] == 1) {
            waited += words[2] - words[1];
        } else {
            const auto from = image.stops.begin() + static_cast<std::ptrdiff_t>(at);
            stops.insert(stops.end(), from, from + sizeof(trace::MappedStop));
        }
    }
    image.stops = std::move(stops);
    const auto origin = headerWord<std::uint64_t>(image, offsetof(trace::MappingHeader, originNs)) + waited;
    std::memcpy(image.header.data() + offsetof(trace::MappingHeader, originNs), &origin, sizeof origin);
}

/// In pieces, so that an event is never kept twice. Answers what is wrong with the image.
QString decode(RankId rank, const trace::RankImage& image, Recording& recording) {
    constexpr std::size_t kPiece = 1 << 16;
    constexpr auto kNoLimit = std::chrono::hours(24);
    QString error;
    do {
        error = recording.read(rank, image, kPiece);
        (void)recording.take(rank, kNoLimit); // a first execution differs from nothing
    } while (error.isEmpty() && recording.behind(rank));
    return error;
}

/// Reads the latest blocks of a rank into its image, with at least `most` events if it has them, and what is known of
/// those before. Returns whether there are others; `error` gets why the file cannot be read any more.
bool readLatest(const std::string& path, RecordedRank& rank, std::uint64_t most, std::string& error) {
    constexpr std::size_t kLeast = std::size_t{4} << 20; // of blocks, before it is worth while
    trace::RankImage& image = rank.image;
    const std::uint64_t wasFrom = image.blocksFrom;
    std::size_t limit = kLeast;
    error = eachPiece(path, rank, [&](const trace::RankImage&) {
        if (image.blocks.size() > limit) {
            trace::HistoryAdvance::leaveOut(image, most);
            limit = std::max(kLeast, 2 * image.blocks.size());
        }
        return std::uint64_t{0}; // nothing of it is decoded yet
    });
    rank.pieces.clear();
    trace::HistoryAdvance::leaveOut(image, most);
    return image.blocksFrom != wasFrom;
}

/// Decodes one rank into the timeline, the latest `most` of its events and some more. True when others were left out.
bool takeRank(std::size_t index, LoadedRecording& loaded, std::uint64_t most) {
    RecordedRank& from = loaded.file.ranks[index];
    const RankId rank{static_cast<std::int32_t>(index)};
    trace::RankImage& image = from.image;
    LoadedRecording::Rank& out = loaded.ranks[index];
    const auto problem = [&](const QString& text) {
        loaded.problems
            << QStringLiteral("%1: rank %2: %3").arg(QFileInfo(loaded.path).fileName()).arg(rankText(rank)).arg(text);
    };
    if (!from.present) {
        problem(QStringLiteral("the file has nothing of it"));
        return false;
    }
    if (image.header.empty()) {
        if (!from.ended && loaded.file.finished && from.waitStatus == -1) {
            problem(QStringLiteral("nothing was recorded of it"));
        }
        return false;
    }
    if (image.header.size() >= sizeof(trace::MappingHeader)) {
        leaveOutGate(image);
    }
    out.events = headerWord<std::uint64_t>(image, offsetof(trace::MappingHeader, eventCount));
    out.recordingOff =
        static_cast<int>(headerWord<std::uint32_t>(image, offsetof(trace::MappingHeader, recordingOff)));
    out.insideCall = headerWord<std::uint32_t>(image, offsetof(trace::MappingHeader, insideCall)) != 0;
    const std::uint64_t staged =
        image.staging.empty()
            ? 0
            : std::uint64_t{headerWord<std::uint32_t>(image, offsetof(trace::MappingHeader, stagedIds))} +
                  headerWord<std::uint32_t>(image, offsetof(trace::MappingHeader, stagedTimes));
    out.bytes = image.dictionary.size() + image.comms.size() + image.blocks.size() + staged;
    for (const BlockPiece& piece : from.pieces) {
        out.bytes += piece.rawBytes;
    }
    const std::string path = QFile::encodeName(loaded.path).toStdString();
    std::string unread;
    const bool leftOut = out.events > most && readLatest(path, from, most, unread);
    QString error;
    if (unread.empty()) {
        unread = eachPiece(path, from, [&](const trace::RankImage& piece) {
            error = decode(rank, piece, *loaded.recording);
            return loaded.recording->blocksRead(rank);
        });
    }
    if (!unread.empty()) {
        error = QString::fromStdString(unread);
    }
    const std::uint64_t last = loaded.recording->timeline().lastEvent(rank).value();
    out.missing = loaded.recording->timeline().firstEvent(rank).value() - 1;
    out.unreceived = out.events > last ? out.events - last : 0;
    if (out.missing != 0 && !leftOut) {
        loaded.notes << QStringLiteral("rank %1: history starts at event %2: older events had been overwritten before they "
                                       "were read (--keep)")
                            .arg(rankText(rank))
                            .arg(out.missing + 1);
    }
    loaded.recording->noteEnd(rank, out.unreceived > 0 || !error.isEmpty() || out.recordingOff != 0);
    if (!error.isEmpty()) {
        problem(QStringLiteral("%1; what it did after event %2 is missing").arg(error).arg(last));
    } else if (out.recordingOff != 0) {
        problem(QStringLiteral("its recording ends with event %1: %2")
                    .arg(last)
                    .arg(QString::fromLocal8Bit(std::strerror(out.recordingOff))));
    } else if (out.unreceived > 0) {
        problem(
            QStringLiteral("its last %1 events are missing, behind event %2").arg(out.unreceived).arg(last));
    }
    if (last < out.events) {
        out.insideCall = last > 0 && loaded.recording->timeline().isBegin(rank, EventIndex{last});
    }
    return leftOut;
}

/// Of the ranks that start late because all have more events than are to be shown.
void noteLeftOut(const QVector<RankId>& ranks, std::uint64_t mostEvents, LoadedRecording& loaded) {
    if (ranks.empty()) {
        return;
    }
    const std::uint64_t first = loaded.ranks[std::size_t(ranks.front().value())].missing + 1;
    const QString starts = QStringLiteral("the history of rank %1 starts at event %2").arg(rankText(ranks.front())).arg(first);
    const QString others = ranks.size() == 1   ? QString()
                           : ranks.size() == 2 ? QStringLiteral(", and another rank starts late, too")
                                               : QStringLiteral(", and %1 other ranks start late, too").arg(ranks.size() - 1);
    loaded.notes << QStringLiteral("The ranks have more than %1 events together, of which the latest are shown "
                                   "(--history-events): %2%3.")
                        .arg(mostEvents)
                        .arg(starts, others);
}

} // namespace

QString endText(const RecordedRank& rank) {
    if (!rank.endedBy.empty()) {
        return QString::fromStdString(rank.endedBy);
    }
    if (rank.waitStatus == -1) {
        return QStringLiteral("not known how it ended");
    }
    if (WIFSIGNALED(rank.waitStatus)) {
        return killedText(WTERMSIG(rank.waitStatus));
    }
    return QStringLiteral("exited with code %1").arg(WEXITSTATUS(rank.waitStatus));
}

QString loadRecording(const QString& path, LoadedRecording& loaded, const std::atomic<bool>* cancelled,
                      std::uint64_t mostEvents, Tallied tallied) {
    loaded.path = path;
    const std::string file = QFile::encodeName(path).toStdString();
    const std::string wrong = readRecordingFile(file, loaded.file, BlocksIn::File);
    if (!wrong.empty()) {
        return QStringLiteral("%1 cannot be opened: %2.").arg(path, QString::fromStdString(wrong));
    }
    for (const FileProblem& problem : loaded.file.problems) {
        loaded.problems << QStringLiteral("%1: %2").arg(QFileInfo(path).fileName(),
                                                        QString::fromStdString(problem.text));
    }
    if (!loaded.file.lost.empty()) {
        loaded.problems << QStringLiteral("%1: it could not be written in full: %2")
                               .arg(QFileInfo(path).fileName(), QString::fromStdString(loaded.file.lost));
    }
    if (tallied == Tallied::Yes) {
        std::string unread; // who decodes the ranks below says so
        loaded.tallies = tallyRecording(file, loaded.file, unread);
    }
    rebaseClocks(loaded.file);
    loaded.sites = CallSites(loaded.file);
    for (const CallSites::Changed& changed : loaded.sites.changed()) {
        noteChanged(changed, loaded);
    }
    const JobTable jobs = loaded.file.jobs();
    nameRanks(jobs);
    loaded.recording = std::make_unique<Recording>(jobs.all().empty() ? 0 : jobs.all().front().size);
    loaded.recording->addJobs(jobs);
    loaded.recording->beginExecution();
    loaded.ranks.resize(loaded.file.ranks.size());
    std::vector<std::uint64_t> events;
    for (const RecordedRank& rank : loaded.file.ranks) {
        events.push_back(headerWord<std::uint64_t>(rank.image, offsetof(trace::MappingHeader, eventCount)));
    }
    QVector<RankId> leftOut;
    const std::uint64_t share = historyShare(std::move(events), mostEvents);
    for (std::size_t i = 0; i < loaded.file.ranks.size(); ++i) {
        if (cancelled != nullptr && *cancelled) {
            return QStringLiteral("cancelled");
        }
        if (takeRank(i, loaded, share)) {
            leftOut.push_back(RankId{static_cast<std::int32_t>(i)});
            loaded.latest = mostEvents;
        }
        loaded.file.ranks[i].image = {}; // it is in the timeline now
    }
    noteLeftOut(leftOut, mostEvents, loaded);
    return {};
}

} // namespace stopline::replay
