// Nothing makes the widget fall over.
#include "widget_fixture.h"

#include <QAction>

#include <random>

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;
using namespace Qt::StringLiterals;

class DiagramRobustTest : public QObject {
    Q_OBJECT
  private slots:
    void neverFallsOver_data() {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<int>("calls");
        for (const int ranks : {1, 2, 4, 64, 1024}) {
            for (const int calls : {0, 1, 40}) {
                QTest::addRow("%d ranks %d calls", ranks, calls) << ranks << calls;
            }
        }
    }
    void neverFallsOver() {
        QFETCH(int, ranks);
        QFETCH(int, calls);
        Story story = randomStory(ranks, calls, unsigned(ranks * 100 + calls));
        DiagramWidget widget;
        widget.setTimeline(&story.timeline());
        std::vector<RowState> rows(std::size_t(ranks) / 2 + 1); // fewer than ranks on purpose
        for (std::size_t r = 0; r < rows.size(); ++r) {
            rows[r].place = {EventIndex{r % 7}, r % 2 == 0};
            rows[r].mark = StopMark(r % 7);
            rows[r].freshFrom = EventIndex{r % 3};
            rows[r].ended = r % 5 == 0;
        }
        widget.setRowStates(rows);
        StopPost stop{3, replay::Cut(std::size_t(ranks), replay::Place{EventIndex{2}, false}),
                      std::vector<StopMark>(3, StopMark::Step)};
        widget.setStops({stop});
        replay::Line line;
        line.cut.assign(std::size_t(ranks) + 3,
                        replay::Place{EventIndex{5}, true}); // more than ranks, and beyond the end
        widget.setPastFrontier(line);
        widget.setFutureFrontier(line);
        widget.setStopline(line);
        widget.setGhost(line.cut);
        widget.setPoint(replay::Point{Story::ref(0, 3), true});
        widget.select(Story::ref(0, 0));
        for (const Axis axis : {Axis::Time, Axis::Events}) {
            widget.setAxis(axis);
            for (const QSize size :
                 {QSize(1, 1), QSize(3, 200), QSize(200, 3), QSize(90, 60), QSize(1280, 400)}) {
                widget.resize(size);
                for (const double zoom : {0.1, 1.0, 50.0, 1e6}) {
                    widget.zoomBy(zoom);
                    QImage image(size, QImage::Format_ARGB32_Premultiplied);
                    widget.render(&image);
                    QTest::mouseMove(&widget, QPoint(size.width() / 2, size.height() / 2));
                }
                widget.fitLastStop();
                widget.fitAll();
            }
        }
        widget.setTimeline(nullptr);
        QImage image(300, 200, QImage::Format_ARGB32_Premultiplied);
        widget.render(&image);
    }

    void surplusInputIsHarmless() {
        DiagramWidget widget;
        widget.resize(400, 200);
        widget.show();
        widget.select(Story::ref(3, 9));
        QVERIFY(!widget.selection());
        widget.reveal(Story::ref(-1, 9));
        widget.timelineChanged();
        for (const QAction* action : widget.actions()) {
            const_cast<QAction*>(action)->trigger();
        }
        QImage image(widget.size(), QImage::Format_ARGB32_Premultiplied);
        widget.render(&image);
        QVERIFY(widget.geometry().boxes.empty());
    }

  private:
    /// Calls of all kinds in random order, incomplete ends, peers and tags that fit or do not.
    static Story randomStory(int ranks, int calls, unsigned seed) {
        std::mt19937 random(seed);
        Story story(ranks);
        for (int r = 0; r < ranks; ++r) {
            TimeNs at = TimeNs(random() % 1000);
            bool open = false;
            for (int c = 0; c < calls && !open; ++c) {
                const int peer = int(random() % unsigned(ranks));
                const int tag = int(random() % 3);
                const TimeNs end = at + TimeNs(random() % 5000);
                switch (random() % 8) {
                case 0:
                    story.send(r, peer, tag, random() % 100000, at, end);
                    break;
                case 1:
                    story.recv(r, peer, tag, random() % 100000, at, end);
                    break;
                case 2:
                    story.isend(r, peer, tag, 8, at, end);
                    break;
                case 3:
                    story.irecv(r, peer, tag, 8, at, end);
                    break;
                case 4:
                    story.wait(r, {{unsigned(random() % 3), peer, tag, 8}}, at, end);
                    break;
                case 5:
                    story.collective(r, trace::FunctionId(random() % unsigned(trace::FunctionId::Count)),
                                     peer, at, end);
                    break;
                case 6:
                    story.recvAny(r, peer, tag, 8, at, end);
                    break;
                default:
                    open = random() % 4 == 0;
                    if (open) {
                        story.recvOpen(r, random() % 2 == 0 ? kAnySource : peer, tag, at);
                    }
                    break;
                }
                at = end + TimeNs(random() % 3000);
            }
        }
        return story;
    }
};

QTEST_MAIN(DiagramRobustTest)
#include "diagram_robust_test.moc"
