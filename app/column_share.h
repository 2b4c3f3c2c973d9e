// How three columns, name, value and type, share the width of a panel.
#pragma once

#include <QObject>
#include <QTimer>

class QTreeView;

namespace stopline::app {

/// Sizes in pixels; 0: the column is hidden.
struct ColumnWidths {
    int name = 0;
    int value = 0;
    int type = 0;
    friend bool operator==(const ColumnWidths&, const ColumnWidths&) = default;
};

/// `wanted`: to show everything. A value gets what it needs, but not beyond `longestNumber`, before the type
/// gets any and before the name gets a third; a type gets at most a third; what is left over is the value's.
[[nodiscard]] ColumnWidths shareWidth(int width, const ColumnWidths& wanted, int longestNumber,
                                      int narrowestType);

/// Shares the width of a tree's first three columns whenever it or what is in them changes, until the user
/// draws a border elsewhere; a double click on a border goes back. There is never a horizontal scroll bar.
class ColumnShare : public QObject {
    Q_OBJECT
  public:
    /// The view has its model already.
    explicit ColumnShare(QTreeView* view);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void apply();

    QTreeView* m_view;
    QTimer m_due; ///< many rows change at once
    bool m_applying = false;
    bool m_manual = false;
};

} // namespace stopline::app
