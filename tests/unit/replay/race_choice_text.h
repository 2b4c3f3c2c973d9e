// Choices as text, and short ways to make them.
#pragma once

#include "races_text.h"

#include "../../../replay/order_log.h"
#include "../../../replay/race_choice.h"

#include <string>

namespace stopline::replay::test {

/// One line an entry: begin of the call, kind, numbers.
inline std::string text(const OrderEntries& entries) {
    std::string all;
    for (const auto& [event, entry] : entries) {
        all += std::to_string(event) + " kind " + std::to_string(int(entry.kind));
        for (const std::uint64_t number : entry.numbers) {
            all += ' ' + std::to_string(number);
        }
        all += '\n';
    }
    return all;
}

/// The choice of the message that `sender` sends for the race of this call.
inline Choice choose(const Timeline& timeline, CallRef race, std::int32_t sender, std::string* why = nullptr) {
    const RaceAnalysis races = analyse(timeline);
    for (const Race& one : races.racesOf(race)) {
        for (const Alternative& alternative : races.alternatives(one)) {
            if (alternative.sender.value() == sender) {
                std::string reason;
                const Choice choice = choiceOf(timeline, one, alternative, reason);
                EXPECT_EQ(reason.empty(), why == nullptr) << reason;
                if (why != nullptr) {
                    *why = reason;
                }
                return choice;
            }
        }
    }
    ADD_FAILURE() << "no such alternative";
    return {};
}

inline std::string upTo(const Choice& choice) {
    std::string all;
    for (const EventIndex event : choice.upTo) {
        all += (all.empty() ? "" : " ") + std::to_string(event.value());
    }
    return all;
}

/// Entries of rank 0 when the receive that got `got`'s message of this call gets `other`'s.
inline std::string plannedFor(const Timeline& timeline, CallRef call, std::int32_t got, std::int32_t other, std::string* shared = nullptr) {
    const RaceAnalysis races = analyse(timeline);
    for (const Race& race : races.racesOf(call)) {
        for (const Alternative& one : races.alternatives(race)) {
            if (race.sender == RankId{got} && one.sender == RankId{other}) {
                std::string why;
                const Choice choice = choiceOf(timeline, race, one, why);
                EXPECT_EQ(why, "");
                if (shared != nullptr) {
                    *shared = upTo(choice);
                }
                return text(plannedOrder(timeline, RankId{0}, choice));
            }
        }
    }
    return "none";
}

} // namespace stopline::replay::test
