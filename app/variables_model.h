// Arguments and local variables of the selected frame, and watched expressions, with what is in them.
#pragma once

#include "../gdbmi/gdb_session.h"
#include "variable_node.h"

#include <QAbstractItemModel>
#include <QHash>
#include <QStringList>

namespace stopline::app {

/// Top rows: watched expressions first, then arguments, then locals, then one empty row to type a new expression
/// into. Structures, arrays and pointers have their parts below them: asked for when somebody opens the row, at most
/// kPartsAtOnce at a time. Rows of a scope stay what they are from stop to stop, and so do views' expansions.
class VariablesModel : public QAbstractItemModel {
    Q_OBJECT
  public:
    enum Column { Name, Value, Type, ColumnCount };
    static constexpr int kPartsAtOnce = 200;
    explicit VariablesModel(QObject* parent = nullptr);

    /// `scope` identifies frame and rank: values that differ from the last ones of the same scope are marked.
    /// `process`: kept values of another one are gone with it, and are asked for again.
    void setVariables(const QString& scope, const QVector<mi::Variable>& variables, qint64 process = 0);
    void clearVariables();
    /// A last row that says why there is nothing to see, or not yet; empty: none. Variables take its place.
    void setNote(const QString& note);
    void setStale(bool stale);
    void setWatches(const QStringList& expressions);
    [[nodiscard]] QStringList watches() const;
    void setWatchValue(const QString& expression, const QString& value, bool error);
    void clearWatchValues();
    void removeWatch(const QModelIndex& index);
    [[nodiscard]] bool isWatch(const QModelIndex& index) const;
    [[nodiscard]] bool isMore(const QModelIndex& index) const;
    [[nodiscard]] bool isAdd(const QModelIndex& index) const; ///< the empty row for a new expression
    void fetchRest(const QModelIndex& more); ///< the next kPartsAtOnce of what stands above this "more…"
    /// "grid/(:,2)", the same in every stop.
    [[nodiscard]] QString path(const QModelIndex& index) const;

    // Answers to the signals below; those to rows that are gone are dropped.
    void valueOpened(quint64 row, const mi::ValueTree& value);
    void partsListed(quint64 row, int from, const QVector<mi::ValueTree>& parts);
    void partsFailed(quint64 row, const QString& why); ///< empty: not the time for it; asked again at the next stop
    void applyChanges(const QVector<mi::ValueChange>& changes);

    [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    [[nodiscard]] QModelIndex parent(const QModelIndex& index) const override;
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] bool hasChildren(const QModelIndex& parent = {}) const override;
    [[nodiscard]] bool canFetchMore(const QModelIndex& parent) const override;
    void fetchMore(const QModelIndex& parent) override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

  signals:
    void watchesEdited();
    void openWanted(quint64 row, const QString& expression);
    void partsWanted(quint64 row, const QString& handle, int from, int to);
    void openableChanged(); ///< a row that is there can be opened now, or cannot any more
    void valueDropped(const QString& handle); ///< nobody looks at it any more

  private:
    using Node = VariableNode;
    [[nodiscard]] Node* nodeOf(const QModelIndex& index) const;
    [[nodiscard]] QModelIndex indexOf(const Node* node, int column = Name) const;
    std::unique_ptr<Node> make(Node::Kind kind, const QString& name) const;
    Node* byId(quint64 id) const;
    [[nodiscard]] int watchCount() const { return m_watchCount; }
    [[nodiscard]] int variableCount() const;
    void insertTop(int row, std::unique_ptr<Node> node);
    void removeTop(int row);
    void reset(const QVector<mi::Variable>& variables);
    void matchRows(const QVector<mi::Variable>& variables);
    void setValue(Node& node, const QString& value);
    void changedRow(Node* node);
    void request(Node& node);
    void dropParts(Node& node, bool close);
    void clearMarks(Node& node);
    void refetch(Node& node);

    std::unique_ptr<Node> m_root;
    mutable quint64 m_nextId = 1;
    int m_watchCount = 0;
    QString m_scope;
    QHash<QString, QString> m_last; ///< values of m_scope by name, also while no rows are shown
    qint64 m_process = 0;
    bool m_stale = false;
    bool m_noted = false; ///< the row of setNote() is there, before the empty one
};

} // namespace stopline::app
