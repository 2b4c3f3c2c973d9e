// All that the recording knows of one call, as rich text with links.
#pragma once

#include "../replay/session.h"

#include <QPalette>
#include <QString>

namespace stopline::app {

/// Links: "call:RANK:INDEX" selects another call, "source" shows the line. Empty when there is no such call.
[[nodiscard]] QString callDetailsHtml(const replay::Session& session, replay::CallRef call,
                                      const QPalette& palette);
/// The call of a "call:RANK:INDEX" link.
[[nodiscard]] std::optional<replay::CallRef> callOfLink(const QString& link);

} // namespace stopline::app
