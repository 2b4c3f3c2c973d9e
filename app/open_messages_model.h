// Messages that have been sent and not received, or waited for and not sent.
#pragma once

#include "../replay/session.h"

#include <QAbstractTableModel>
#include <QTimer>

namespace stopline::app {

class OpenMessagesModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { From, To, Tag, Size, State, Where, ColumnCount };
    static constexpr int kMostRows = 10'000;
    static constexpr int kSortRole = Qt::UserRole; ///< numbers as numbers
    explicit OpenMessagesModel(replay::Session* session, QObject* parent = nullptr);

    /// The call to show for a row: the send if there is one, else the receive.
    [[nodiscard]] std::optional<replay::CallRef> callAt(int row) const;
    void reload();

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    replay::Session* m_session;
    QVector<replay::Session::OpenMessage> m_rows;
    QTimer m_ended; ///< some ranks have
};

} // namespace stopline::app
