// The Help menu of the window.
#include "main_window.h"

#include "../viewer/diagram_widget.h"
#include "../viewer/help_overlay.h"
#include "diagram_pane.h"
#include "guide.h"
#include "icons.h"

#include <QMenuBar>
#include <QMessageBox>
#include <QSplitter>

namespace stopline::app {

void MainWindow::buildHelpMenu() {
    using Content = viewer::HelpOverlay::Content;
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    const auto overlay = [this](Content content) {
        auto* panel = findChild<viewer::HelpOverlay*>(); // it may lie over the window
        if (panel == nullptr) {
            return;
        }
        if (m_splitter->sizes().value(1) == 0) {
            m_splitter->setSizes({500, 500}); // the source had all the room
        }
        if (panel->isVisible()) {
            panel->hide();
        }
        panel->toggle(content);
        m_diagram->diagram()->setFocus(Qt::OtherFocusReason); // where Esc closes it
    };
    help->addAction(tr("User &guide"), this, &MainWindow::showGuide);
    help->addAction(tr("&Keys of the diagram (? there)"), this, [overlay] { overlay(Content::Keys); });
    help->addAction(tr("&Legend of the diagram"), this, [overlay] { overlay(Content::Legend); });
    help->addSeparator();
    help->addAction(tr("&About Stopline"), this, [this] {
        auto* box = new QMessageBox(
            QMessageBox::NoIcon, tr("About Stopline"),
            tr("<b>Stopline %1</b><p>A debugger for MPI programs with a memory of what happened."
               "<p>GPL-3.0-or-later; what is loaded into your program: MIT")
                .arg(QStringLiteral(STOPLINE_VERSION)),
            QMessageBox::Ok, this);
        box->setIconPixmap(programIcon().pixmap(64, 64));
        box->setAttribute(Qt::WA_DeleteOnClose);
        box->open();
    });
}

void MainWindow::showGuide() {
    if (auto* open = findChild<Guide*>()) {
        open->raise();
        open->activateWindow();
        return;
    }
    auto* guide = new Guide(this);
    guide->setAttribute(Qt::WA_DeleteOnClose);
    guide->show();
}

} // namespace stopline::app
