#include "icons.h"

#include "theme.h"

#include <QApplication>
#include <QBuffer>
#include <QFile>
#include <QIconEngine>
#include <QImageReader>
#include <QPainter>
#include <QPixmapCache>

// Static libraries do not register their resources by themselves.
static void initResources() {
    Q_INIT_RESOURCE(stopline);
}

namespace stopline::app {

namespace {

/// Renders one SVG with its colour words replaced by those of the palette. Drawn anew when the palette
/// changes: the cache key holds the colours.
class ThemedIconEngine : public QIconEngine {
  public:
    explicit ThemedIconEngine(QString name, QByteArray svg)
        : m_name(std::move(name)), m_svg(std::move(svg)) {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
        const qreal ratio = painter->device() != nullptr ? painter->device()->devicePixelRatioF() : 1.0;
        QPixmap image = pixmap(rect.size() * ratio, mode, state);
        image.setDevicePixelRatio(ratio);
        painter->drawPixmap(rect, image);
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State) override {
        const QPalette palette = QApplication::palette();
        const bool dark = isDark(palette);
        const bool disabled = mode == QIcon::Disabled;
        const QColor line =
            palette.color(disabled ? QPalette::Disabled : QPalette::Active, QPalette::ButtonText);
        const QString key = QStringLiteral("stopline-%1-%2x%3-%4-%5")
                                .arg(m_name)
                                .arg(size.width())
                                .arg(size.height())
                                .arg(line.rgba(), 0, 16)
                                .arg(dark);
        QPixmap result;
        if (QPixmapCache::find(key, &result)) {
            return result;
        }
        QByteArray svg = m_svg;
        const auto replace = [&](const char* word, const QColor& colour) {
            svg.replace(QByteArray("\"") + word + '"',
                        '"' + (disabled ? line : colour).name().toLatin1() + '"');
        };
        replace("currentColor", line);
        replace("green", accent(Accent::Green, dark));
        replace("blue", accent(Accent::Blue, dark));
        replace("orange", accent(Accent::Orange, dark));
        replace("red", accent(Accent::Red, dark));
        QBuffer buffer(&svg);
        buffer.open(QIODevice::ReadOnly);
        QImageReader reader(&buffer, "svg");
        reader.setScaledSize(size);
        result = QPixmap::fromImage(reader.read());
        QPixmapCache::insert(key, result);
        return result;
    }

    [[nodiscard]] QIconEngine* clone() const override { return new ThemedIconEngine(m_name, m_svg); }
    [[nodiscard]] QString key() const override { return QStringLiteral("stopline"); }
    bool isNull() override { return m_svg.isEmpty(); }

  private:
    QString m_name;
    QByteArray m_svg;
};

} // namespace

void registerResources() {
    initResources();
}

QIcon icon(const QString& name) {
    registerResources();
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    if (!file.open(QIODevice::ReadOnly)) {
        return {};
    }
    return QIcon(new ThemedIconEngine(name, file.readAll()));
}

QIcon programIcon() {
    registerResources();
    return QIcon(QStringLiteral(":/icons/stopline.svg"));
}

} // namespace stopline::app
