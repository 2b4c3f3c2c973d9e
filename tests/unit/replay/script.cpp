#include "script.h"

namespace stopline::replay::test {

std::string text(const Cut& cut) {
    std::string result;
    for (const Place& place : cut) {
        result += (result.empty() ? "" : " ") + std::string(place.inside ? "i" : "") +
                  std::to_string(place.event.value());
    }
    return result;
}

Cut cut(std::initializer_list<std::uint64_t> events) {
    Cut result;
    for (const std::uint64_t event : events) {
        result.push_back({EventIndex{event}, false});
    }
    return result;
}

} // namespace stopline::replay::test
