// Small marks drawn once and stamped where they are wanted: a smooth circle costs some ten times as much as a
// copy.
#pragma once

#include <QHash>
#include <QPainter>
#include <QPixmap>

#include <cmath>

namespace stopline::viewer {

class Stamps {
  public:
    /// What a stamp shows; with colour and size it names the stamp.
    enum class Kind : quint8 { Member, Root, Missing, SendNotch, ReceiveNotch, Race, Races };

    /// Puts a mark's centre on `at`, rounded to whole pixels. `draw(painter)` paints it around the origin,
    /// within `radius` of it.
    template <class Draw>
    void put(QPainter& painter, Kind kind, const QColor& colour, double size, int radius, QPointF at,
             const Draw& draw) {
        const qreal ratio = painter.device() != nullptr ? painter.device()->devicePixelRatioF() : 1;
        if (ratio != m_ratio) {
            m_stamps.clear();
            m_ratio = ratio;
        }
        const quint64 key =
            (quint64(kind) << 56) | (quint64(quint16(size * 16)) << 32) | quint64(colour.rgba());
        auto found = m_stamps.find(key);
        if (found == m_stamps.end()) {
            const int side = 2 * radius + 1;
            QPixmap stamp(QSize(side, side) * ratio);
            stamp.setDevicePixelRatio(ratio);
            stamp.fill(Qt::transparent);
            QPainter brush(&stamp);
            brush.setRenderHint(QPainter::Antialiasing, true);
            brush.translate(radius + 0.5, radius + 0.5);
            draw(brush);
            brush.end();
            found = m_stamps.insert(key, stamp);
        }
        painter.drawPixmap(QPoint(int(std::floor(at.x())) - radius, int(std::floor(at.y())) - radius),
                           *found);
    }
    void clear() { m_stamps.clear(); }

  private:
    QHash<quint64, QPixmap> m_stamps;
    qreal m_ratio = 0;
};

} // namespace stopline::viewer
