// The launch dialog, and what a new launch does to the window.
#include "../../../app/launch_dialog.h"
#include "window_fixture.h"

#include <QDialogButtonBox>
#include <QPushButton>
#include <QSpinBox>

class LaunchTest : public WindowFixture {
    Q_OBJECT

  private slots:
    void aNewLaunchBeginsWithoutOldMessages() {
        open();
        emit m_session->message(Severity::Error, QStringLiteral("The program could not be started."), {});
        QVERIFY(m_window->messageBar()->isVisible());
        LaunchSpec spec;
        spec.program = QStringLiteral("./other");
        m_window->setLaunch(spec);
        QVERIFY(!m_window->messageBar()->isVisible());
    }

    void theLaunchDialogRunsOrKeeps_data() {
        QTest::addColumn<QString>("button");
        QTest::addColumn<bool>("job");
        QTest::addColumn<QStringList>("calls");
        QTest::newRow("run") << "Run" << false << QStringList{QStringLiteral("run")};
        QTest::newRow("restart") << "Restart" << true << QStringList{QStringLiteral("restart")};
        QTest::newRow("keep") << "Keep settings" << false << QStringList{};
        QTest::newRow("keep, with a job") << "Keep settings" << true << QStringList{};
    }

    void theLaunchDialogRunsOrKeeps() {
        QFETCH(QString, button);
        QFETCH(bool, job);
        QFETCH(QStringList, calls);
        open();
        scriptOf(*m_session).job = job;
        m_window->showLaunchDialog();
        auto* dialog = m_window->findChild<LaunchDialog*>();
        LaunchSpec spec;
        spec.program = QStringLiteral("/bin/true");
        spec.ranks = 3;
        dialog->setSpec(spec);
        scriptOf(*m_session).calls.clear();
        QPushButton* found = nullptr;
        for (QPushButton* one : dialog->findChildren<QPushButton*>()) {
            found = one->text().remove(u'&') == button ? one : found;
        }
        QVERIFY(found != nullptr);
        found->click();
        QCOMPARE(m_session->launch().ranks, 3); // the settings are kept either way
        QStringList given = scriptOf(*m_session).calls;
        given.removeIf([](const QString& call) { return call.startsWith(QStringLiteral("stopAtStart")); });
        QCOMPARE(given, calls);
    }

    void launchDialogRemembers() {
        const QString program = m_directory.filePath(QStringLiteral("app"));
        QFile file(program);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.close();
        {
            LaunchDialog dialog;
            LaunchSpec spec;
            spec.program = program;
            dialog.setSpec(spec);
            QVERIFY(dialog.problem().contains(QStringLiteral("not executable")));
            QVERIFY(!dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok)->isEnabled());
            QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::ExeOwner));
            spec.ranks = 7;
            spec.arguments = {QStringLiteral("a b"), QStringLiteral("c")};
            spec.environment = {{QStringLiteral("X"), QStringLiteral("1")}};
            dialog.setSpec(spec);
            QCOMPARE(dialog.problem(), QString());
            dialog.accept();
            QCOMPARE(dialog.result(), int(QDialog::Accepted));
        }
        LaunchDialog again;
        QCOMPARE(again.spec().program, program);
        QCOMPARE(again.spec().ranks, 7);
        QCOMPARE(again.spec().arguments, QStringList({QStringLiteral("a b"), QStringLiteral("c")}));
        QCOMPARE(again.spec().environment.size(), 1);
    }

    void launchDialogTakesALaunchersCommand() {
        LaunchDialog dialog;
        LaunchSpec spec;
        spec.command = {QStringLiteral("mpirun"), QStringLiteral("-n"), QStringLiteral("2"),
                        QStringLiteral("./a"),    QStringLiteral(":"),  QStringLiteral("-n"),
                        QStringLiteral("2"),      QStringLiteral("./b")};
        dialog.setSpec(spec);
        QCOMPARE(dialog.spec().command, spec.command);
        QVERIFY(!dialog.findChild<QSpinBox*>()->isEnabled());
    }
};

QTEST_MAIN(LaunchTest)
#include "launch_test.moc"
