// What to start and how.
#pragma once

#include "../replay/session.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QDialogButtonBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace stopline::app {

/// Fills itself with the last launch. accept() remembers the new one. A launcher's own command line (`mpirun
/// -n 2 ./a : -n 2 ./b`) can be typed into the program field as it is.
class LaunchDialog : public QDialog {
    Q_OBJECT
  public:
    explicit LaunchDialog(QWidget* parent = nullptr);

    void setSpec(const replay::LaunchSpec& spec);
    [[nodiscard]] replay::LaunchSpec spec() const;
    [[nodiscard]] bool stopAtStart() const;
    void setStopAtStart(bool on);
    /// A job is there already: what would run is a restart.
    void setJobExists(bool exists);
    /// After accept(): the job is to be started now, not only its settings to be kept.
    [[nodiscard]] bool runWanted() const { return m_runWanted; }
    /// What is wrong with the fields, or empty. The OK button follows it.
    [[nodiscard]] QString problem() const;

    void accept() override;

  private:
    void update();
    void browse(QLineEdit* target, bool directory);

    QComboBox* m_recent;
    QLineEdit* m_program;
    QLineEdit* m_arguments;
    QSpinBox* m_ranks;
    QLineEdit* m_directory;
    QPlainTextEdit* m_environment;
    QComboBox* m_launcher;
    QLineEdit* m_launcherArguments;
    QLineEdit* m_input;
    QCheckBox* m_stopAtStart;
    QLabel* m_preview;
    QDialogButtonBox* m_buttons;
    QPushButton* m_keep;
    bool m_runWanted = false;
    QVector<replay::LaunchSpec> m_recentSpecs;
};

} // namespace stopline::app
