// The byte formats of the recording, reading side: every input is taken as hostile.
#pragma once

#include "byte_reader.h"
#include "event.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace stopline::trace {

/// Reads details as written by encodeDetails(); false when they are not valid.
[[nodiscard]] bool readDetails(ByteReader& in, EventDetails& details);
/// Reads a communicator as written by encodeComm(); false when it is not valid.
[[nodiscard]] bool readComm(ByteReader& in, CommInfo& comm);

/// Most members that one group of a communicator may have for the reader.
inline constexpr std::uint32_t kMaxMembers = 1U << 22;

} // namespace stopline::trace
