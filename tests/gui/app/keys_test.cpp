// Keys of the window's commands: schemes, the user's own, where they act.
#include "../../../app/key_bindings.h"
#include "../../../app/keys_dialog.h"
#include "../../../viewer/diagram_widget.h"
#include "window_fixture.h"

#include <QComboBox>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QTreeWidget>

class KeysTest : public WindowFixture {
    Q_OBJECT

    [[nodiscard]] Actions& actions() const { return *m_window->actions(); }
    [[nodiscard]] KeyBindings& keys() const { return *actions().keys(); }
    static QKeySequence key(const char* text) { return QKeySequence(QString::fromLatin1(text)); }

    void choose(QTreeWidget* list, const QAction* action) {
        list->setCurrentItem(list->topLevelItem(int(keys().actions().indexOf(action))));
    }

  private slots:
    void noKeyHasTwoCommands() {
        open();
        for (const KeyScheme& scheme : keySchemes()) {
            keys().setScheme(scheme.name);
            QHash<QKeySequence, QString> seen;
            for (const QAction* action : keys().actions()) {
                QVERIFY(!action->objectName().isEmpty());
                for (const QKeySequence& one : action->shortcuts()) {
                    QVERIFY2(!one.isEmpty() && !seen.contains(one),
                             qPrintable(scheme.name + u' ' + one.toString() + u' ' + action->objectName() +
                                        u' ' + seen.value(one)));
                    seen.insert(one, action->objectName());
                }
            }
            for (auto it = scheme.keys.begin(); it != scheme.keys.end(); ++it) {
                QVERIFY2(std::any_of(keys().actions().begin(), keys().actions().end(),
                                     [&](const QAction* action) { return action->objectName() == it.key(); }),
                         qPrintable(it.key()));
            }
        }
    }

    void aSchemeIsKept() {
        open();
        QCOMPARE(actions().stepInto->shortcut(), key("F11"));
        keys().setScheme(QStringLiteral("eclipse"));
        QCOMPARE(actions().stepInto->shortcut(), key("F5"));
        QVERIFY(actions().stepInto->toolTip().contains(QStringLiteral("(F5)")));
        QCOMPARE(keyText(QStringLiteral("runOrContinue")), QStringLiteral("F8"));
        stop({118, 120});
        QTest::keyClick(m_window.get(), Qt::Key_F5);
        QVERIFY(calls().contains(QStringLiteral("stepInto all")));
        open(); // the next window
        QCOMPARE(actions().stepInto->shortcut(), key("F5"));
        keys().setScheme(QStringLiteral("no such"));
        QCOMPARE(keys().scheme(), QStringLiteral("stopline"));
        QCOMPARE(actions().stepInto->shortcut(), key("F11"));
    }

    void noticesNameTheKeysThatThereAre() {
        LaunchSpec spec;
        spec.program = QStringLiteral("/bin/solver");
        m_session->setLaunch(spec);
        open();
        const auto says = [this](const QString& text) {
            const auto labels = m_window->findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(),
                               [&](const QLabel* label) { return label->text().contains(text); });
        };
        QVERIFY(says(QStringLiteral("Press Run (F5) to start")));
        keys().setScheme(QStringLiteral("eclipse"));
        QVERIFY(says(QStringLiteral("Press Run (F8) to start")));
        keys().setKey(actions().runOrContinue, {});
        QVERIFY(says(QStringLiteral("Press Run to start")));
    }

    void aKeyHasOneOwner() {
        open();
        QCOMPARE(keys().setKey(actions().undo, key("F6")), actions().pause);
        QCOMPARE(actions().undo->shortcuts(), Keys{key("F6")});
        QVERIFY(actions().pause->shortcuts().isEmpty());
        QVERIFY(keys().changed(actions().pause));
        QCOMPARE(keys().setKey(actions().undo, key("F6")), nullptr);
        open();
        QCOMPARE(actions().undo->shortcut(), key("F6"));
        QVERIFY(actions().pause->shortcuts().isEmpty());
        keys().reset(actions().pause);
        QCOMPARE(actions().pause->shortcut(), key("F6"));
        QVERIFY(actions().undo->shortcuts().isEmpty());
        keys().reset(actions().undo);
        QCOMPARE(actions().undo->shortcut(), key("Ctrl+Z"));
        QVERIFY(!keys().changed(actions().undo));
        QVERIFY(!keys().changed(actions().pause));
    }

    /// Where a letter means something already it keeps that meaning.
    void singleLetters() {
        open();
        keys().setScheme(QStringLiteral("gdb"));
        stop({118, 120});
        const auto steps = [this] { return calls().filter(QStringLiteral("stepOver ")).size(); };
        for (auto* source : m_window->findChildren<QWidget*>()) {
            if (source->inherits("QsciScintilla") && source->isVisible()) {
                source->setFocus();
                QTest::keyClick(source, Qt::Key_N);
                break;
            }
        }
        QCOMPARE(steps(), 1);
        auto* diagram = m_window->findChild<viewer::DiagramWidget*>();
        QVERIFY(diagram != nullptr);
        diagram->setFocus();
        QSignalSpy future(diagram, &viewer::DiagramWidget::frontierRequested);
        QTest::keyClick(diagram, Qt::Key_N);
        QCOMPARE(future.count(), 1);
        QCOMPARE(steps(), 1);
        QTest::keyClick(diagram, Qt::Key_F10); // not the diagram's
        QCOMPARE(steps(), 2);
        for (auto* edit : m_window->findChildren<QLineEdit*>()) {
            if (edit->isVisible() && edit->isEnabled() && !edit->isReadOnly()) {
                edit->setFocus();
                QTest::keyClick(edit, Qt::Key_N);
                QCOMPARE(edit->text(), QStringLiteral("n"));
                break;
            }
        }
        QCOMPARE(steps(), 2);
    }

    /// What is listed stays, whatever the menus say at the moment.
    void commandsHaveLastingNames() {
        HistoryEntry entry;
        entry.verb = Verb::Rollback;
        scriptOf(*m_session).undo = entry;
        open();
        stop({118, 120});
        QCOMPARE(actions().undo->text().remove(u'&'), QStringLiteral("Undo Roll back"));
        KeysDialog dialog(&keys());
        auto* list = dialog.findChild<QTreeWidget*>(QStringLiteral("keyList"));
        const auto listed = [&](const QAction* action) {
            choose(list, action);
            return list->currentItem()->text(0);
        };
        QCOMPARE(listed(actions().undo), QStringLiteral("Undo"));
        QCOMPARE(listed(actions().rollback), QStringLiteral("Roll back one call"));
        QCOMPARE(listed(actions().stepOver), QStringLiteral("Step over"));
        QCOMPARE(listed(actions().pause), QStringLiteral("Pause"));
        QCOMPARE(listed(actions().runOrContinue), QStringLiteral("Run, Continue"));
        QCOMPARE(listed(actions().scopeRank), QStringLiteral("Focus: shown rank only"));
        QCOMPARE(listed(actions().stoplineHere), QStringLiteral("Set stopline"));
        QCOMPARE(listed(actions().find), QStringLiteral("Find in source"));
        QCOMPARE(actions().find->shortcut(), key("Ctrl+F"));
    }

    void theNoteTellsOfKeysThatGo() {
        open();
        keys().setScheme(QStringLiteral("gdb"));
        KeysDialog dialog(&keys());
        dialog.show();
        auto* list = dialog.findChild<QTreeWidget*>(QStringLiteral("keyList"));
        auto* edit = dialog.findChild<QKeySequenceEdit*>(QStringLiteral("keyEdit"));
        auto* note = dialog.findChild<QLabel*>(QStringLiteral("keyNote"));
        choose(list, actions().stepOver);
        QCOMPARE(list->currentItem()->text(1), QStringLiteral("N, F10"));
        edit->setFocus();
        QTest::keyClick(edit, Qt::Key_F6);
        QTRY_COMPARE(list->currentItem()->text(1), QStringLiteral("F6"));
        QCOMPARE(note->text(), QStringLiteral("F6 is the key of Step over now, and no longer that of Pause. N and F10 do "
                                              "nothing any more."));
        edit->setFocus();
        QTest::keyClick(edit, Qt::Key_F12);
        QTRY_COMPARE(note->text(),
                     QStringLiteral("F12 is the key of Step over now. F6 does nothing any more."));
    }

    void dialog() {
        open();
        KeysDialog dialog(&keys());
        dialog.show();
        auto* list = dialog.findChild<QTreeWidget*>(QStringLiteral("keyList"));
        auto* edit = dialog.findChild<QKeySequenceEdit*>(QStringLiteral("keyEdit"));
        auto* note = dialog.findChild<QLabel*>(QStringLiteral("keyNote"));
        auto* scheme = dialog.findChild<QComboBox*>(QStringLiteral("keyScheme"));
        choose(list, actions().stepOver);
        QCOMPARE(list->currentItem()->text(1), QStringLiteral("F10"));
        edit->setFocus();
        QTest::keyClick(edit, Qt::Key_F6);
        QTRY_COMPARE(list->currentItem()->text(1), QStringLiteral("F6"));
        QVERIFY2(note->text().contains(QStringLiteral("no longer that of Pause")), qPrintable(note->text()));
        QCOMPARE(actions().stepOver->shortcut(), key("F6"));
        edit->setFocus();
        QTest::keyClick(edit, Qt::Key_Escape);
        QTest::qWait(50);
        QCOMPARE(list->currentItem()->text(1), QStringLiteral("F6"));
        QVERIFY(dialog.isVisible() && list->hasFocus());
        choose(list, actions().pause);
        QCOMPARE(list->currentItem()->text(1), QString());
        QCOMPARE(scheme->currentData().toString(), QStringLiteral("stopline"));
        scheme->setCurrentIndex(scheme->findData(QStringLiteral("clion")));
        emit scheme->activated(scheme->currentIndex());
        choose(list, actions().stepOver);
        QCOMPARE(list->currentItem()->text(1), QStringLiteral("F8"));
    }
};

QTEST_MAIN(KeysTest)
#include "keys_test.moc"
