// From one call to another by keyboard.
#pragma once

#include "diagram_model.h"

#include <optional>

namespace stopline::viewer {

/// The next or previous call of the same rank.
[[nodiscard]] std::optional<replay::CallRef> neighbour(const DiagramModel& model, replay::CallRef from,
                                                       bool forward);
/// The next or previous call of the same rank that was made from the same place in the code.
[[nodiscard]] std::optional<replay::CallRef> sameSite(const DiagramModel& model, replay::CallRef from,
                                                      bool forward);
/// The call on another rank that begins nearest to the middle of this one.
[[nodiscard]] std::optional<replay::CallRef> onRank(const DiagramModel& model, replay::CallRef from, int rank,
                                                    Axis axis);
/// The receive end of the call's first message: the call that completed it, else the one that posted it.
[[nodiscard]] std::optional<replay::CallRef> receiveEnd(const DiagramModel& model, replay::CallRef from);
/// The send end of the call's first message.
[[nodiscard]] std::optional<replay::CallRef> sendEnd(const DiagramModel& model, replay::CallRef from);
/// The call of the next member of the same collective that has arrived; wraps around.
[[nodiscard]] std::optional<replay::CallRef> nextMember(const DiagramModel& model, replay::CallRef from);

} // namespace stopline::viewer
