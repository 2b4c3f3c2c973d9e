// What all tests of the window begin with.
#pragma once

#include "../../../app/actions.h"
#include "../../../app/look.h"
#include "../../../app/main_window.h"
#include "../../../app/message_bar.h"
#include "../../../app/rank_strip.h"
#include "../../../app/theme.h"
#include "scripted_session.h"

#include <QFile>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace stopline;
using namespace stopline::app;
using namespace stopline::replay;

class WindowFixture : public QObject {
    Q_OBJECT

  protected:
    QTemporaryDir m_directory;
    QString m_source;
    std::unique_ptr<Session> m_session;
    std::unique_ptr<MainWindow> m_window;

    void open() {
        m_window = std::make_unique<MainWindow>(m_session.get());
        m_window->setAskBeforeClose(false);
        m_window->resize(1400, 900);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    }

    void stop(const std::vector<int>& lines) {
        standAt(*m_session, m_source, lines);
        emit m_session->ranksChanged();
        emit m_session->verbsChanged();
        emit m_session->stopped();
        QCoreApplication::processEvents(); // strip and rows are drawn once for all ranks
    }

    [[nodiscard]] const QStringList& calls() const { return scriptOf(*m_session).calls; }

  private slots:
    void initTestCase() {
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_directory.path());
        QCoreApplication::setOrganizationName(QStringLiteral("stopline-test"));
        QCoreApplication::setApplicationName(QStringLiteral("window"));
        m_source = m_directory.filePath(QStringLiteral("solver.c"));
        QFile file(m_source);
        QVERIFY(file.open(QIODevice::WriteOnly));
        for (int line = 1; line <= 200; ++line) {
            file.write("int line_" + QByteArray::number(line) + ";\n");
        }
    }

    void init() {
        QSettings().clear();
        applyStyle(ColourStyle::Light);
        m_session = std::make_unique<Session>();
    }

    void cleanup() {
        m_window.reset();
        m_session.reset();
    }
};
