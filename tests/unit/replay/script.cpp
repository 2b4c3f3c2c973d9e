#include "script.h"

#include <algorithm>

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

Pairs pairs(const Timeline& timeline) {
    const auto show = [](const std::optional<CallRef>& ref) {
        return ref ? std::to_string(ref->rank.value()) + ":" + std::to_string(ref->call.value()) : "-";
    };
    Pairs result;
    for (const Message& m : timeline.messages()) {
        result.push_back(show(m.send) + " " + show(m.post) + " " + show(m.done) + " " +
                         "MPRSC"[static_cast<std::size_t>(m.state)]);
    }
    std::sort(result.begin(), result.end());
    return result;
}

} // namespace stopline::replay::test
