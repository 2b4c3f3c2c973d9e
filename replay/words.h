// Sets of ranks sizes and errors as they are written everywhere: messages, window and batch output.
#pragma once

#include "../tracelib/errors.h"
#include "jobs.h"

#include <QString>
#include <QVector>

#include <cstdint>

namespace stopline {

/// What a rank is called wherever the user reads of it: "3", of a spawned job "1:0".
[[nodiscard]] inline QString rankText(RankId rank) {
    return QString::fromStdString(replay::rankName(rank));
}
/// "0-3,7", with spawned ones "0-3,1:0-1"; ranks in any order, twice is once. Empty for none.
[[nodiscard]] QString rankSetText(const QVector<int>& ranks);
/// "17 B", "4 KiB", "1.5 MiB"
[[nodiscard]] QString bytesText(std::uint64_t bytes);
/// "MPI_ERR_TRUNCATE (code 15)": the class, and the number that the program's MPI gave.
[[nodiscard]] QString errorText(trace::ErrorClass error, std::int32_t code);

} // namespace stopline
