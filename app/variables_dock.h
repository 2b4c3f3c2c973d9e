// Variables of the selected frame of the shown rank, with expressions evaluated in place.
#pragma once

#ifndef Q_MOC_RUN // moc stumbles over what <compare> includes, and needs none of it
#include "../tracelib/types.h"
#endif

#include <QDockWidget>
#include <QHash>
#include <QSet>
#include <QTimer>

class QModelIndex;
class QTreeView;

namespace stopline::app {

class Look;
class NoteView;
class VariablesModel;

/// Watched expressions are those of the program and remembered in the settings with it. What has been opened in a function is opened again whenever
/// that function is looked at, on any rank.
class VariablesDock : public QDockWidget {
    Q_OBJECT
  public:
    VariablesDock(Look* look, QWidget* parent = nullptr);
    /// The file that is run, whose watched expressions are shown from now on; empty: none is, and none are kept.
    void setProgram(const QString& path);
    [[nodiscard]] VariablesModel* model() const { return m_model; }
    [[nodiscard]] QTreeView* view() const;

  private:
    void reload();
    void clearValues();
    void await();
    void answered(const QString& note = {});
    void evaluateWatches();
    void update(RankId rank);
    void open(quint64 row, const QString& expression);
    void list(quint64 row, const QString& handle, int from, int to);
    void reopen(const QModelIndex& parent, int first, int last);
    void followChoice(const QModelIndex& index);

    Look* m_look;
    VariablesModel* m_model;
    NoteView* m_view;
    QString m_program;
    QTimer m_patience;                         ///< runs while values are awaited; then the panel says so
    QString m_scope;                           ///< rank and frame whose values are on show; empty: none are
    RankId m_rank{-1};                         ///< whose values the model holds
    QString m_function;                        ///< what m_opened is about at the moment
    QHash<QString, QSet<QString>> m_opened;    ///< paths of opened rows by function
    quint64 m_request = 0;                     ///< answers to an earlier one are dropped
};

} // namespace stopline::app
