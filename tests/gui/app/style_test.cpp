// Colours, icons and pictures of the window, light and dark.
#include "../../../app/icons.h"
#include "../../../app/output_dock.h"
#include "../../../app/source_view.h"
#include "window_fixture.h"

#include <QDir>
#include <QImage>
#include <QLineEdit>

#include <algorithm>
#include <cmath>

class StyleTest : public WindowFixture {
    Q_OBJECT

  private slots:
    void bothStylesDraw() {
        open();
        stop({118, 120, 130, 140});
        QTRY_VERIFY(m_window->sourceView()->currentEditor() != nullptr);
        const auto darkness = [this] {
            const QImage image = m_window->grab().toImage();
            qint64 sum = 0;
            for (int y = 0; y < image.height(); y += 7) {
                for (int x = 0; x < image.width(); x += 7) {
                    sum += qGray(image.pixel(x, y));
                }
            }
            return sum / ((image.height() / 7 + 1) * (image.width() / 7 + 1));
        };
        QVERIFY(darkness() > 180);
        m_window->setColourStyle(ColourStyle::Dark, false);
        QCoreApplication::processEvents();
        QVERIFY(darkness() < 90);
    }

    /// Whoever keeps colours when the style changes differs from a window that was opened in that style.
    void aChangeOfStyleLeavesNothingBehind() {
        const auto prepare = [this] {
            open();
            stop({118, 120, 130, 140});
            recordMessages(*m_session, 4);
            standAt(*m_session, m_source, {118, 120, 130, 140});
            m_session->setFocus(Focus::of({RankId{0}, RankId{3}}));
            emit m_session->ranksChanged();
            emit m_session->outputAdded(RankId{0}, 1, "zero\n");
            emit m_session->outputAdded(RankId{2}, 2, "two\n");
            m_window->findChild<OutputDock*>()->setFilter(QStringLiteral("nonsense"), {});
            emit m_session->message(Severity::Error, QStringLiteral("gdb of rank 3 has died."),
                                    QStringLiteral("Restart."));
            m_window->look()->selectCall(CallRef{RankId{0}, CallIndex{1}}, false);
            QTRY_COMPARE(m_window->sourceView()->openCount(), 1);
            QTRY_VERIFY(!m_window->look()->stale());
        };
        const auto picture = [this] {
            QTest::qWait(300); // stacks, variables, tool bars
            QImage last = m_window->grab().toImage();
            for (int i = 0; i < 50; ++i) { // a button that fades in takes longer on a crowded machine
                QTest::qWait(100);
                const QImage now = m_window->grab().toImage();
                if (now == last) {
                    break;
                }
                last = now;
            }
            return last;
        };
        for (const auto style : {ColourStyle::Dark, ColourStyle::Light}) {
            m_window.reset();
            m_session = std::make_unique<Session>();
            applyStyle(style);
            prepare();
            const QImage fresh = picture();
            m_window.reset();
            m_session = std::make_unique<Session>();
            applyStyle(style == ColourStyle::Dark ? ColourStyle::Light : ColourStyle::Dark);
            prepare();
            QVERIFY(picture() != fresh);
            m_window->setColourStyle(style, false);
            const QImage changed = picture();
            QCOMPARE(changed.size(), fresh.size());
            QRect differs;
            for (int y = 0; y < fresh.height(); ++y) {
                for (int x = 0; x < fresh.width(); ++x) {
                    if (fresh.pixel(x, y) != changed.pixel(x, y)) {
                        differs |= QRect(x, y, 1, 1);
                    }
                }
            }
            if (const QString directory = qEnvironmentVariable("STOPLINE_TEST_PICTURES"); !directory.isEmpty()) {
                fresh.save(directory + QStringLiteral("/style-fresh.png"));
                changed.save(directory + QStringLiteral("/style-changed.png"));
            }
            QVERIFY2(differs.isNull(), qPrintable(QStringLiteral("differs at %1,%2 %3x%4")
                                                      .arg(differs.x())
                                                      .arg(differs.y())
                                                      .arg(differs.width())
                                                      .arg(differs.height())));
        }
    }

    /// A field to type into looks like one: its frame is seen against the window and against the field.
    void fieldsHaveAFrame() {
        const auto contrast = [](const QColor& a, const QColor& b) {
            const auto light = [](const QColor& c) {
                const auto part = [](double v) { return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
                return 0.2126 * part(c.redF()) + 0.7152 * part(c.greenF()) + 0.0722 * part(c.blueF());
            };
            const double high = std::max(light(a), light(b));
            const double low = std::min(light(a), light(b));
            return (high + 0.05) / (low + 0.05);
        };
        for (const auto style : {ColourStyle::Light, ColourStyle::Dark}) {
            applyStyle(style);
            QWidget window;
            QLineEdit field(&window);
            field.setPlaceholderText(QStringLiteral("only lines with…"));
            window.resize(240, 80);
            field.setGeometry(20, 20, 200, 30);
            const QImage picture = window.grab().toImage();
            const QColor ground = picture.pixelColor(5, 5);
            const QColor inside = picture.pixelColor(215, 35);
            QCOMPARE(inside, window.palette().color(QPalette::Base));
            QVERIFY(inside != ground);
            for (const QPoint& edge : {QPoint(120, 20), QPoint(120, 49), QPoint(20, 35), QPoint(219, 35)}) {
                QVERIFY(contrast(picture.pixelColor(edge), ground) > 2.0);
                QVERIFY(contrast(picture.pixelColor(edge), inside) > 2.0);
            }
        }
    }

    void everyIconIsThere() {
        open();
        for (QAction* action : m_window->actions()->all()) {
            if (!action->icon().isNull()) {
                const QImage image = action->icon().pixmap(24, 24).toImage();
                bool drawn = false;
                for (int y = 0; y < image.height() && !drawn; ++y) {
                    for (int x = 0; x < image.width() && !drawn; ++x) {
                        drawn = qAlpha(image.pixel(x, y)) > 0;
                    }
                }
                QVERIFY2(drawn, qPrintable(action->text()));
            }
        }
        QVERIFY(icon(QStringLiteral("no-such-icon")).isNull());
        QVERIFY(!programIcon().isNull());
    }

    void pictures() {
        // STOPLINE_TEST_PICTURES=DIRECTORY keeps the pictures for looking at.
        QTemporaryDir passing;
        const QString directory = qEnvironmentVariable("STOPLINE_TEST_PICTURES", passing.path());
        for (const int ranks : {4, 64}) {
            for (const auto style : {ColourStyle::Light, ColourStyle::Dark}) {
                m_session = std::make_unique<Session>();
                applyStyle(style);
                open();
                std::vector<int> lines;
                for (int i = 0; i < ranks; ++i) {
                    lines.push_back(i % 3 == 0 ? 118 : 118 + i % 5);
                }
                stop(lines);
                recordMessages(*m_session, ranks);
                for (int i = 1; i < ranks; i += 7) {
                    scriptOf(*m_session).ranks[static_cast<std::size_t>(i)].phase = RankPhase::Running;
                    scriptOf(*m_session).ranks[static_cast<std::size_t>(i)].insideMpi = i % 2 == 0;
                }
                scriptOf(*m_session).ranks[2].why = StopWhy::Breakpoint;
                emit m_session->ranksChanged();
                m_window->look()->selectCall(CallRef{RankId{0}, CallIndex{1}}, false);
                QTest::qWait(500);
                const QString name =
                    QStringLiteral("%1-%2.png")
                        .arg(ranks)
                        .arg(style == ColourStyle::Dark ? QStringLiteral("dark") : QStringLiteral("light"));
                const QImage picture = m_window->grab().toImage();
                QVERIFY(picture.save(QDir(directory).filePath(name)));
                // What is not drawn on at all has the window's ground.
                const bool dark = style == ColourStyle::Dark;
                QCOMPARE(m_window->palette().color(QPalette::Window).lightness() < 128, dark);
                qsizetype right = 0;
                for (int y = 0; y < picture.height(); ++y) {
                    for (int x = 0; x < picture.width(); ++x) {
                        right += (picture.pixelColor(x, y).lightness() < 128) == dark ? 1 : 0;
                    }
                }
                // A panel that has kept the colours of the other style would take more than a tenth.
                QVERIFY2(right > qsizetype(picture.width()) * picture.height() * 9 / 10, qPrintable(name));
                m_window.reset();
            }
        }
    }
};

QTEST_MAIN(StyleTest)
#include "style_test.moc"
