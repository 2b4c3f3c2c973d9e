// Calls and messages in words: box labels, tooltips, the text that assistive technology reads.
#pragma once

#include "../replay/timeline.h"

#include <QFontMetrics>
#include <QString>

namespace stopline::viewer {

/// "MPI_Send".
[[nodiscard]] QString functionText(const replay::Timeline& timeline, replay::CallRef call);
/// "MPI_COMM_WORLD", "MPI_COMM_SELF", "communicator 3 (dup)"; empty for none.
[[nodiscard]] QString commText(const replay::Timeline& timeline, RankId rank, CommIndex comm);
/// A peer of a call as a world rank in words: "rank 3", "any source", "nobody (MPI_PROC_NULL)".
[[nodiscard]] QString peerText(const replay::Timeline& timeline, RankId rank, CommIndex comm,
                               std::int32_t peer);
/// World rank of a rank of a communicator (of its remote group between groups); -1 if it is none.
[[nodiscard]] std::int32_t worldRank(const replay::Timeline& timeline, RankId rank, CommIndex comm,
                                     std::int32_t peer);

/// The longest that fits: "Send to 3, tag 5, 4 KB", "Send to 3", "Send"; empty if not even that does.
[[nodiscard]] QString boxLabelText(const replay::Timeline& timeline, replay::CallRef call,
                                   const QFontMetrics& metrics, int width);
/// "3->7 tag 5 4 KB".
[[nodiscard]] QString messageLabelText(const replay::Message& message);
/// What became of a message, seen from one of its calls: "matched with rank 3 event 812 (MPI_Recv)".
[[nodiscard]] QString messageStateText(const replay::Timeline& timeline, const replay::Message& message,
                                       replay::CallRef seenFrom);
/// "raced: 3 other messages could have come". Of several races of one call: the most that one of them could
/// have got.
[[nodiscard]] QString raceText(std::uint32_t races, std::uint32_t alternatives);
/// All that is known about a call, in lines. `site` is "file:line" or empty.
[[nodiscard]] QStringList callLines(const replay::Timeline& timeline, replay::CallRef call,
                                    const QString& site);
/// The same in one sentence.
[[nodiscard]] QString accessibleCallText(const replay::Timeline& timeline, replay::CallRef call);

} // namespace stopline::viewer
