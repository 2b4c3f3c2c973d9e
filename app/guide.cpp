#include "guide.h"

#include "icons.h"

#include <QDesktopServices>
#include <QFile>
#include <QRegularExpression>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace stopline::app {

QString guideText() {
    registerResources();
    QFile file(QStringLiteral(":/README.md"));
    if (!file.open(QIODevice::ReadOnly)) {
        return {};
    }
    static const QRegularExpression picture(QStringLiteral("!\\[([^\\]]*)\\]\\([^)]*\\)"));
    return QString::fromUtf8(file.readAll()).replace(picture, QStringLiteral("*(Picture: \\1)*"));
}

Guide::Guide(QWidget* parent) : QDialog(parent), m_view(new QTextBrowser(this)) {
    setWindowTitle(tr("Stopline: user guide"));
    setWindowFlag(Qt::WindowMaximizeButtonHint);
    m_view->setObjectName(QStringLiteral("guide"));
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setOpenLinks(false); // files of the checkout, which need not be there
    m_view->document()->setDocumentMargin(16);
    m_view->setMarkdown(guideText());
    connect(m_view, &QTextBrowser::anchorClicked, this, [](const QUrl& link) {
        if (link.scheme() == QLatin1StringView("https")) {
            QDesktopServices::openUrl(link);
        }
    });
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_view);
    resize(fontMetrics().averageCharWidth() * 110, fontMetrics().lineSpacing() * 46);
}

} // namespace stopline::app
