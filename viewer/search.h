// The search bar's queries: words that a call must satisfy, all of them.
#pragma once

#include "../replay/timeline.h"

#include <QString>

#include <optional>
#include <vector>

namespace stopline::viewer {

class DiagramModel;
class RaceIndex;

/// Words: part of a function's name; tag=5; peer=3, to=3, from=3; rank=2; comm=1 or comm=world; size=4096,
/// size>4k, size<1m; site=0x…; unmatched, pending, wildcard, race, error, unfinished, poll. Case does not
/// matter.
class SearchQuery {
  public:
    /// Never fails: a word that is no known condition is part of a function's name.
    explicit SearchQuery(const QString& text);
    [[nodiscard]] bool empty() const { return m_words.empty(); }
    /// Without `races` none is known.
    [[nodiscard]] bool matches(const replay::Timeline& timeline, replay::CallRef call,
                               const RaceIndex* races = nullptr) const;
    /// The next match after (or before) `from` in the order of begin times over all ranks; wraps around.
    /// Without `from`: the first (or last).
    [[nodiscard]] std::optional<replay::CallRef>
    next(const DiagramModel& model, std::optional<replay::CallRef> from, bool forward) const;

  private:
    enum class Kind {
        Function,
        Tag,
        Peer,
        To,
        From,
        Rank,
        Comm,
        Size,
        Unmatched,
        Wildcard,
        Race,
        Error,
        Unfinished,
        Poll
    };
    enum class Compare { Equal, Less, Greater };
    struct Word {
        Kind kind = Kind::Function;
        Compare compare = Compare::Equal;
        std::int64_t number = 0;
        QString text;
    };
    [[nodiscard]] static Word parse(const QString& word);
    [[nodiscard]] static bool holds(const Word& word, const replay::Timeline& timeline, replay::CallRef call,
                                    const RaceIndex* races);
    std::vector<Word> m_words;
};

} // namespace stopline::viewer
