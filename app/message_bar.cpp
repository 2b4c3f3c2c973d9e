#include "message_bar.h"

#include "icons.h"
#include "text.h"
#include "theme.h"

#include <QApplication>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

namespace stopline::app {

using replay::Severity;

MessageBar::MessageBar(QWidget* parent)
    : QFrame(parent), m_icon(new QLabel(this)), m_text(new QLabel(this)), m_action(new QPushButton(this)),
      m_close(new QToolButton(this)) {
    setAutoFillBackground(true);
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::RichText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_close->setIcon(icon(QStringLiteral("cancel")));
    m_close->setAutoRaise(true);
    m_close->setToolTip(tr("Close; the message stays in the log"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(10, 5, 6, 5);
    layout->addWidget(m_icon);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_action);
    layout->addWidget(m_close);
    connect(m_close, &QToolButton::clicked, this, &MessageBar::clear);
    connect(m_action, &QPushButton::clicked, this, [this] {
        const auto action = m_do;
        clear();
        if (action) {
            action();
        }
    });
    clear();
}

void MessageBar::clear() {
    m_severity = Severity::Info;
    m_more = 0;
    m_do = nullptr;
    m_html.clear();
    setVisible(false);
}

void MessageBar::withdraw(const QString& text) {
    if (m_html.contains(text.toHtmlEscaped())) {
        clear();
    }
}

QString MessageBar::text() const {
    return m_html;
}

void MessageBar::show(Severity severity, const QString& text, const QString& remedy) {
    if (severity == Severity::Info) {
        return;
    }
    if (isVisibleTo(parentWidget()) && m_severity == Severity::Error) {
        ++m_more; // the first error is usually the cause of the others
        m_text->setText(m_html + QStringLiteral(" <i>%1</i>").arg(tr("(%1 more in the log)").arg(m_more)));
        return;
    }
    m_do = nullptr;
    m_action->setVisible(false);
    QString html = QStringLiteral("<b>%1</b>").arg(text.toHtmlEscaped());
    if (!remedy.isEmpty()) {
        html += QStringLiteral("<br>%1").arg(remedy.toHtmlEscaped());
    }
    present(severity, html);
}

void MessageBar::offer(const QString& text, const QString& button, std::function<void()> action) {
    if (isVisibleTo(parentWidget()) && m_severity == Severity::Error) {
        return;
    }
    m_do = std::move(action);
    m_action->setText(button);
    m_action->setVisible(true);
    present(Severity::Info, text.toHtmlEscaped());
}

void MessageBar::present(Severity severity, const QString& html) {
    m_severity = severity;
    m_more = 0;
    m_html = html;
    m_text->setText(html);
    restyle();
    setVisible(true);
}

void MessageBar::restyle() {
    m_icon->setPixmap(icon(severityText(m_severity)).pixmap(20, 20));
    const QPalette base = QApplication::palette();
    const bool dark = isDark(base);
    const Accent which = m_severity == Severity::Error     ? Accent::Red
                         : m_severity == Severity::Warning ? Accent::Orange
                                                           : Accent::Blue;
    const QColor tint = accent(which, dark);
    const QColor paper = base.color(QPalette::Base);
    const auto mix = [](int a, int b) { return (a * 15 + b * 85) / 100; };
    QPalette colours; // only what differs, so that the rest follows the window's colours
    colours.setColor(QPalette::Window, QColor(mix(tint.red(), paper.red()), mix(tint.green(), paper.green()),
                                              mix(tint.blue(), paper.blue())));
    if (colours.color(QPalette::Window) != palette().color(QPalette::Window)) {
        setPalette(colours);
    }
}

void MessageBar::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() == QEvent::ParentChange || event->type() == QEvent::StyleChange ||
        event->type() == QEvent::PaletteChange) {
        restyle();
    }
}

} // namespace stopline::app
