#include "call_dock.h"

#include "call_details.h"
#include "look.h"

#include <QEvent>
#include <QTextBrowser>

namespace stopline::app {

CallDock::CallDock(Look* look, QWidget* parent)
    : QDockWidget(tr("Call"), parent), m_look(look), m_view(new QTextBrowser(this)) {
    setObjectName(QStringLiteral("call"));
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setOpenLinks(false);
    m_view->setPlaceholderText(
        tr("Click a call in the diagram: everything the recording knows of it appears here."));
    setWidget(m_view);
    connect(m_view, &QTextBrowser::anchorClicked, this, [this](const QUrl& url) {
        if (const auto call = callOfLink(url.toString())) {
            m_look->selectCall(*call, true);
            emit callShown();
        } else {
            m_look->selectCall(m_look->call(), true);
        }
    });
    connect(look, &Look::callChanged, this, &CallDock::reload);
    connect(look->session(), &replay::Session::timelineChanged, this, &CallDock::reload);
}

void CallDock::reload() {
    const auto call = m_look->call();
    const QString html = call ? callDetailsHtml(*m_look->session(), *call, palette()) : QString();
    if (html.isEmpty()) {
        m_view->clear();
    } else if (html != m_view->property("shown").toString()) {
        m_view->setHtml(html);
    }
    m_view->setProperty("shown", html);
}

void CallDock::changeEvent(QEvent* event) {
    QDockWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        reload();
    }
}

QString CallDock::text() const {
    return m_view->toPlainText();
}

} // namespace stopline::app
