// How ranks, places, locations and messages are written, in the window and in batch output alike.
#pragma once

#include "../replay/session.h"
#include "../replay/words.h"

#include <QString>
#include <QVector>

#include <optional>

namespace stopline::app {

/// Reads "3", "0-3,7" or "0..3"; sorted, without duplicates. Nothing when malformed or a range has more than
/// 65536 ranks.
[[nodiscard]] std::optional<QVector<int>> parseRankSet(const QString& text);

/// A function's own name where there is little room: "worker" of Fortran's "tasks::worker" (module and procedure) and of
/// C++'s "grid<double>::worker(int)". Names without a prefix come back as they are.
[[nodiscard]] QString shortFunction(const QString& name);
[[nodiscard]] QString focusText(const replay::Focus& focus); ///< "all", "rank 3" or "ranks 0,3"
[[nodiscard]] QVector<int> rankNumbers(const QVector<RankId>& ranks);
/// "solver.c:118"; "libsolver.so, no line" where no more is known; empty where nothing is. `fullPath`: the path as known.
[[nodiscard]] QString locationText(const replay::SourceLocation& location, bool fullPath = false);
/// "after 12 MPI_Send", "before MPI_Init"; safe for ranks and events that the timeline does not have (yet).
[[nodiscard]] QString placeText(const replay::Timeline& timeline, RankId rank, const replay::Place& place);
/// The same of where a rank is now; "not started" of one that has no process.
[[nodiscard]] QString placeText(const replay::Timeline& timeline, const replay::RankView& view);
/// "stopped by a signal: SIGSEGV, Segmentation fault": state and, where it adds something, the detail.
[[nodiscard]] QString fullStateText(const replay::RankView& view);
[[nodiscard]] QString eventCountText(EventIndex event); ///< "12,345", in the language of the system
/// As fullStateText; of a rank that runs: "in MPI_Recv", "running, before MPI_Init".
[[nodiscard]] QString liveStateText(const replay::RankView& view);
/// "sent, not received"; says so where what is missing may have been lost with the end of a recording.
[[nodiscard]] QString messageStateText(const replay::Timeline& timeline, const replay::Message& message);
/// The same; of a receive that a choice holds for another message: for which.
[[nodiscard]] QString messageStateText(const replay::Session& session, const replay::Message& message);
/// One open message on one line: ends, tag, size, communicator state and what is missing.
[[nodiscard]] QString openMessageText(const replay::Session& session, const replay::Message& message);
/// "rank 2 event 14 MPI_Recv at ring.c:31"
[[nodiscard]] QString callPlaceText(const replay::Session& session, replay::CallRef call);
[[nodiscard]] QString severityText(replay::Severity severity); ///< "info", "warning", "error"
/// True when rank and call exist in the timeline.
[[nodiscard]] bool hasCall(const replay::Timeline& timeline, replay::CallRef call);

} // namespace stopline::app
