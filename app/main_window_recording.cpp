// The window's part in showing recordings.
#include "main_window.h"

#include "message_bar.h"
#include "source_view.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>

namespace stopline::app {

using namespace replay;

void MainWindow::chooseRecording() {
    auto* dialog = new QFileDialog(this, tr("Open recording"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Recordings (*.stopline *.stopline.part)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        m_bar->clear();
        m_session->openRecording(file);
    });
    dialog->open();
}

/// Sources are looked for where the recording says, and beside it: it may come from another machine.
void MainWindow::onRecordingOpened() {
    const QString file = m_session->openedRecording();
    if (!file.isEmpty()) {
        m_source->setSearchDirectories({QFileInfo(file).absolutePath(), QDir::currentPath()});
        m_source->setProgram({});
    }
    updateStrip();
    updateTitle();
}

} // namespace stopline::app
