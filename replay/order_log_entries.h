// Inside of order_log.cpp: the entries of an order log while they are being collected.
#pragma once

#include "order_log.h"

#include <unordered_map>

namespace stopline::replay {

/// By the number of the begin of each call.
using EntriesByCall = std::unordered_map<std::uint64_t, OrderEntry>;
/// By the begin of a Start, then by position in its list: the source plus one, 0 where the receive was
/// cancelled.
using StartedSources = std::map<std::uint64_t, std::map<std::size_t, std::uint64_t>>;

/// Takes out the sources of what did not race. How often a poll failed stays, and so does all that is no
/// source.
void keepRacing(EntriesByCall& entries, StartedSources& started, const FoundRaces& racing);

/// Appends a varint, as trace::ByteReader reads it.
void put(std::vector<std::byte>& bytes, std::uint64_t number);
/// As tracelib/order.h says.
[[nodiscard]] std::vector<std::byte> bytesOf(const EntriesByCall& entries);

} // namespace stopline::replay
