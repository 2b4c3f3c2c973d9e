// A recording in the window: its name, and what can not be done without a job.
#include "window_fixture.h"

#include "../../../app/source_view.h"

#include <QMenuBar>

class OpenedTest : public WindowFixture {
    Q_OBJECT

  private slots:
    void init() {
        m_session = std::make_unique<Session>();
        open();
    }
    void cleanup() {
        m_window.reset();
        m_session.reset();
    }

    void theTitleNamesTheFile() {
        recordMessages(*m_session, 3);
        m_session->openRecording(m_directory.filePath(QStringLiteral("night.stopline")));
        QCOMPARE(m_window->windowTitle(), QStringLiteral("night.stopline — Stopline"));
        QCOMPARE(calls(), QStringList({QStringLiteral("open ") +
                                       m_directory.filePath(QStringLiteral("night.stopline"))}));
    }

    void disabledCommandsSayWhy() {
        Scripted& script = scriptOf(*m_session);
        const QString why = QStringLiteral("night.stopline is a recording: there is no job to control");
        for (const Verb verb : {Verb::Run, Verb::Continue, Verb::Pause, Verb::StepOver, Verb::Kill,
                                Verb::Restart, Verb::Replay, Verb::Go, Verb::Undo, Verb::Rollback}) {
            script.whyNot[verb] = why;
        }
        m_session->openRecording(QStringLiteral("night.stopline"));
        emit m_session->verbsChanged();
        Actions* actions = m_window->actions();
        for (const QAction* action :
             {actions->runOrContinue, actions->pause, actions->stepOver, actions->kill, actions->restart,
              actions->replay, actions->go, actions->undo, actions->rollback}) {
            QVERIFY2(!action->isEnabled(), qPrintable(action->objectName()));
            QVERIFY(action->toolTip().contains(why));
            QVERIFY(action->statusTip().contains(why));
        }
        QVERIFY(actions->launch->isEnabled());
        script.whyNot.clear();
        emit m_session->verbsChanged();
        actions->replay->trigger();
        QCOMPARE(calls().last(), QStringLiteral("replay"));
        QVERIFY(actions->openRecording->isEnabled());
    }

    void noRecordingIsOpenedBesideAJob() {
        QVERIFY(m_window->actions()->openRecording->isEnabled());
        scriptOf(*m_session).job = true;
        emit m_session->verbsChanged();
        QVERIFY(!m_window->actions()->openRecording->isEnabled());
        QVERIFY(m_window->actions()->openRecording->toolTip().contains(QStringLiteral("kill it first")));
    }

    void theMenuHasIt() {
        bool found = false;
        for (QAction* menu : m_window->menuBar()->actions()) {
            found = found || menu->menu()->actions().contains(m_window->actions()->openRecording);
        }
        QVERIFY(found);
        QCOMPARE(m_window->actions()->openRecording->shortcut(),
                 QKeySequence(QStringLiteral("Ctrl+Shift+O")));
    }
};

QTEST_MAIN(OpenedTest)
#include "opened_test.moc"
