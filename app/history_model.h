// The commands that can be undone, and what redo would do.
#pragma once

#include "../replay/session.h"

#include <QAbstractTableModel>

namespace stopline::app {

class HistoryModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Number, Command, Places, Note, ColumnCount };
    explicit HistoryModel(replay::Session* session, QObject* parent = nullptr);

    /// Where undo up to and with this command would lead; nullopt for the redo row and outside the table.
    [[nodiscard]] std::optional<replay::Cut> before(int row) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    void reload();

    replay::Session* m_session;
    QVector<replay::HistoryEntry> m_rows;
    std::optional<replay::HistoryEntry> m_redo;
};

} // namespace stopline::app
