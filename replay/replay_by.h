// The two ways to execute a recording again so that it is the same.
#pragma once

#include <QStringView>

#include <optional>

namespace stopline::replay {

/// How receives of any source get the messages that they had, when a recording is executed again.
enum class ReplayBy {
    Source, ///< each is given its source (Meehan 1994)
    Tag,    ///< messages that raced are marked, and kept for the receive that they had (Netzer & Miller 1992; order_marks.h)
    /// The same, and with control messages: no more of them are buffered than in the recorded execution (order_controls.h).
    TagBounded,
};

/// By its name: source, tag, tag-bounded.
[[nodiscard]] inline std::optional<ReplayBy> replayByOf(QStringView name) {
    if (name == u"source") {
        return ReplayBy::Source;
    }
    if (name == u"tag") {
        return ReplayBy::Tag;
    }
    return name == u"tag-bounded" ? std::optional(ReplayBy::TagBounded) : std::nullopt;
}

} // namespace stopline::replay
