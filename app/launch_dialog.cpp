#include "launch_dialog.h"

#include "command_line.h"
#include "launch_memory.h"
#include "theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardPaths>
#include <QToolButton>
#include <QVBoxLayout>

namespace stopline::app {

using replay::LaunchSpec;

LaunchDialog::LaunchDialog(QWidget* parent)
    : QDialog(parent), m_recent(new QComboBox(this)), m_program(new QLineEdit(this)),
      m_arguments(new QLineEdit(this)), m_ranks(new QSpinBox(this)), m_directory(new QLineEdit(this)),
      m_environment(new QPlainTextEdit(this)), m_launcher(new QComboBox(this)),
      m_launcherArguments(new QLineEdit(this)), m_input(new QLineEdit(this)),
      m_stopAtStart(new QCheckBox(tr("Stop every rank before main"), this)), m_preview(new QLabel(this)),
      m_buttons(new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this)),
      m_keep(m_buttons->addButton(tr("&Keep settings"), QDialogButtonBox::ActionRole)) {
    setWindowTitle(tr("Launch"));
    m_ranks->setRange(1, 4096);
    m_ranks->setValue(4);
    m_launcher->setEditable(true);
    m_launcher->addItems({QStringLiteral("mpirun"), QStringLiteral("mpiexec"), QStringLiteral("srun")});
    m_program->setPlaceholderText(tr("./my_app, compiled with mpicc -g; or: mpirun -n 2 ./a : -n 2 ./b"));
    m_directory->setPlaceholderText(QDir::currentPath());
    m_environment->setPlaceholderText(tr("OMP_NUM_THREADS=1, one a line"));
    m_environment->setTabChangesFocus(true);
    m_environment->setFixedHeight(fontMetrics().height() * 4);
    m_launcherArguments->setPlaceholderText(QStringLiteral("--bind-to none"));
    m_input->setPlaceholderText(tr("none"));
    m_preview->setFont(fixedFont());
    m_preview->setWordWrap(true);
    m_preview->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_buttons->button(QDialogButtonBox::Ok)->setDefault(true);
    m_keep->setToolTip(tr("Close the dialog; the next Run uses what is set here"));
    setJobExists(false);

    const auto withBrowse = [this](QLineEdit* edit, bool directory) {
        auto* row = new QHBoxLayout;
        auto* button = new QToolButton(this);
        button->setText(QStringLiteral("…"));
        button->setToolTip(tr("Browse"));
        connect(button, &QToolButton::clicked, this, [this, edit, directory] { browse(edit, directory); });
        row->addWidget(edit);
        row->addWidget(button);
        return row;
    };
    auto* form = new QFormLayout;
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->addRow(tr("Recent"), m_recent);
    form->addRow(tr("Program"), withBrowse(m_program, false));
    form->addRow(tr("Arguments"), m_arguments);
    form->addRow(tr("Number of ranks"), m_ranks);
    form->addRow(tr("Working directory"), withBrowse(m_directory, true));
    form->addRow(tr("Environment"), m_environment);
    form->addRow(tr("Launcher"), m_launcher);
    form->addRow(tr("Launcher's &options"), m_launcherArguments);
    form->addRow(tr("Standard input"), withBrowse(m_input, false));
    form->addRow(QString(), m_stopAtStart);
    form->addRow(tr("Command"), m_preview);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(form);
    layout->addStretch();
    layout->addWidget(m_buttons);
    resize(620, sizeHint().height());

    m_recentSpecs = recentLaunches();
    m_recent->addItem(m_recentSpecs.isEmpty() ? tr("nothing yet") : tr("choose…"));
    for (const LaunchSpec& spec : std::as_const(m_recentSpecs)) {
        m_recent->addItem(launchText(spec));
    }
    m_recent->setEnabled(!m_recentSpecs.isEmpty());
    m_recent->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_recent->setMinimumContentsLength(30);
    connect(m_recent, &QComboBox::activated, this, [this](int index) {
        if (index > 0) {
            setSpec(m_recentSpecs.at(index - 1));
        }
    });
    for (QLineEdit* edit : {m_program, m_arguments, m_directory, m_launcherArguments, m_input}) {
        connect(edit, &QLineEdit::textChanged, this, &LaunchDialog::update);
    }
    connect(m_environment, &QPlainTextEdit::textChanged, this, &LaunchDialog::update);
    connect(m_ranks, &QSpinBox::valueChanged, this, &LaunchDialog::update);
    connect(m_launcher, &QComboBox::currentTextChanged, this, &LaunchDialog::update);
    connect(m_buttons, &QDialogButtonBox::accepted, this, [this] {
        m_runWanted = true;
        accept();
    });
    connect(m_keep, &QPushButton::clicked, this, &LaunchDialog::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &LaunchDialog::reject);
    if (!m_recentSpecs.isEmpty()) {
        setSpec(m_recentSpecs.first());
    }
    update();
}

void LaunchDialog::setSpec(const LaunchSpec& spec) {
    m_program->setText(spec.command.isEmpty() ? spec.program : joinWords(spec.command));
    m_arguments->setText(joinWords(spec.arguments));
    m_ranks->setValue(spec.ranks);
    m_directory->setText(spec.workingDirectory);
    QStringList lines;
    for (const auto& [name, value] : spec.environment) {
        lines << name + u'=' + value;
    }
    m_environment->setPlainText(lines.join(u'\n'));
    m_launcher->setCurrentText(spec.launcher);
    m_launcherArguments->setText(joinWords(spec.launcherArguments));
    m_input->setText(spec.inputFile);
    update();
}

LaunchSpec LaunchDialog::spec() const {
    LaunchSpec spec;
    const QStringList words = splitShellWords(m_program->text().trimmed());
    if (!words.isEmpty() && isLauncherName(words.first())) {
        spec.command = words;
    } else {
        // A path with blanks is a path, not a command line.
        spec.program = m_program->text().trimmed();
        spec.arguments = splitShellWords(m_arguments->text());
        spec.ranks = m_ranks->value();
        spec.launcher = m_launcher->currentText().trimmed();
        spec.launcherArguments = splitShellWords(m_launcherArguments->text());
    }
    spec.workingDirectory = m_directory->text().trimmed();
    spec.inputFile = m_input->text().trimmed();
    for (const QString& line : m_environment->toPlainText().split(u'\n', Qt::SkipEmptyParts)) {
        const qsizetype equals = line.indexOf(u'=');
        if (equals > 0) {
            spec.environment.append({line.left(equals).trimmed(), line.mid(equals + 1)});
        }
    }
    return spec;
}

bool LaunchDialog::stopAtStart() const {
    return m_stopAtStart->isChecked();
}

void LaunchDialog::setStopAtStart(bool on) {
    m_stopAtStart->setChecked(on);
}

void LaunchDialog::setJobExists(bool exists) {
    m_buttons->button(QDialogButtonBox::Ok)->setText(exists ? tr("&Restart") : tr("&Run"));
}

QString LaunchDialog::problem() const {
    const LaunchSpec now = spec();
    if (now.command.isEmpty() && now.program.isEmpty()) {
        return tr("Choose a program.");
    }
    const QString base = now.workingDirectory.isEmpty() ? QDir::currentPath() : now.workingDirectory;
    if (!QFileInfo(base).isDir()) {
        return tr("The working directory %1 does not exist.").arg(base);
    }
    if (now.command.isEmpty()) {
        const bool path = now.program.contains(u'/');
        const QFileInfo file(path ? QDir(base).filePath(now.program)
                                  : QStandardPaths::findExecutable(now.program));
        if (!file.isFile()) {
            return tr("There is no program %1.").arg(now.program);
        }
        if (!file.isExecutable()) {
            return tr("%1 is not executable: chmod +x it, or compile it.").arg(now.program);
        }
        if (now.launcher.isEmpty()) {
            return tr("Name the launcher, usually mpirun.");
        }
    }
    for (const QString& line : m_environment->toPlainText().split(u'\n', Qt::SkipEmptyParts)) {
        if (line.indexOf(u'=') <= 0) {
            return tr("Environment: `%1` is not NAME=VALUE.").arg(line);
        }
    }
    return {};
}

void LaunchDialog::update() {
    const QStringList words = splitShellWords(m_program->text().trimmed());
    const bool ownCommand = !words.isEmpty() && isLauncherName(words.first());
    for (QWidget* widget : {static_cast<QWidget*>(m_arguments), static_cast<QWidget*>(m_ranks),
                            static_cast<QWidget*>(m_launcher), static_cast<QWidget*>(m_launcherArguments)}) {
        widget->setEnabled(!ownCommand);
    }
    const QString wrong = problem();
    m_buttons->button(QDialogButtonBox::Ok)->setEnabled(wrong.isEmpty());
    m_buttons->button(QDialogButtonBox::Ok)->setToolTip(wrong);
    m_keep->setEnabled(wrong.isEmpty());
    m_preview->setText(wrong.isEmpty() ? launchText(spec()) : wrong);
}

void LaunchDialog::browse(QLineEdit* target, bool directory) {
    auto* dialog = new QFileDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(directory ? QFileDialog::Directory : QFileDialog::ExistingFile);
    if (directory) {
        dialog->setOption(QFileDialog::ShowDirsOnly);
    }
    connect(dialog, &QFileDialog::fileSelected, target, &QLineEdit::setText);
    dialog->open();
}

void LaunchDialog::accept() {
    if (problem().isEmpty()) {
        rememberLaunch(spec());
        QDialog::accept();
    }
}

} // namespace stopline::app
