// A recording from a file, ready to be looked at: timeline, call sites, how the ranks ended.
#pragma once

#include "recording.h"
#include "recording_reader.h"
#include "recording_sites.h"
#include "recording_tally.h"

#include <QString>
#include <QStringList>

#include <atomic>
#include <memory>
#include <vector>

namespace stopline::replay {

struct LoadedRecording {
    /// Of a rank, besides what its events say.
    struct Rank {
        std::uint64_t bytes = 0;      ///< what the rank's recording takes: dictionary, communicators, events
        std::uint64_t events = 0;     ///< that the library counted
        std::uint64_t unreceived = 0; ///< of these, not in the file
        std::uint64_t missing = 0;    ///< of these, before the start of its history
        int recordingOff = 0;         ///< errno: the library stopped recording; 0: it did not
        bool insideCall = false;      ///< it had entered its last call and not left it
    };

    QString path;
    RecordingFile file; ///< without images and modules, which are in the parts below
    std::unique_ptr<Recording> recording;
    CallSites sites;
    std::vector<Rank> ranks;
    std::vector<RankTally> tallies; ///< by rank, of all events, also those that are left out; where they were asked for
    std::uint64_t latest = 0;       ///< not 0: only about so many events of all ranks, the latest, are in the timeline
    /// What is wrong, each with the file's name, rank and chunk or block, and what is missing by it.
    QStringList problems;
    /// What has changed since: programs and libraries that are other builds now.
    QStringList notes;
};

/// Whether all events are counted as well, which takes another pass over them.
enum class Tallied { No, Yes };

/// Reads the file and decodes all ranks; takes seconds where it is large. Empty, or why nothing can be shown
/// at all. `cancelled` is looked at between two ranks; the answer is then "cancelled". With `mostEvents`
/// about so many events of all ranks are taken and the older ones left out; 0 takes all. The memory that it takes depends
/// on how many are taken, not on how large the file is.
[[nodiscard]] QString loadRecording(const QString& path, LoadedRecording& loaded,
                                    const std::atomic<bool>* cancelled = nullptr, std::uint64_t mostEvents = 0,
                                    Tallied tallied = Tallied::No);

/// "exited with code 3", "killed by SIGSEGV (Segmentation fault)", "not known how it ended".
[[nodiscard]] QString endText(const RecordedRank& rank);

} // namespace stopline::replay
