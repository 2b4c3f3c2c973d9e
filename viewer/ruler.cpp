#include "ruler.h"

#include <array>
#include <cstdlib>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

namespace {

struct TimeUnit {
    std::int64_t nanoseconds;
    const char16_t* name;
};
constexpr std::array<TimeUnit, 4> kTimeUnits{
    {{1'000'000'000, u"s"}, {1'000'000, u"ms"}, {1'000, u"µs"}, {1, u"ns"}}};

const TimeUnit& unitFor(std::int64_t largest) {
    for (const TimeUnit& unit : kTimeUnits) {
        if (largest >= unit.nanoseconds) {
            return unit;
        }
    }
    return kTimeUnits.back();
}

} // namespace

std::int64_t niceStep(double wanted) {
    std::int64_t power = 1;
    while (true) {
        for (const std::int64_t factor : {1, 2, 5}) {
            if (double(factor * power) >= wanted) {
                return factor * power;
            }
        }
        if (power > std::int64_t(100'000'000'000'000'000)) {
            return power;
        }
        power *= 10;
    }
}

QString timeLabel(std::int64_t nanoseconds, std::int64_t step, std::int64_t largest) {
    const TimeUnit& unit = unitFor(largest);
    int decimals = 0;
    for (std::int64_t fine = unit.nanoseconds; fine > step && decimals < 9; fine /= 10) {
        ++decimals;
    }
    return QString::number(double(nanoseconds) / double(unit.nanoseconds), 'f', decimals) + u' ' +
           QString::fromUtf16(unit.name);
}

std::vector<RulerTick> timeTicks(const AxisView& view, double spacing) {
    std::vector<RulerTick> ticks;
    const std::int64_t step = niceStep(std::max(1.0, view.unitsPerPixel() * std::max(1.0, spacing)));
    const std::int64_t largest = std::max(std::abs(view.begin), std::abs(view.end));
    const std::int64_t from = std::max<std::int64_t>(view.begin, 0);
    for (std::int64_t unit = (from + step - 1) / step * step; unit < view.end; unit += step) {
        ticks.push_back({unit, view.toPixel(unit), timeLabel(unit, step, largest)});
    }
    return ticks;
}

std::vector<RulerTick> eventTicks(const AxisView& view, double spacing) {
    std::vector<RulerTick> ticks;
    const double eventsPerPixel = view.unitsPerPixel() / double(kUnitsPerEvent);
    const std::int64_t step = niceStep(std::max(1.0, eventsPerPixel * std::max(1.0, spacing)));
    const std::int64_t from = std::max<std::int64_t>((view.begin + kUnitsPerEvent - 1) / kUnitsPerEvent, 1);
    for (std::int64_t event = (from + step - 1) / step * step; event * kUnitsPerEvent < view.end;
         event += step) {
        const std::int64_t unit = event * kUnitsPerEvent;
        ticks.push_back({unit, view.toPixel(unit), QString::number(event)});
    }
    return ticks;
}

QString durationText(std::int64_t nanoseconds) {
    const TimeUnit& unit = unitFor(std::abs(nanoseconds));
    const double value = double(nanoseconds) / double(unit.nanoseconds);
    const double size = std::abs(value);
    const int decimals = unit.nanoseconds == 1 || size >= 100 ? 0 : size >= 10 ? 1 : 2;
    return QString::number(value, 'f', decimals) + u' ' + QString::fromUtf16(unit.name);
}

QString countText(std::uint64_t count) {
    QString digits = QString::number(count);
    for (qsizetype at = digits.size() - 3; at > 0; at -= 3) {
        digits.insert(at, QChar(0x2009));
    }
    return digits;
}

} // namespace stopline::viewer
