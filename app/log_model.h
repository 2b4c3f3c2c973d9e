// Messages of the debugger itself, newest last.
#pragma once

#include "../replay/session.h"

#include <QAbstractTableModel>
#include <QTime>

namespace stopline::app {

class LogModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { When, Text, Remedy, ColumnCount };
    static constexpr int kMostRows = 5000; ///< the oldest go first
    using QAbstractTableModel::QAbstractTableModel;

    void add(replay::Severity severity, const QString& text, const QString& remedy);
    [[nodiscard]] int problems() const; ///< warnings and errors

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    struct Row {
        QTime when;
        replay::Severity severity;
        QString text, remedy;
    };
    QVector<Row> m_rows;
};

} // namespace stopline::app
