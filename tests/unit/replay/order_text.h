// An order log as text.
#pragma once

#include "../../../replay/order_log.h"
#include "../../../tracelib/order.h"

#include <cstdint>
#include <string>

namespace stopline::replay::test {

/// One line an entry: event, kind and all its numbers.
inline std::string text(const OrderLog& log) {
    using trace::OrderKind;
    using trace::OrderReader;
    OrderReader reader(log.bytes.data(), log.bytes.size());
    std::string all;
    while (reader.kind() != OrderKind::None) {
        OrderReader numbers = reader;
        all += std::to_string(reader.event()) + " kind " + std::to_string(int(reader.kind()));
        const auto add = [&] {
            const std::uint64_t number = numbers.number();
            all += ' ' + std::to_string(number);
            return number;
        };
        const auto list = [&](std::uint64_t each) {
            for (std::uint64_t left = add() * each; left > 0; --left) {
                add();
            }
        };
        switch (reader.kind()) {
        case OrderKind::Source:
        case OrderKind::Awaited:
            add();
            break;
        case OrderKind::Starts:
            list(2);
            break;
        case OrderKind::Marked:
            add();
            add();
            break;
        case OrderKind::Completed:
            list(1);
            break;
        case OrderKind::Poll: {
            add();
            const auto outcome = trace::PollOutcome(add());
            if (outcome == trace::PollOutcome::Source || outcome == trace::PollOutcome::Marked) {
                add();
            } else if (outcome == trace::PollOutcome::Completed) {
                list(1);
            }
            break;
        }
        default:
            break;
        }
        all += '\n';
        reader.skip();
    }
    return all;
}

} // namespace stopline::replay::test
