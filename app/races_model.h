// Receives and probes that raced, by the line of the source that makes them.
#pragma once

#include "../replay/session.h"

#include <QAbstractItemModel>

namespace stopline::app {

/// Three levels: lines of the source, their races, the messages that a race could have had instead (found out when they
/// are asked for).
class RacesModel : public QAbstractItemModel {
    Q_OBJECT
  public:
    enum Column { Where, Got, Others, ColumnCount };
    static constexpr std::size_t kMostRaces = 10'000; ///< the earliest of each rank's are shown; the rest is counted
    explicit RacesModel(replay::Session* session, QObject* parent = nullptr);

    /// The call to show: of a race its receive or probe, of an alternative its send; of a line its first race's.
    [[nodiscard]] std::optional<replay::CallRef> callAt(const QModelIndex& index) const;
    struct Chosen {
        replay::CallRef race;
        replay::CallRef send;
        replay::MaybeCall insteadOf; ///< the send of what the race got
    };
    /// Of an alternative: what takeInstead() needs.
    [[nodiscard]] std::optional<Chosen> chosenAt(const QModelIndex& index) const;
    /// Where the races of this call stand.
    [[nodiscard]] QModelIndex find(replay::CallRef call) const;
    /// By which a line or a race is known after a reload.
    [[nodiscard]] QString keyOf(const QModelIndex& index) const;
    [[nodiscard]] std::size_t count() const { return m_count; } ///< of all races
    void reload();

    [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    [[nodiscard]] QModelIndex parent(const QModelIndex& index) const override;
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] bool hasChildren(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    struct RaceRow {
        replay::Race race;
        mutable std::optional<std::vector<replay::Alternative>> alternatives; ///< once they have been asked for
    };
    struct LineRow {
        QString place; ///< "tasks.c:41"
        QString function;
        std::vector<RaceRow> races;
        std::uint32_t most = 0; ///< alternatives of one race
    };
    [[nodiscard]] const std::vector<replay::Alternative>& alternatives(const RaceRow& row) const;
    [[nodiscard]] QString lineText(const LineRow& line, int column) const;
    [[nodiscard]] QString raceText(const RaceRow& row, int column) const;
    [[nodiscard]] QString alternativeText(const replay::Alternative& one, int column) const;

    replay::Session* m_session;
    std::vector<LineRow> m_lines;
    std::vector<replay::Race> m_shown;
    std::size_t m_count = 0;
};

} // namespace stopline::app
