// Arguments and local variables of the selected frame, and watched expressions.
#pragma once

#include "../gdbmi/gdb_session.h"

#include <QAbstractTableModel>
#include <QHash>
#include <QSet>
#include <QStringList>

namespace stopline::app {

/// Rows: watched expressions first, then arguments, then locals, then one empty row to type a new expression
/// into.
class VariablesModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Name, Value, Type, ColumnCount };
    using QAbstractTableModel::QAbstractTableModel;

    /// `scope` identifies frame and rank: values that differ from the last ones of the same scope are marked.
    void setVariables(const QString& scope, const QVector<mi::Variable>& variables);
    void clearVariables();
    void setStale(bool stale);
    void setWatches(const QStringList& expressions);
    [[nodiscard]] QStringList watches() const { return m_watches; }
    void setWatchValue(const QString& expression, const QString& value, bool error);
    void clearWatchValues();
    void removeWatch(int row);
    [[nodiscard]] bool isWatch(int row) const { return row >= 0 && row < m_watches.size(); }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

  signals:
    void watchesEdited();

  private:
    struct WatchValue {
        QString value;
        bool error = false;
        bool changed = false;
    };
    [[nodiscard]] int variableRow(int row) const { return row - static_cast<int>(m_watches.size()); }

    QStringList m_watches;
    QHash<QString, WatchValue> m_watchValues;
    QVector<mi::Variable> m_variables;
    QSet<QString> m_changed;
    QHash<QString, QString> m_last; ///< values by name, of m_scope
    QString m_scope;
    bool m_stale = false;
};

} // namespace stopline::app
