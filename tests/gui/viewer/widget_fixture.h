// A widget on screen with a story behind it, shared by the tests of the diagram.
#pragma once

#include "../../../viewer/diagram_widget.h"
#include "../../../viewer/geometry.h"
#include "../../../viewer/palette.h"
#include "../../unit/viewer/synthetic.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QImage>
#include <QTest>
#include <QWheelEvent>

#include <memory>

namespace stopline::viewer::test {

class WidgetFixture {
  public:
    explicit WidgetFixture(Story story) : m_story(std::make_unique<Story>(std::move(story))) {
        widget.resize(1000, 400);
        widget.setTimeline(&timeline());
        widget.show();
        widget.activateWindow();
        widget.setFocus();
    }
    [[nodiscard]] bool ready() { return QTest::qWaitForWindowActive(&widget); }
    [[nodiscard]] replay::Timeline& timeline() { return m_story->timeline(); }
    [[nodiscard]] Story& story() { return *m_story; }
    [[nodiscard]] Palette colours() const { return Palette::of(widget.palette()); }

    [[nodiscard]] const Box* boxOf(replay::CallRef ref) const {
        for (const Box& box : widget.geometry().boxes) {
            if (box.row == ref.rank.value() && box.call == ref.call.value()) {
                return &box;
            }
        }
        return nullptr;
    }
    /// Middle of a call's box, in widget coordinates; far outside if it has none.
    [[nodiscard]] QPoint centreOf(replay::CallRef ref) const {
        const Box* box = boxOf(ref);
        return box == nullptr
                   ? QPoint(-1000, -1000)
                   : widget.plotRect().topLeft() + QPoint((box->x0 + box->x1) / 2, (box->y0 + box->y1) / 2);
    }
    /// Column of a time in the plot.
    [[nodiscard]] int column(TimeNs time) const {
        return int(std::floor(widget.geometry().view.toPixel(time)));
    }
    void wheel(QPoint at, int delta, Qt::KeyboardModifiers modifiers) {
        QWheelEvent event(QPointF(at), QPointF(widget.mapToGlobal(at)), QPoint(), QPoint(0, delta),
                          Qt::NoButton, modifiers, Qt::NoScrollPhase, false);
        QApplication::sendEvent(&widget, &event);
    }
    void contextMenu(QPoint at) {
        QContextMenuEvent event(QContextMenuEvent::Mouse, at, widget.mapToGlobal(at));
        QApplication::sendEvent(&widget, &event);
    }
    /// The plot as it is painted.
    [[nodiscard]] QImage plot() {
        QImage image(widget.size(), QImage::Format_ARGB32_Premultiplied);
        widget.render(&image);
        return image.copy(widget.plotRect());
    }

  private:
    std::unique_ptr<Story> m_story; // outlives the widget, which reads it

  public:
    DiagramWidget widget;
};

} // namespace stopline::viewer::test
