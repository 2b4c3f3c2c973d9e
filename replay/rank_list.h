// Ranks as people write them.
#pragma once

#include "place.h"

#include <QString>
#include <QVector>

namespace stopline::replay {

/// "rank 2", "ranks 0-3,7": for the beginning of a sentence about them. Any order, no rank twice.
[[nodiscard]] QString ranksText(QVector<RankId> ranks);

} // namespace stopline::replay
