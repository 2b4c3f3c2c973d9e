#include "log_dock.h"

#include "log_model.h"
#include "note_view.h"
#include "text.h"
#include "../replay/words.h"

#include <QHeaderView>

namespace stopline::app {

using namespace replay;

LogDock::LogDock(Session* session, QWidget* parent)
    : QDockWidget(tr("Log"), parent), m_model(new LogModel(this)), m_view(new NoteView(this)) {
    setObjectName(QStringLiteral("log"));
    setWidget(m_view);
    m_view->setModel(m_model);
    m_view->setNote(tr("Nothing to report."));
    m_view->header()->setSectionResizeMode(LogModel::When, QHeaderView::ResizeToContents);
    m_view->header()->resizeSection(LogModel::Text, 560);
    connect(session, &Session::message, m_model, &LogModel::add);
    connect(session, &Session::jobEnded, this, [this](const QString& summary) {
        m_model->add(Severity::Info, tr("The job has ended: %1").arg(summary), {});
    });
    connect(session, &Session::operationFinished, this, [this](bool ok, const QString& text) {
        if (!text.isEmpty()) {
            m_model->add(ok ? Severity::Info : Severity::Warning, text, {});
        }
    });
    connect(m_model, &LogModel::rowsInserted, this, [this] {
        m_view->scrollToBottom();
        const int problems = m_model->problems();
        setWindowTitle(problems > 0 ? tr("Log (%1)").arg(problems) : tr("Log"));
    });
}

} // namespace stopline::app
