// What the window says of itself: the Help menu, the ticked style, lasting names of commands.
#include "../../../app/batch_language.h"
#include "../../../app/diagram_pane.h"
#include "../../../app/guide.h"
#include "../../../viewer/diagram_widget.h"
#include "../../../viewer/help_overlay.h"
#include "window_fixture.h"

#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QRegularExpression>
#include <QSplitter>
#include <QTextBrowser>

class HelpTest : public WindowFixture {
    Q_OBJECT

    [[nodiscard]] QAction* menuAction(const QString& menu, const QString& text) const {
        for (QAction* top : m_window->menuBar()->actions()) {
            if (top->text().remove(u'&') != menu) {
                continue;
            }
            QList<QAction*> all = top->menu()->actions();
            for (int i = 0; i < all.size(); ++i) {
                if (all.at(i)->text().remove(u'&') == text) {
                    return all.at(i);
                }
                if (all.at(i)->menu() != nullptr) {
                    all += all.at(i)->menu()->actions();
                }
            }
        }
        return nullptr;
    }

    [[nodiscard]] QString tickedStyle() const {
        QStringList ticked;
        for (const char* name : {"As the system", "Light", "Dark"}) {
            if (menuAction(QStringLiteral("View"), QString::fromLatin1(name))->isChecked()) {
                ticked << QString::fromLatin1(name);
            }
        }
        return ticked.join(u'+');
    }

  private slots:
    void theStyleInEffectIsTicked() {
        applyStyle(ColourStyle::Dark); // as --style dark does
        open();
        QCOMPARE(tickedStyle(), QStringLiteral("Dark"));
        m_window->setColourStyle(ColourStyle::Light, false); // as a script does
        QCOMPARE(tickedStyle(), QStringLiteral("Light"));
        menuAction(QStringLiteral("View"), QStringLiteral("Dark"))->trigger();
        QCOMPARE(tickedStyle(), QStringLiteral("Dark"));
        menuAction(QStringLiteral("View"), QStringLiteral("As the system"))->trigger();
        QCOMPARE(tickedStyle(), QStringLiteral("As the system"));
    }

    void aboutNamesTheVersion() {
        open();
        menuAction(QStringLiteral("Help"), QStringLiteral("About Stopline"))->trigger();
        auto* box = m_window->findChild<QMessageBox*>();
        QVERIFY(box != nullptr);
        QVERIFY(
            QRegularExpression(QStringLiteral("Stopline \\d+\\.\\d+\\.\\d+<")).match(box->text()).hasMatch());
        box->close();
    }

    void keysAndLegendOfTheDiagram() {
        open();
        auto* diagram = m_window->diagramPane()->diagram();
        auto* overlay = diagram->findChild<viewer::HelpOverlay*>();
        m_window->findChild<QSplitter*>(QStringLiteral("centre"))->setSizes({1000, 0}); // the source alone
        menuAction(QStringLiteral("Help"), QStringLiteral("Keys of the diagram (? there)"))->trigger();
        QVERIFY(m_window->findChild<QSplitter*>(QStringLiteral("centre"))->sizes().at(1) > 0);
        QVERIFY(overlay->isVisible());
        QCOMPARE(overlay->content(), viewer::HelpOverlay::Content::Keys);
        menuAction(QStringLiteral("Help"), QStringLiteral("Legend of the diagram"))->trigger();
        QVERIFY(overlay->isVisible());
        QCOMPARE(overlay->content(), viewer::HelpOverlay::Content::Legend);
        QTest::keyClick(diagram, Qt::Key_Escape);
        QVERIFY(!overlay->isVisible());
    }

    void theGuideIsTheReadme() {
        open();
        menuAction(QStringLiteral("Help"), QStringLiteral("User guide"))->trigger();
        auto* guide = m_window->findChild<Guide*>();
        QVERIFY(guide != nullptr && guide->isVisible());
        QVERIFY(guide->view()->isReadOnly());
        const QString text = guide->view()->toPlainText();
        QVERIFY(text.startsWith(QStringLiteral("Stopline\n")));
        QVERIFY(text.contains(QStringLiteral("future frontier")));
        QVERIFY(text.contains(QStringLiteral("(Picture: The stopline)")));
        QVERIFY(!guideText().contains(QStringLiteral("![")));
        menuAction(QStringLiteral("Help"), QStringLiteral("User guide"))->trigger();
        QCOMPARE(m_window->findChildren<Guide*>().size(), 1); // the same again
    }

    /// What the guide says of the diagram's keys is what they are.
    void theGuideHasEveryKeyOfTheDiagram() {
        open();
        const QString guide = guideText();
        const qsizetype begin = guide.indexOf(QStringLiteral("| in the diagram |"));
        QVERIFY(begin >= 0);
        const QString table = guide.mid(begin, guide.indexOf(QStringLiteral("\n\n"), begin) - begin);
        int seen = 0;
        for (const QAction* action : m_window->diagramPane()->diagram()->findChildren<QAction*>()) {
            if (!action->objectName().startsWith(QStringLiteral("diagram.")) ||
                action->shortcut().isEmpty()) {
                continue;
            }
            static const QHash<QString, QString> names{
                {QStringLiteral("."), QStringLiteral("full stop")},
                {QStringLiteral(","), QStringLiteral("comma")},
                {QStringLiteral("Alt+."), QStringLiteral("Alt+full stop")},
                {QStringLiteral("Alt+,"), QStringLiteral("Alt+comma")},
                {QStringLiteral("Return"), QStringLiteral("Enter")},
                {QStringLiteral("Ctrl+Return"), QStringLiteral("Ctrl+Enter")}};
            const QString key = action->shortcut().toString(QKeySequence::PortableText);
            const QString name = names.value(key, key);
            const QRegularExpression asWord(
                QStringLiteral("(^|[| ,;`])%1($|[| ,;:`])").arg(QRegularExpression::escape(name)),
                QRegularExpression::MultilineOption);
            QVERIFY2(asWord.match(table).hasMatch(), qPrintable(action->objectName() + u' ' + name));
            ++seen;
        }
        QVERIFY(seen >= 25);
    }

    void theBatchHelpNamesEveryPanel() {
        open();
        QStringList names;
        for (const auto* dock : m_window->findChildren<QDockWidget*>()) {
            names << dock->objectName();
        }
        QCOMPARE(names.size(), 10);
        const QString help = scriptHelp();
        const qsizetype begin = help.indexOf(QStringLiteral("dock NAME"));
        const QString of = help.mid(begin, help.indexOf(QStringLiteral("(only"), begin) - begin);
        const QRegularExpression word(
            QStringLiteral("\\b(variables|stack|call|output|openMessages|races|breakpoints|history|executions|log)\\b"));
        QStringList told;
        for (auto it = word.globalMatch(of); it.hasNext();) {
            told << it.next().captured();
        }
        names.sort();
        told.sort();
        QCOMPARE(told, names);
    }
};

QTEST_MAIN(HelpTest)
#include "help_test.moc"
