#include "search.h"

#include "call_text.h"
#include "diagram_model.h"

#include <QStringList>

#include <array>

using namespace Qt::StringLiterals;

namespace stopline::viewer {

using replay::CallIndex;
using replay::CallRef;

namespace {

/// "4096", "4k", "1.5m"; nothing if it is no size.
std::optional<std::int64_t> sizeOf(QString text) {
    double factor = 1;
    if (text.endsWith(u'b')) {
        text.chop(1);
    }
    if (text.endsWith(u'k')) {
        factor = 1024;
    } else if (text.endsWith(u'm')) {
        factor = 1024.0 * 1024.0;
    }
    if (factor > 1) {
        text.chop(1);
    }
    bool ok = false;
    const double value = text.toDouble(&ok);
    if (!ok) {
        return std::nullopt;
    }
    return std::int64_t(value * factor);
}

} // namespace

SearchQuery::SearchQuery(const QString& text) {
    const QStringList words = text.toLower().split(u' ', Qt::SkipEmptyParts);
    for (qsizetype i = 0; i < words.size(); ++i) {
        // "tag 5" is "tag=5".
        if (i + 1 < words.size()) {
            const Word both = parse(words[i] + u'=' + words[i + 1]);
            if (both.kind != Kind::Function) {
                m_words.push_back(both);
                ++i;
                continue;
            }
        }
        m_words.push_back(parse(words[i]));
    }
}

SearchQuery::Word SearchQuery::parse(const QString& word) {
    struct Plain {
        const char16_t* text;
        Kind kind;
    };
    static constexpr std::array<Plain, 8> kPlain{{{u"unmatched", Kind::Unmatched},
                                                  {u"pending", Kind::Unmatched},
                                                  {u"wildcard", Kind::Wildcard},
                                                  {u"race", Kind::Race},
                                                  {u"races", Kind::Race},
                                                  {u"error", Kind::Error},
                                                  {u"unfinished", Kind::Unfinished},
                                                  {u"poll", Kind::Poll}}};
    for (const Plain& plain : kPlain) {
        if (word == QStringView(plain.text)) {
            return {plain.kind, Compare::Equal, 0, {}};
        }
    }
    static constexpr std::array<Plain, 7> kValued{{{u"tag", Kind::Tag},
                                                   {u"peer", Kind::Peer},
                                                   {u"to", Kind::To},
                                                   {u"from", Kind::From},
                                                   {u"rank", Kind::Rank},
                                                   {u"comm", Kind::Comm},
                                                   {u"size", Kind::Size}}};
    for (const Plain& valued : kValued) {
        const QStringView name(valued.text);
        if (word.size() <= name.size() + 1 || !word.startsWith(name)) {
            continue;
        }
        const QChar sign = word[name.size()];
        if (sign != u'=' && sign != u':' && sign != u'<' && sign != u'>') {
            continue;
        }
        const QString value = word.mid(name.size() + 1);
        const Compare compare = sign == u'<'   ? Compare::Less
                                : sign == u'>' ? Compare::Greater
                                               : Compare::Equal;
        if (valued.kind == Kind::Comm && (value == "world"_L1 || value == "self"_L1)) {
            return {valued.kind, compare, value == "world"_L1 ? 0 : 1, {}};
        }
        if (const auto number = sizeOf(value)) {
            return {valued.kind, compare, *number, {}};
        }
    }
    return {Kind::Function, Compare::Equal, 0, word};
}

bool SearchQuery::holds(const Word& word, const replay::Timeline& timeline, CallRef ref,
                        const RaceIndex* races) {
    const replay::Call& call = timeline.call(ref);
    const trace::EventDetails& begin = timeline.details(ref.rank, call.beginDetails);
    const auto compare = [&word](std::int64_t value) {
        return word.compare == Compare::Less      ? value < word.number
               : word.compare == Compare::Greater ? value > word.number
                                                  : value == word.number;
    };
    const auto peer = [&](std::int32_t p) {
        return p >= 0 && compare(worldRank(timeline, ref.rank, begin.comm, p));
    };
    const auto anyMessage = [&](auto&& predicate) {
        for (const replay::MessageIndex index : timeline.messagesOf(ref)) {
            if (predicate(timeline.messages()[index.value()])) {
                return true;
            }
        }
        return false;
    };
    switch (word.kind) {
    case Kind::Function:
        return functionText(timeline, ref).contains(word.text, Qt::CaseInsensitive);
    case Kind::Tag:
        return (begin.sendTag >= 0 && compare(begin.sendTag)) ||
               (begin.recvTag >= 0 && compare(begin.recvTag));
    case Kind::Peer:
        return peer(begin.sendPeer) || peer(begin.recvPeer);
    case Kind::To:
        return peer(begin.sendPeer);
    case Kind::From:
        return peer(begin.recvPeer) || anyMessage([&](const replay::Message& m) {
                   return m.post == ref && m.sender.value() >= 0 && compare(m.sender.value());
               });
    case Kind::Rank:
        return compare(ref.rank.value());
    case Kind::Comm:
        return begin.comm != kNoComm && compare(std::int64_t(begin.comm.value()));
    case Kind::Size:
        return (begin.sendPeer != kNoPeer && compare(std::int64_t(begin.sendBytes))) ||
               anyMessage([&](const replay::Message& m) { return m.send && compare(std::int64_t(m.bytes)); });
    case Kind::Unmatched:
        return anyMessage([](const replay::Message& m) {
            return m.state != replay::MessageState::Matched && m.state != replay::MessageState::Cancelled &&
                   m.state != replay::MessageState::Early;
        });
    case Kind::Wildcard:
        return begin.recvPeer == kAnySource || begin.recvTag == kAnyTag;
    case Kind::Race:
        return races != nullptr && races->races(ref);
    case Kind::Error:
        return call.end != EventIndex{0} && timeline.details(ref.rank, call.endDetails).error != trace::ErrorClass::Success;
    case Kind::Unfinished:
        return call.end == EventIndex{0};
    case Kind::Poll:
        return trace::isPoll(trace::functionClass(begin.function));
    }
    return false;
}

bool SearchQuery::matches(const replay::Timeline& timeline, CallRef call,
                          const RaceIndex* races) const {
    for (const Word& word : m_words) {
        if (!holds(word, timeline, call, races)) {
            return false;
        }
    }
    return !m_words.empty();
}

std::optional<CallRef> SearchQuery::next(const DiagramModel& model, std::optional<CallRef> from,
                                         bool forward) const {
    if (model.timeline() == nullptr || m_words.empty()) {
        return std::nullopt;
    }
    struct Key {
        std::int64_t time;
        int rank;
        std::size_t call;
        auto operator<=>(const Key&) const = default;
    };
    const auto keyOf = [&](int rank, std::size_t call) {
        return Key{model.calls(rank)[call].timeBegin, rank, call};
    };
    std::optional<Key> start;
    if (from && from->rank.value() < model.ranks() &&
        from->call.value() < model.calls(from->rank.value()).size()) {
        start = keyOf(from->rank.value(), from->call.value());
    }
    // Two passes: what lies beyond the start, then all.
    for (const bool beyond : {true, false}) {
        if (beyond && !start) {
            continue;
        }
        std::optional<Key> best;
        for (int rank = 0; rank < model.ranks(); ++rank) {
            const std::size_t count = model.calls(rank).size();
            std::size_t at = 0;
            if (forward) {
                at = beyond ? model.lowerCall(rank, start->time, Axis::Time) : 0;
            } else {
                at = beyond ? model.lowerCall(rank, start->time + 1, Axis::Time) : count;
            }
            while (forward ? at < count : at > 0) {
                const std::size_t call = forward ? at++ : --at;
                const Key key = keyOf(rank, call);
                if (best && (forward ? key > *best : key < *best)) {
                    break;
                }
                if ((beyond && (forward ? key <= *start : key >= *start)) ||
                    !matches(*model.timeline(), {RankId{rank}, CallIndex{std::uint32_t(call)}}, &model.races())) {
                    continue;
                }
                best = key;
                break;
            }
        }
        if (best) {
            return CallRef{RankId{best->rank}, CallIndex{std::uint32_t(best->call)}};
        }
    }
    return std::nullopt;
}

} // namespace stopline::viewer
