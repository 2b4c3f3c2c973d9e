#include "palette.h"

#include <cmath>

namespace stopline::viewer {

namespace {

double linear(double channel) {
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& c) {
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}

} // namespace

Palette::Palette(Theme theme) : m_theme(theme) {
    if (theme == Theme::Light) {
        m_styles = {QColor(0xE9ECEF), QColor(0x0072B2), QColor(0x56B4E9), QColor(0xE69F00),
                    QColor(0x009E73), QColor(0xCC79A7), QColor(0xD55E00), QColor(0x555555)};
        background = QColor(0xFFFFFF);
        zebra = QColor(0xFAFAFB);
        frame = QColor(0xF3F4F6);
        separator = QColor(0xD0D4D9);
        grid = QColor(0xEEF0F2);
        text = QColor(0x1B1F24);
        weakText = QColor(0x5F6670);
        message = QColor(0x4A4F57);
        weakMessage = QColor(0xA8AEB6);
        stop = QColor(0x2B2F36);
        past = QColor(0x1D4ED8);
        future = QColor(0xB45309);
        stopline = QColor(0x7A1FA2);
        point = QColor(0x1B1F24);
        race = QColor(0xB0125B);
        selection = QColor(0x0B57D0);
        fresh = QColor(0x3D7BFF);
        hatch = QColor(0x6B7280);
    } else {
        m_styles = {QColor(0x2A2F36), QColor(0x3B8FD0), QColor(0x9ED3F5), QColor(0xF0E442),
                    QColor(0x00B386), QColor(0xD98CB8), QColor(0xFF5F0F), QColor(0x707780)};
        background = QColor(0x15181C);
        zebra = QColor(0x191D22);
        frame = QColor(0x1E2329);
        separator = QColor(0x3A414A);
        grid = QColor(0x22272D);
        text = QColor(0xE8EAED);
        weakText = QColor(0x9AA2AD);
        message = QColor(0xB9C0C9);
        weakMessage = QColor(0x646C77);
        stop = QColor(0xE3E6EA);
        past = QColor(0x7FB2FF);
        future = QColor(0xFFB35C);
        stopline = QColor(0xD9A0FF);
        point = QColor(0xFFFFFF);
        race = QColor(0xFF7DB8);
        selection = QColor(0x8AB4F8);
        fresh = QColor(0x6BA1FF);
        hatch = QColor(0x8B95A1);
    }
}

Palette::Theme Palette::themeOf(const QPalette& system) {
    return system.color(QPalette::Window).lightnessF() < 0.5F ? Theme::Dark : Theme::Light;
}

Palette Palette::of(const QPalette& system) {
    Palette palette(themeOf(system));
    const QColor highlight = system.color(QPalette::Highlight);
    // The user's highlight colour marks the selection where it can be seen (3:1, WCAG 2.1 on graphics).
    const double a = luminance(highlight) + 0.05;
    const double b = luminance(palette.background) + 0.05;
    if (std::max(a, b) / std::min(a, b) >= 3.0) {
        palette.selection = highlight;
    }
    return palette;
}

QColor Palette::textOn(const QColor& background) {
    // Where both have the same contrast (WCAG 2.1: 4.58); either side of it the better one has more.
    constexpr double kEqual = 0.179;
    return luminance(background) > kEqual ? QColor(Qt::black) : QColor(Qt::white);
}

QColor Palette::mixed(const QColor& over, const QColor& under, double share) {
    const auto mix = [share](double a, double b) { return float(b + (a - b) * share); };
    return QColor::fromRgbF(mix(over.redF(), under.redF()), mix(over.greenF(), under.greenF()),
                            mix(over.blueF(), under.blueF()));
}

QColor Palette::faded(const QColor& colour, double strength) const {
    return mixed(colour, background, strength);
}

QColor Palette::edgeOf(const QColor& colour) const {
    return m_theme == Theme::Light ? colour.darker(128) : colour.darker(145);
}

QColor Palette::hatchOn(const QColor& colour, bool dimmed) const {
    constexpr QRgb kInk = 0x101214;
    return dimmed ? mixed(background, colour, 0.45) : mixed(QColor(kInk), colour, 0.30);
}

} // namespace stopline::viewer
