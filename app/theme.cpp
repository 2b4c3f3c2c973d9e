#include "theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QPainter>
#include <QProxyStyle>
#include <QStyleFactory>
#include <QStyleOption>

#include <csignal>

namespace stopline::app {

using namespace replay;

namespace {

struct Tones {
    const char *window, *base, *alternate, *text, *faint, *button, *highlight, *highlightText, *link, *edge;
};

QPalette paletteOf(const Tones& t) {
    const auto colour = [](const char* name) { return QColor(QString::fromLatin1(name)); };
    QPalette p;
    p.setColor(QPalette::Window, colour(t.window));
    p.setColor(QPalette::WindowText, colour(t.text));
    p.setColor(QPalette::Base, colour(t.base));
    p.setColor(QPalette::AlternateBase, colour(t.alternate));
    p.setColor(QPalette::Text, colour(t.text));
    p.setColor(QPalette::PlaceholderText, colour(t.faint));
    p.setColor(QPalette::Button, colour(t.button));
    p.setColor(QPalette::ButtonText, colour(t.text));
    p.setColor(QPalette::BrightText, Qt::white);
    p.setColor(QPalette::Highlight, colour(t.highlight));
    p.setColor(QPalette::HighlightedText, colour(t.highlightText));
    p.setColor(QPalette::Link, colour(t.link));
    p.setColor(QPalette::LinkVisited, colour(t.link));
    p.setColor(QPalette::ToolTipBase, colour(t.base));
    p.setColor(QPalette::ToolTipText, colour(t.text));
    p.setColor(QPalette::Mid, colour(t.edge));
    p.setColor(QPalette::Dark, colour(t.edge).darker(115));
    p.setColor(QPalette::Midlight, colour(t.edge).lighter(108));
    p.setColor(QPalette::Light, colour(t.base));
    p.setColor(QPalette::Shadow, colour(t.edge).darker(150));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        p.setColor(QPalette::Disabled, role, colour(t.faint));
    }
    p.setColor(QPalette::Disabled, QPalette::Highlight, colour(t.edge));
    return p;
}

/// Fusion with frames of fields that can be seen: its own are a darker shade of the window, which on a dark one is the
/// colour of the field.
class FieldStyle : public QProxyStyle {
  public:
    FieldStyle() : QProxyStyle(QStringLiteral("fusion")) {}

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override {
        if (element == PE_FrameLineEdit) {
            drawEdge(*option, painter);
        } else {
            QProxyStyle::drawPrimitive(element, option, painter, widget);
        }
    }

    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                            const QWidget* widget) const override {
        QProxyStyle::drawComplexControl(control, option, painter, widget);
        const auto* box = qstyleoption_cast<const QStyleOptionComboBox*>(option);
        if (control == CC_SpinBox || (control == CC_ComboBox && box != nullptr && box->editable)) {
            drawEdge(*option, painter); // fields with a button
        }
    }

  private:
    static void drawEdge(const QStyleOption& option, QPainter* painter) {
        const bool focus = option.state.testFlag(State_HasFocus);
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setBrush(Qt::NoBrush);
        painter->setPen(focus ? option.palette.color(QPalette::Highlight) : fieldEdge(option.palette));
        painter->drawRoundedRect(QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
        painter->restore();
    }
};

ColourStyle currentStyle = ColourStyle::System;

} // namespace

QColor fieldEdge(const QPalette& palette) {
    const QColor ground = palette.color(QPalette::Window);
    const QColor text = palette.color(QPalette::Active, QPalette::WindowText);
    const auto mix = [](int of, int in) { return (of * 38 + in * 62) / 100; };
    return {mix(text.red(), ground.red()), mix(text.green(), ground.green()), mix(text.blue(), ground.blue())};
}

ColourStyle appliedStyle() {
    return currentStyle;
}

QPalette lightPalette() {
    return paletteOf({"#f2f4f6", "#ffffff", "#f6f8fa", "#1c2329", "#8b959e", "#f7f8fa", "#1769aa", "#ffffff",
                      "#0f5f9e", "#c9d0d7"});
}

QPalette darkPalette() {
    return paletteOf({"#22272d", "#191d22", "#1f242a", "#dfe5ea", "#77828d", "#2b3138", "#2f7fc1", "#ffffff",
                      "#6db8f2", "#3b434c"});
}

bool isDark(const QPalette& palette) {
    return palette.color(QPalette::WindowText).lightness() > palette.color(QPalette::Window).lightness();
}

void applyStyle(ColourStyle style) {
    // Taken before the first change: later the application's palette is the one set here.
    static const bool systemIsDark = isDark(QApplication::palette());
    // Once: a new style also takes back what bars and docks have set of the old one's sizes.
    if (dynamic_cast<FieldStyle*>(QApplication::style()) == nullptr) {
        QApplication::setStyle(new FieldStyle);
    }
    currentStyle = style;
    const bool dark = style == ColourStyle::Dark || (style == ColourStyle::System && systemIsDark);
    QApplication::setPalette(dark ? darkPalette() : lightPalette());
}

QColor accent(Accent which, bool dark) {
    switch (which) {
    case Accent::Green:
        return dark ? QColor(0x4c, 0xb8, 0x6a) : QColor(0x2b, 0x8a, 0x3e);
    case Accent::Blue:
        return dark ? QColor(0x5a, 0xa9, 0xe6) : QColor(0x1f, 0x6f, 0xb8);
    case Accent::Orange:
        return dark ? QColor(0xf5, 0x9f, 0x3a) : QColor(0xd9, 0x6c, 0x06);
    case Accent::Red:
        return dark ? QColor(0xf0, 0x6a, 0x5f) : QColor(0xc9, 0x2a, 0x2a);
    case Accent::Muted:
        return dark ? QColor(0x6b, 0x75, 0x80) : QColor(0xa3, 0xac, 0xb5);
    }
    return {};
}

QColor stateColour(const RankView& view, bool dark) {
    switch (view.phase) {
    case RankPhase::NotStarted:
    case RankPhase::Starting:
        return accent(Accent::Muted, dark);
    case RankPhase::Running:
    case RankPhase::Holding:
        return accent(Accent::Green, dark);
    case RankPhase::Exited: {
        // Killed from outside, with the job: no fault of this rank.
        const bool crashed = view.exitSignal != 0 && view.exitSignal != SIGKILL && view.exitSignal != SIGTERM;
        return accent(crashed || view.exitCode > 0 ? Accent::Red : Accent::Muted, dark);
    }
    case RankPhase::Failed:
    case RankPhase::Lost:
        return accent(Accent::Red, dark);
    case RankPhase::Stopped:
        break;
    }
    switch (view.why) {
    case StopWhy::Breakpoint:
    case StopWhy::Watchpoint:
        return accent(Accent::Orange, dark);
    case StopWhy::Signal:
    case StopWhy::Abort:
    case StopWhy::MpiError:
    case StopWhy::ExitNoFinalize:
    case StopWhy::Departure:
        return accent(Accent::Red, dark);
    default:
        return accent(Accent::Blue, dark);
    }
}

QColor textOn(const QColor& background) {
    return qGray(background.rgb()) > 125 ? QColor(0x10, 0x14, 0x18) : QColor(Qt::white);
}

QFont fixedFont() {
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setStyleHint(QFont::Monospace);
    return font;
}

} // namespace stopline::app
