// What going back and forth has done, in a sentence for the status bar and the log.
#pragma once

#include "../replay/session.h"

#include <QObject>

namespace stopline::app {

/// "Rolled back: rank 0 is before 7 MPI_Send; ranks 1-3 stayed". Told of a command when it is given, it
/// compares where the ranks stood then with where they stand when the session says that the operation has
/// finished.
class JourneyWords : public QObject {
    Q_OBJECT
  public:
    /// Does not own the session, which must outlive it.
    explicit JourneyWords(replay::Session* session, QObject* parent = nullptr);
    void begin(replay::Verb verb);
    /// The sentence; of other commands than those that go back and forth: empty.
    [[nodiscard]] QString end();

  private:
    struct Stand {
        replay::RankPhase phase = replay::RankPhase::NotStarted;
        replay::Place place;
        QString file;
        int line = 0;
    };
    [[nodiscard]] QVector<Stand> stands() const;
    [[nodiscard]] int shownExecution() const;
    [[nodiscard]] QString where(int rank, const Stand& before) const;

    replay::Session* m_session;
    std::optional<replay::Verb> m_verb; ///< given and not yet finished
    QString m_command;                  ///< what is undone or done again
    int m_execution = 0; ///< on show then
    QVector<Stand> m_before;
    bool m_begun = false; ///< the operation has been seen under way
};

} // namespace stopline::app
