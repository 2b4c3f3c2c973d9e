// Settings of a test's own, so that it neither reads nor changes the user's.
#pragma once

#include <QCoreApplication>
#include <QSettings>
#include <QTemporaryDir>

/// Must live as long as the test writes settings; the folder goes with it.
class OwnSettings {
  public:
    explicit OwnSettings(const QString& name) {
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_directory.path());
        QCoreApplication::setOrganizationName(QStringLiteral("stopline-test"));
        QCoreApplication::setApplicationName(name);
    }

  private:
    QTemporaryDir m_directory;
};
