// Two panels over the diagram: the keys, and the legend. A click or any key closes them.
#pragma once

#ifndef Q_MOC_RUN // as in diagram_widget.h
#include "palette.h"
#endif

#include <QWidget>

#ifndef Q_MOC_RUN
#include <utility>
#include <vector>
#endif

namespace stopline::viewer {

class HelpOverlay : public QWidget {
    Q_OBJECT
  public:
    enum class Content { Keys, Legend };
    /// Belongs to `host` and lies over it; the keys over its whole window where the host has no room for them.
    explicit HelpOverlay(QWidget* host);
    /// Lines of keys and what they do, from the actions, so that both always agree.
    void setKeys(std::vector<std::pair<QString, QString>> keys) { m_keys = std::move(keys); }
    void setPalette(const Palette& palette);
    void toggle(Content content);
    /// Centre (keys) or bottom right (legend) of the parent, never larger than it.
    void place();
    [[nodiscard]] Content content() const { return m_content; }

    /// How the entries are spread over the height that there is: never closer than the font is high, in more columns
    /// before that.
    struct Arrangement {
        int columns = 2;
        int rows = 0;
        int line = 0; ///< from one row to the next, in pixels
    };
    [[nodiscard]] Arrangement arrangement() const;
    /// It has the size that it wants: no text is cut.
    [[nodiscard]] bool isWhole() const { return size() == wanted(); }

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

  private:
    [[nodiscard]] QSize wanted() const;
    void paintKeys(class QPainter& painter) const;
    void paintLegend(class QPainter& painter) const;

    QWidget* m_host;
    Content m_content = Content::Keys;
    std::vector<std::pair<QString, QString>> m_keys;
    Palette m_colours{Palette::Theme::Light};
};

} // namespace stopline::viewer
