// The strip above everything: every rank's state, and the shown rank large with its call and line.
#pragma once

#include "../replay/session.h"

#include <QVector>
#include <QWidget>

namespace stopline::app {

/// Up to 32 ranks: one tile each, with number, state letter and colour. More: counts by state and small
/// squares. A click shows a rank; a double click also gives it the focus; Ctrl and Shift with a click choose the
/// ranks of the focus. Never hidden.
class RankStrip : public QWidget {
    Q_OBJECT
  public:
    explicit RankStrip(QWidget* parent = nullptr);

    struct Content {
        QVector<replay::RankView> ranks; ///< as Session::live() has them
        RankId shown{0};
        replay::Focus focus;
        QString place;        ///< of the shown rank: "inside 12 MPI_Recv"
        QString notice;       ///< what to say when there are no ranks yet
        bool pending = false; ///< an operation is under way
    };
    void setContent(Content content);
    [[nodiscard]] const Content& content() const { return m_content; }

    /// Where rank `index` is drawn; empty when there is none. For tests and tooltips.
    [[nodiscard]] QRect tileRect(int index) const;
    /// "41 stopped  20 running  3 waiting in MPI": states in the order of how many there are.
    [[nodiscard]] QString summary() const;
    static constexpr int kDetailedRanks = 32;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

  signals:
    void rankChosen(stopline::RankId rank);  ///< click, arrow keys
    void rankFocused(stopline::RankId rank); ///< double click
    void focusWanted(const stopline::replay::Focus& focus); ///< Ctrl+click adds or takes away, Shift+click: a range

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

  private:
    void layoutTiles();
    void paintTile(QPainter& painter, int rank) const;
    [[nodiscard]] replay::Focus focusWith(int rank, Qt::KeyboardModifiers modifiers) const;
    [[nodiscard]] int rankAt(const QPoint& pos) const;
    void paintShownRank(QPainter& painter, const QRect& area) const;
    void paintTiles(QPainter& painter) const;

    Content m_content;
    QRect m_tileArea;
    QSize m_tile;
    int m_columns = 1;
    int m_gap = 4;
};

} // namespace stopline::app
