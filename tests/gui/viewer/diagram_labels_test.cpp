// Texts of calls and messages: never over a block, never under the marks that cross a row.
#ifndef Q_MOC_RUN // moc stumbles over what <compare> includes, and needs none of it
#include "../../../viewer/diagram_painter.h"
#endif

#include <QImage>
#include <QPainter>
#include <QTest>

using namespace stopline;
using namespace stopline::viewer;

class DiagramLabelsTest : public QObject {
    Q_OBJECT

    static constexpr int kWidth = 600;

    static Geometry empty(int rows) {
        Geometry g;
        g.view = {0, kWidth, kWidth};
        g.layout = {rows, 48, 0, rows * 48};
        const BarLane lane = g.layout.lane();
        for (int r = 0; r < rows; ++r) {
            RowMarks row;
            row.row = r;
            row.top = g.layout.top(r);
            row.height = 48;
            row.barTop = row.top + lane.top;
            row.barBottom = row.top + lane.bottom;
            row.lastX = kWidth;
            g.rows.push_back(row);
        }
        return g;
    }

    static Box block(const Geometry& g, int row, int x0, int x1, CallStyle style = CallStyle::Receive) {
        Box box;
        box.x0 = x0;
        box.x1 = x1;
        box.y0 = g.rows[std::size_t(row)].barTop;
        box.y1 = g.rows[std::size_t(row)].barBottom;
        box.row = row;
        box.style = style;
        return box;
    }

    static QImage painted(const Geometry& g, bool boxLabels, bool messageLabels) {
        DiagramPainter painter(Palette(Palette::Theme::Light));
        if (boxLabels) {
            painter.setBoxLabel([](replay::CallRef, int width) {
                const QFontMetrics metrics{QFont()};
                for (const char* text : {"Receive from 0, tag 1", "Receive", "Rcv"}) {
                    if (metrics.horizontalAdvance(QString::fromUtf8(text)) <= width) {
                        return QString::fromUtf8(text);
                    }
                }
                return QString();
            });
        }
        if (messageLabels) {
            painter.setMessageLabel([](std::uint32_t) { return QStringLiteral("0 to 1, tag 1, 1 KiB"); });
        }
        QImage image(kWidth, g.layout.viewportHeight, QImage::Format_RGB32);
        QPainter brush(&image);
        painter.paint(brush, g);
        return image;
    }

    /// Where two pictures differ.
    static QRegion differences(const QImage& a, const QImage& b) {
        QRegion all;
        for (int y = 0; y < a.height(); ++y) {
            int from = -1;
            for (int x = 0; x <= a.width(); ++x) {
                const bool differs = x < a.width() && a.pixel(x, y) != b.pixel(x, y);
                if (differs && from < 0) {
                    from = x;
                } else if (!differs && from >= 0) {
                    all += QRect(from, y, x - from, 1);
                    from = -1;
                }
            }
        }
        return all;
    }

    static QRegion boxTexts(const Geometry& g) {
        return differences(painted(g, false, false), painted(g, true, false));
    }
    static QRegion messageTexts(const Geometry& g) {
        return differences(painted(g, false, false), painted(g, false, true));
    }

    static void select(Geometry& g, const QPointF& from, const QPointF& to) {
        MessageLine line;
        line.from = from;
        line.to = to;
        SelectionGeometry selection;
        selection.messages = {line};
        g.selection = selection;
    }

  private slots:
    void aTextStandsBesideTheMarkOfACollective_data() {
        QTest::addColumn<int>("x");
        for (const int x : {120, 150, 180, 220, 300, 420, 490}) {
            QTest::addRow("%d", x) << x;
        }
    }

    void aTextStandsBesideTheMarkOfACollective() {
        QFETCH(int, x);
        Geometry g = empty(3);
        g.boxes.push_back(block(g, 1, 100, 500));
        const QRegion before = boxTexts(g);
        QVERIFY(!before.isEmpty());
        // Rows 0 and 2 take part, the one between them does not: the line crosses it without a dot.
        Spine spine;
        for (const int row : {0, 2}) {
            spine.dots.push_back({QPointF(x, g.layout.centre(row)), DotKind::Member, double(x), row});
        }
        g.spines.push_back(spine);
        QRegion text = boxTexts(g);
        QVERIFY(!text.isEmpty());
        QVERIFY(!text.intersects(QRect(x - 1, 0, 3, g.layout.viewportHeight)));
        // One that hangs in its own row, of a member that has not come.
        g.spines.front().dots.push_back({QPointF(x, g.layout.centre(1)), DotKind::Missing, 0, 1});
        std::swap(g.spines.front().dots[1], g.spines.front().dots[2]);
        text = boxTexts(g);
        QVERIFY(!text.isEmpty());
        QVERIFY(!text.intersects(QRect(x - 5, 0, 10, g.layout.viewportHeight)));
    }

    void aTextAvoidsMessagesWhereItCan() {
        Geometry g = empty(3);
        g.boxes.push_back(block(g, 1, 100, 500));
        MessageLine line;
        line.from = {140, double(g.rows[0].barBottom)};
        line.to = {180, double(g.rows[2].barTop)};
        g.messages.push_back(line);
        const QRegion text = boxTexts(g);
        QVERIFY(!text.isEmpty());
        QVERIFY(text.boundingRect().left() > 160);
        // Where they are everywhere, it stands where it would without them.
        for (int x = 100; x < 500; x += 20) {
            line.from.setX(x);
            line.to.setX(x);
            g.messages.push_back(line);
        }
        QVERIFY(!boxTexts(g).isEmpty());
    }

    void aMessagesTextIsNotOverABlock() {
        Geometry g = empty(2);
        g.boxes.push_back(block(g, 0, 100, 280, CallStyle::Send));
        g.boxes.push_back(block(g, 1, 120, 300));
        g.boxes.push_back(block(g, 0, 330, 590, CallStyle::Send));
        select(g, {280, double(g.rows[0].barBottom)}, {300, double(g.rows[1].barTop)});
        const QRegion text = messageTexts(g);
        for (const Box& box : g.boxes) {
            QVERIFY(!text.intersects(QRect(box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0)));
        }
        // Room on one side of the middle only.
        g = empty(3);
        g.boxes.push_back(block(g, 1, 0, 290));
        select(g, {290, double(g.rows[0].barBottom)}, {310, double(g.rows[2].barTop)});
        QVERIFY(!messageTexts(g).isEmpty());
        QVERIFY(messageTexts(g).boundingRect().left() >= 290);
        // No room anywhere: nothing rather than a heap.
        g.boxes.clear();
        for (Box box : {block(g, 0, 0, kWidth), block(g, 1, 0, kWidth), block(g, 2, 0, kWidth)}) {
            box.y0 -= 8;
            box.y1 += 8;
            g.boxes.push_back(box);
        }
        QVERIFY(messageTexts(g).isEmpty());
    }

    void twoMessagesTextsAreApart() {
        Geometry g = empty(2);
        select(g, {300, double(g.rows[0].barBottom)}, {304, double(g.rows[1].barTop)});
        const QRegion one = messageTexts(g);
        MessageLine second = g.selection->messages.front();
        second.from.rx() += 4;
        second.to.rx() += 4;
        g.selection->messages.push_back(second);
        const QRegion two = messageTexts(g);
        const auto area = [](const QRegion& region) {
            qint64 sum = 0;
            for (const QRect& rect : region) {
                sum += qint64(rect.width()) * rect.height();
            }
            return sum;
        };
        QVERIFY(area(two) > 1.8 * double(area(one)));
    }
};

QTEST_MAIN(DiagramLabelsTest)
#include "diagram_labels_test.moc"
