// The frames of one rank as a table.
#pragma once

#include "../gdbmi/gdb_session.h"

#include <QAbstractTableModel>
#include <QVector>

namespace stopline::app {

/// Frames of MPI and of the debugger are left out unless showInternal(); the rows say how many were.
class StackModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Level, Function, Location, ColumnCount };
    using QAbstractTableModel::QAbstractTableModel;

    /// `selected` is a level, or -1. `stale`: of an earlier stop, drawn grey.
    void setFrames(const QVector<mi::Frame>& frames, int selected, bool stale);
    void setSelected(int level);
    void setShowInternal(bool show);
    [[nodiscard]] bool showInternal() const { return m_showInternal; }
    /// Level of the frame in a row; -1 for the row that stands for left-out frames.
    [[nodiscard]] int levelAt(int row) const;
    [[nodiscard]] int rowOf(int level) const; ///< -1 when left out

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    struct Row {
        int frame = -1; ///< position in m_frames; -1: a run of left-out frames
        int hidden = 0;
        QString innermost; ///< of the left-out ones: the MPI call, usually
    };
    void rebuild();

    QVector<mi::Frame> m_frames;
    QVector<Row> m_rows;
    int m_selected = -1;
    bool m_stale = false;
    bool m_showInternal = false;
};

} // namespace stopline::app
