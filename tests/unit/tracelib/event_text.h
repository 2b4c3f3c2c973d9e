// Recorded events as the lines that tests compare.
#pragma once

#include "../../../tracelib/reader.h"

#include <cstdint>
#include <string>
#include <vector>

/// One event in one line. `created` requests and `matched` messages of matched probes are known up to it,
/// itself included: what it names is counted back from these.
std::string eventText(std::uint64_t number, const stopline::trace::EventDetails& d,
                      const stopline::trace::DecodedEvent& event, std::uint32_t created,
                      std::uint32_t matched);

/// "[0,1]"
std::string listText(const std::vector<std::int32_t>& list);
