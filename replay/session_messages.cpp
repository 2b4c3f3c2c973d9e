// Messages as they are where the ranks stand now.
#include "session_impl.h"
#include "wait_circles.h"
#include "wait_mismatches.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace stopline::replay {

namespace {

/// Of each rank, the last event that it has made in this execution.
class MadeEvents {
  public:
    MadeEvents(const Session& session, const Timeline& timeline) : m_timeline(timeline) {
        for (std::int32_t i = 0; i < timeline.rankCount(); ++i) {
            m_last.push_back(session.jobExists() ? lastOf(session.rank(RankId(i))) : kAll);
            m_allMade = m_allMade && m_last.back() >= timeline.lastEvent(RankId(i)).value();
        }
    }
    [[nodiscard]] bool allMade() const { return m_allMade; }
    [[nodiscard]] bool begun(const MaybeCall& call) const {
        return call && m_timeline.call(*call).begin.value() <= m_last[std::size_t(call->rank.value())];
    }
    [[nodiscard]] bool ended(const MaybeCall& call) const {
        const std::uint64_t end = call ? m_timeline.call(*call).end.value() : 0;
        return end != 0 && end <= m_last[std::size_t(call->rank.value())];
    }

  private:
    static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

    std::uint64_t lastOf(const RankView& view) const {
        const std::uint64_t event = view.place.event.value();
        const bool stands = view.phase == RankPhase::Stopped || view.phase == RankPhase::Holding;
        // One that stands before a call has recorded its begin without having made it.
        return stands && !view.place.inside && event > 0 && m_timeline.isBegin(view.rank, view.place.event) ? event - 1 : event;
    }

    const Timeline& m_timeline;
    std::vector<std::uint64_t> m_last;
    bool m_allMade = true;
};

bool isOpen(const Message& message) {
    return message.state != MessageState::Matched && message.state != MessageState::Cancelled &&
           message.state != MessageState::Early;
}

} // namespace

std::vector<Session::OpenMessage> Session::openMessages() const {
    const Timeline& timeline = m_impl->recording->timeline();
    const MadeEvents made(*this, timeline);
    std::vector<OpenMessage> open;
    const auto look = [&](const Message& message) {
        const bool sent = made.begun(message.send);
        const bool posted = made.begun(message.post);
        if (!sent && !posted) {
            if (isOpen(message)) {
                open.push_back({message, false});
            }
            return;
        }
        // Of what lost recordings lack it is known that it has come.
        if (made.ended(message.done) && (sent || timeline.halfLostBy(message) == std::nullopt)) {
            return;
        }
        OpenMessage one{message, true};
        if (!sent) {
            one.message.send = {};
        }
        if (!posted) {
            one.message.post = {};
        }
        if (!made.ended(message.done)) {
            one.message.done = {};
        }
        one.message.state = sent && posted ? MessageState::Posted : sent ? MessageState::Unreceived : MessageState::Unsent;
        if (posted && !sent) {
            one.held = m_impl->heldText(message.post->rank, timeline.call(*message.post).begin);
        }
        if (sent != posted) {
            one.gone = m_impl->goneText(sent ? message.receiver : message.sender);
        }
        open.push_back(one);
    };
    const auto messages = timeline.messages();
    if (made.allMade()) {
        for (const MessageIndex index : timeline.openMessages()) {
            look(messages[index.value()]);
        }
    } else {
        for (const Message& message : messages) {
            if (message.state != MessageState::Cancelled && message.state != MessageState::Early) {
                look(message);
            }
        }
    }
    const auto order = [&timeline](const OpenMessage& one) {
        const int kind = one.message.state == MessageState::Unsent ? 0 : one.message.state == MessageState::Unreceived ? 1 : 2;
        const MaybeCall call = one.message.send ? one.message.send : one.message.post;
        return std::tuple(!one.made, kind, call ? call->rank.value() : -1, call ? timeline.call(*call).begin.value() : 0);
    };
    std::sort(open.begin(), open.end(), [&order](const OpenMessage& a, const OpenMessage& b) { return order(a) < order(b); });
    return open;
}

QStringList Session::deadlocks() const {
    const Timeline& timeline = m_impl->recording->timeline();
    QStringList texts;
    if (!MadeEvents(*this, timeline).allMade()) {
        return texts; // what is recorded behind the ranks has not happened yet
    }
    const auto where = [this](CallRef call) {
        const SourceLocation line = sourceOf(call);
        return line.known() ? QStringLiteral("%1:%2").arg(line.file.section(u'/', -1)).arg(line.line).toStdString() : std::string();
    };
    for (const WaitMismatch& mismatch : waitMismatches(timeline)) {
        texts << QString::fromStdString(mismatchText(timeline, mismatch, where));
    }
    for (const WaitCircle& circle : timeline.waitCircles()) {
        texts << QString::fromStdString(circleText(timeline, circle, where));
    }
    return texts;
}

} // namespace stopline::replay
