// The classes stay apart for people who see colours differently (simulation: Machado, Oliveira and Fernandes
// 2009, severity 1.0; distance: CIE 1976).
#include "../../../viewer/palette.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

using namespace stopline::viewer;

namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

constexpr Matrix kNormal{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix kProtan{
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix kDeutan{
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix kTritan{
    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}};

double linear(double c) {
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

Vector times(const Matrix& m, const Vector& v) {
    Vector out{};
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            out[i] += m[i][j] * v[j];
        }
    }
    return out;
}

Vector lab(const QColor& colour, const Matrix& sight) {
    Vector rgb = times(sight, {linear(colour.redF()), linear(colour.greenF()), linear(colour.blueF())});
    for (double& c : rgb) {
        c = std::min(1.0, std::max(0.0, c));
    }
    constexpr Matrix kXyz{{{0.4124564, 0.3575761, 0.1804375},
                           {0.2126729, 0.7151522, 0.0721750},
                           {0.0193339, 0.1191920, 0.9503041}}};
    Vector xyz = times(kXyz, rgb);
    constexpr Vector kWhite{0.95047, 1.0, 1.08883};
    for (std::size_t i = 0; i < 3; ++i) {
        const double t = xyz[i] / kWhite[i];
        xyz[i] = t > 216.0 / 24389.0 ? std::cbrt(t) : (24389.0 / 27.0 * t + 16) / 116;
    }
    return {116 * xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])};
}

double leastDistance(const Palette& palette, const Matrix& sight) {
    double least = 1e9;
    for (std::size_t a = 0; a < std::size_t(CallStyle::Count); ++a) {
        for (std::size_t b = a + 1; b < std::size_t(CallStyle::Count); ++b) {
            const Vector x = lab(palette.style(CallStyle(a)), sight);
            const Vector y = lab(palette.style(CallStyle(b)), sight);
            least = std::min(least, std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]));
        }
    }
    return least;
}

double contrast(const QColor& a, const QColor& b) {
    const auto luminance = [](const QColor& c) {
        return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF()) + 0.05;
    };
    return std::max(luminance(a), luminance(b)) / std::min(luminance(a), luminance(b));
}

} // namespace

TEST(Palette, ClassesStayApart) {
    const Palette light(Palette::Theme::Light);
    EXPECT_GE(leastDistance(light, kNormal), 25);
    EXPECT_GE(leastDistance(light, kDeutan), 17);
    EXPECT_GE(leastDistance(light, kProtan), 17);
    EXPECT_GE(leastDistance(light, kTritan), 15);
    const Palette dark(Palette::Theme::Dark);
    EXPECT_GE(leastDistance(dark, kNormal), 25);
    EXPECT_GE(leastDistance(dark, kDeutan), 16);
    EXPECT_GE(leastDistance(dark, kProtan), 16);
    EXPECT_GE(leastDistance(dark, kTritan), 14);
}

TEST(Palette, AgreedValues) {
    const Palette light(Palette::Theme::Light);
    EXPECT_EQ(light.style(CallStyle::Send), QColor(0x00, 0x72, 0xB2));
    EXPECT_EQ(light.style(CallStyle::Wait), QColor(0xE6, 0x9F, 0x00));
    const Palette dark(Palette::Theme::Dark);
    EXPECT_EQ(dark.style(CallStyle::Receive), QColor(0x9E, 0xD3, 0xF5));
    EXPECT_EQ(dark.style(CallStyle::Error), QColor(0xFF, 0x5F, 0x0F));
}

TEST(Palette, MarksCanBeSeen) {
    for (const auto theme : {Palette::Theme::Light, Palette::Theme::Dark}) {
        const Palette p(theme);
        for (const QColor& mark : {p.message, p.stop, p.past, p.future, p.stopline, p.point, p.race,
                                   p.selection, p.weakText, p.text}) {
            EXPECT_GE(contrast(mark, p.background), 3.0) << mark.name().toStdString();
        }
        EXPECT_GE(contrast(p.text, p.frame), 4.5);
        EXPECT_GE(contrast(p.weakText, p.frame), 4.5);
        for (std::size_t s = 1; s < std::size_t(CallStyle::Count); ++s) {
            const QColor box = p.style(CallStyle(s));
            EXPECT_GE(contrast(Palette::textOn(box), box), 4.5) << box.name().toStdString();
        }
    }
}

TEST(Palette, ThemeFollowsTheWindowColour) {
    QPalette system;
    system.setColor(QPalette::Window, QColor(0x20, 0x20, 0x20));
    EXPECT_EQ(Palette::of(system).theme(), Palette::Theme::Dark);
    system.setColor(QPalette::Window, QColor(0xEE, 0xEE, 0xEE));
    EXPECT_EQ(Palette::of(system).theme(), Palette::Theme::Light);
    // A highlight that cannot be seen on the ground is not used for the selection.
    system.setColor(QPalette::Highlight, QColor(0xF0, 0xF0, 0xF0));
    EXPECT_EQ(Palette::of(system).selection, Palette(Palette::Theme::Light).selection);
    system.setColor(QPalette::Highlight, QColor(0x80, 0x00, 0x80));
    EXPECT_EQ(Palette::of(system).selection, QColor(0x80, 0x00, 0x80));
}
