// The breakpoints of a session as a table.
#pragma once

#include "../replay/session.h"

#include <QAbstractTableModel>

namespace stopline::app {

/// Enabled or not is the check box of the first column. Edits go straight to the session.
class BreakpointsModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Location, Condition, Ranks, Hits, ColumnCount };
    explicit BreakpointsModel(replay::Session* session, QObject* parent = nullptr);

    [[nodiscard]] const replay::UserBreakpoint* at(int row) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

  private:
    void reload();

    replay::Session* m_session;
    QVector<replay::UserBreakpoint> m_rows;
};

} // namespace stopline::app
