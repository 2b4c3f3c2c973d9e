// A recording from a file, ready to be looked at: timeline, call sites, how the ranks ended.
#pragma once

#include "recording.h"
#include "recording_reader.h"
#include "recording_sites.h"

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
    /// What is wrong, each with the file's name, rank and chunk or block, and what is missing by it.
    QStringList problems;
    /// What has changed since: programs and libraries that are other builds now.
    QStringList notes;
};

/// Reads the file and decodes all ranks; takes seconds where it is large. Empty, or why nothing can be shown
/// at all. `cancelled` is looked at between two ranks; the answer is then "cancelled". With `mostEvents`
/// about so many events of all ranks are taken and the older ones left out; 0 takes all.
[[nodiscard]] QString loadRecording(const QString& path, LoadedRecording& loaded,
                                    const std::atomic<bool>* cancelled = nullptr, std::uint64_t mostEvents = 0);

/// "exited with code 3", "killed by signal 11 (Segmentation fault)", "not known how it ended".
[[nodiscard]] QString endText(const RecordedRank& rank);

} // namespace stopline::replay
