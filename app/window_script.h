// Runs a script inside the real window, with pictures.
#pragma once

#include "batch.h"

#include <QObject>

namespace stopline::app {

class MainWindow;

class WindowScript : public QObject, public WindowVerbs {
    Q_OBJECT
  public:
    /// `directory` is made when it does not exist; empty: the current one.
    WindowScript(MainWindow* window, const QString& directory, QObject* parent = nullptr);

    QString screenshot(const QString& name) override;
    QString select(replay::CallRef call) override;
    QString resize(int width, int height) override;
    QString axis(const QString& name) override;
    QString style(const QString& name) override;
    QString dock(const QString& name) override;
    [[nodiscard]] const QStringList& pictures() const { return m_pictures; } ///< paths saved so far

  private:
    MainWindow* m_window;
    QString m_directory;
    QStringList m_pictures;
};

/// Lets the window load stack and variables and paint, for as long as it takes but at most a few seconds.
void settleWindow(MainWindow* window);

} // namespace stopline::app
