// Pictures of races in the diagram, to be looked at: race_samples FOLDER [RECORDING].
#include "../../../replay/loaded_recording.h"
#include "../../../replay/races.h"
#include "../../../viewer/diagram_widget.h"
#include "../../../viewer/geometry.h"
#include "../../unit/viewer/synthetic.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QStyle>

#include <cstdio>

using namespace stopline;
using namespace stopline::viewer;
using namespace stopline::viewer::test;
using namespace Qt::StringLiterals;

namespace {

QPalette themed(bool dark) {
    if (!dark) {
        return QApplication::style()->standardPalette();
    }
    QPalette p;
    p.setColor(QPalette::Window, QColor(0x22262b));
    p.setColor(QPalette::WindowText, Qt::white);
    p.setColor(QPalette::Base, QColor(0x15181c));
    p.setColor(QPalette::Text, Qt::white);
    p.setColor(QPalette::Highlight, QColor(0x5b9dff));
    return p;
}

void save(DiagramWidget& widget, const QString& folder, const QString& name) {
    const QString path = QDir(folder).filePath(name);
    std::printf("%s %s, %zu rings\n", widget.exportImage(path) ? "wrote" : "failed", qPrintable(path),
                widget.geometry().races.size());
}

std::vector<RowState> statesOf(const replay::Timeline& timeline) {
    std::vector<RowState> rows;
    for (int r = 0; r < timeline.rankCount(); ++r) {
        RowState row;
        const EventIndex last = timeline.lastEvent(RankId{r});
        row.place = {last, timeline.isBegin(RankId{r}, last)};
        row.label = u"main"_s;
        row.stateLetter = u"S"_s;
        rows.push_back(row);
    }
    return rows;
}

/// What the diagram shows of a timeline's races.
class Races {
  public:
    explicit Races(const replay::Timeline& timeline) { m_analysis.update(timeline); }
    void show(DiagramWidget& widget) const {
        std::vector<RaceMark> marks;
        for (const replay::Race& race : m_analysis.races()) {
            marks.push_back({race.call, race.done, race.alternatives});
        }
        std::printf("%zu races\n", marks.size());
        widget.setRaces(std::move(marks));
        widget.setAlternatives([this](const replay::CallRef& call) {
            std::vector<replay::CallRef> sends;
            for (const replay::Race& race : m_analysis.racesOf(call)) {
                for (const replay::Alternative& other : m_analysis.alternatives(race)) {
                    sends.push_back(other.send);
                }
            }
            return sends;
        });
    }
    /// The race in the middle of all, of those with most alternatives.
    [[nodiscard]] std::optional<replay::CallRef> middle() const {
        const std::vector<replay::Race> all = m_analysis.races();
        std::uint32_t most = 0;
        for (const replay::Race& race : all) {
            most = std::max(most, race.alternatives);
        }
        std::vector<replay::CallRef> calls;
        for (const replay::Race& race : all) {
            if (race.alternatives == most) {
                calls.push_back(race.call);
            }
        }
        return calls.empty() ? std::nullopt : std::optional(calls[calls.size() / 2]);
    }

  private:
    replay::RaceAnalysis m_analysis;
};

void pictures(const replay::Timeline& timeline, const QString& folder, const QString& name, QSize size) {
    const Races races(timeline);
    for (const bool dark : {false, true}) {
        DiagramWidget widget;
        widget.setPalette(themed(dark));
        widget.resize(size);
        widget.setTimeline(&timeline);
        widget.setRowStates(statesOf(timeline));
        races.show(widget);
        const QString end = dark ? u"_dark.png"_s : u"_light.png"_s;
        save(widget, folder, name + end);
        widget.select(races.middle());
        save(widget, folder, name + u"_selected"_s + end);
        for (const int zoom : {8, 64}) {
            widget.zoomBy(8);
            if (widget.selection()) {
                widget.reveal(*widget.selection());
            }
            save(widget, folder, name + u"_z%1"_s.arg(zoom) + end);
        }
    }
    DiagramWidget events;
    events.resize(size);
    events.setAxis(Axis::Events);
    events.setTimeline(&timeline);
    races.show(events);
    events.select(races.middle());
    save(events, folder, name + u"_events.png"_s);
}

/// Rank 0 hands out work to whoever is done first.
Story pool(int ranks, int tasks) {
    constexpr TimeNs kUs = 1000;
    Story story(ranks);
    for (int r = 0; r < ranks; ++r) {
        story.init(r, 0, 10 * kUs);
    }
    TimeNs now = 20 * kUs;
    std::vector<TimeNs> busy(std::size_t(ranks), 15 * kUs);
    for (int task = 0; task < tasks; ++task) {
        const int worker = 1 + task * 7 % (ranks - 1);
        TimeNs& at = busy[std::size_t(worker)];
        const TimeNs begin = std::max(at, now - 30 * kUs);
        story.send(worker, 0, 1, 64, begin, begin + 6 * kUs);
        story.recvAny(0, worker, 1, 64, now, std::max(now + 4 * kUs, begin + 7 * kUs));
        now = std::max(now + 4 * kUs, begin + 7 * kUs) + (task % 5 + 1) * 4 * kUs;
        at = begin + 20 * kUs;
    }
    return story;
}

/// Every rank races all the time.
void crowd(const QString& folder, int ranks, int each, QSize size) {
    Story story(ranks);
    std::vector<RaceMark> marks;
    for (int r = 0; r < ranks; ++r) {
        for (int i = 0; i < each; ++i) {
            const TimeNs at = 1000 * (i + 1) + (r * 37 + i * i * 11) % 400;
            marks.push_back({Story::ref(r, story.recvAny(r, (r + 1) % ranks, 1, 8, at, at + 500)),
                             std::nullopt, std::uint32_t(1 + (i * 13 + r) % 9)});
        }
    }
    for (const bool dark : {false, true}) {
        DiagramWidget widget;
        widget.setPalette(themed(dark));
        widget.resize(size);
        widget.setTimeline(&story.timeline());
        (void)widget.geometry();
        QImage image(size, QImage::Format_ARGB32_Premultiplied);
        widget.render(&image); // what is made once and kept
        widget.timelineChanged();
        (void)widget.geometry();
        QElapsedTimer timer;
        timer.start();
        widget.render(&image);
        std::printf("paint without races %lld us\n", static_cast<long long>(timer.nsecsElapsed()) / 1000);
        timer.start();
        widget.setRaces(marks);
        const qint64 set = timer.nsecsElapsed();
        (void)widget.geometry();
        const qint64 built = timer.nsecsElapsed();
        widget.render(&image);
        std::printf("%zu races: set %lld us, geometry %lld us, paint %lld us\n", marks.size(),
                    static_cast<long long>(set) / 1000, static_cast<long long>(built - set) / 1000,
                    static_cast<long long>(timer.nsecsElapsed() - built) / 1000);
        save(widget, folder, u"crowd%1x%2_%3.png"_s.arg(ranks).arg(each).arg(dark ? u"dark"_s : u"light"_s));
    }
}

} // namespace

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    QApplication::setStyle(u"Fusion"_s);
    const QString folder = argc > 1 ? QString::fromLocal8Bit(argv[1]) : QDir::currentPath();
    if (argc > 2) {
        replay::LoadedRecording loaded;
        if (const QString error = replay::loadRecording(QString::fromLocal8Bit(argv[2]), loaded);
            !error.isEmpty()) {
            std::fprintf(stderr, "%s\n", qPrintable(error));
            return 1;
        }
        pictures(loaded.recording->timeline(), folder, u"recorded"_s, {1280, 460});
        return 0;
    }
    Story four = pool(4, 30);
    pictures(four.timeline(), folder, u"pool4"_s, {1280, 400});
    Story many = pool(64, 400);
    pictures(many.timeline(), folder, u"pool64"_s, {1600, 1000});
    crowd(folder, 4, 25'000, {1600, 500});
    crowd(folder, 64, 400, {1600, 1000});
    crowd(folder, 200, 300, {1600, 900});
    crowd(folder, 1000, 100, {1600, 1000});
    return 0;
}
