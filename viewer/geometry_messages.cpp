// Messages: single lines below the cap, ribbons above it, and always what is pending or unmatched.
#include "geometry_builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace stopline::viewer {

using replay::MessageState;

bool clipLine(QPointF& a, QPointF& b, double x0, double y0, double x1, double y1) {
    const double dx = b.x() - a.x();
    const double dy = b.y() - a.y();
    double enter = 0;
    double leave = 1;
    const std::array<double, 4> p{-dx, dx, -dy, dy};
    const std::array<double, 4> q{a.x() - x0, x1 - a.x(), a.y() - y0, y1 - a.y()};
    for (std::size_t i = 0; i < p.size(); ++i) {
        if (p[i] == 0) {
            if (q[i] < 0) {
                return false;
            }
            continue;
        }
        const double t = q[i] / p[i];
        if (p[i] < 0) {
            enter = std::max(enter, t);
        } else {
            leave = std::min(leave, t);
        }
    }
    if (enter > leave) {
        return false;
    }
    const QPointF from = a;
    a = {from.x() + enter * dx, from.y() + enter * dy};
    b = {from.x() + leave * dx, from.y() + leave * dy};
    return true;
}

namespace {

constexpr double kMargin =
    40; ///< pixels around the view up to which lines are kept, so that caps do not show

bool clipToView(MessageLine& line, const Scene& scene) {
    return clipLine(line.from, line.to, -kMargin, -kMargin, scene.view.width + kMargin,
                    scene.layout.viewportHeight + kMargin);
}

} // namespace

std::optional<MessageLine> GeometryBuilder::lineOf(std::uint32_t index) const {
    const TrackMessage& m = m_model.messages()[index];
    const Axis axis = m_scene.axis;
    MessageLine line;
    line.message = index;
    line.self = m.sender == m.receiver;
    const bool down = m.receiver > m.sender;
    line.from = {px(m.from(axis)), barEdge(m.sender, down || line.self)};
    line.to = {px(m.to(axis)), barEdge(m.receiver, !down)};
    line.shape = axis == Axis::Time && m.backwards() ? MessageShape::Backwards : MessageShape::Matched;
    if (axis == Axis::Time && line.shape == MessageShape::Matched && line.to.x() < line.from.x()) {
        // Received first, but by no more than the recorded times may be off: both ends meet in the middle,
        // which moves neither by more than that.
        const double middle = (line.from.x() + line.to.x()) / 2;
        line.from.setX(middle);
        line.to.setX(middle);
    }
    if (beyondPlace(m.sender, m.eventFrom)) {
        line.dim = Dim::All;
    } else if (beyondPlace(m.receiver, m.eventTo)) {
        line.dim = Dim::SecondHalf;
    }
    const double dx = std::abs(line.to.x() - line.from.x());
    const double dy = std::abs(line.to.y() - line.from.y());
    line.head = !line.self && (dx > 15 || dy > 10);
    if (line.dim == Dim::SecondHalf || line.self) {
        // The middle must stay where it is: such lines are few, and Qt clips them.
        const double w = m_scene.view.width;
        const double low = std::min(line.from.x(), line.to.x());
        const double high = std::max(line.from.x(), line.to.x());
        if (high < -kMargin || low > w + kMargin) {
            return std::nullopt;
        }
        if (high - low < 20 * w) {
            return line;
        }
    }
    if (!clipToView(line, m_scene)) {
        return std::nullopt;
    }
    return line;
}

void GeometryBuilder::addWait(const TrackMessage& m) {
    if (m_scene.axis != Axis::Time || m.postCall != m.doneCall || !m.hasPost || !visible(m.receiver)) {
        return;
    }
    const TrackCall& receive = m_model.calls(m.receiver)[m.postCall];
    const int x0 = column(receive.timeBegin);
    const int x1 = column(std::min(m.timeFrom, receive.timeEnd));
    if (x1 - x0 >= 4) {
        m_out.waits.push_back({x0, x1, int(barEdge(m.receiver, false)), int(barEdge(m.receiver, true)),
                               beyondPlace(m.receiver, receive.eventBegin)});
    }
}

/// Calls visit(index) for each matched message that crosses the view, until it says false.
template <class Visit>
void GeometryBuilder::visitCrossing(const Visit& visit) const {
    const auto messages = m_model.messages();
    const auto blocks = m_model.messageBlocks();
    const bool time = m_scene.axis == Axis::Time;
    const std::int64_t viewBegin = m_scene.view.begin;
    const std::int64_t viewEnd = m_scene.view.end;
    const int firstRow = m_scene.layout.firstVisible();
    const int endRow = m_scene.layout.endVisible();
    const bool allRows = firstRow == 0 && endRow >= m_model.ranks();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const std::int64_t low = time ? blocks[b].timeLow : blocks[b].eventLow;
        const std::int64_t high = time ? blocks[b].timeHigh : blocks[b].eventHigh;
        if (high < viewBegin || low > viewEnd) {
            continue;
        }
        const bool inside = allRows && low >= viewBegin && high <= viewEnd;
        const std::size_t last = std::min(messages.size(), (b + 1) * DiagramModel::kMessageBlock);
        for (std::size_t i = b * DiagramModel::kMessageBlock; i < last; ++i) {
            const TrackMessage& m = messages[i];
            if (!m.matched()) {
                continue;
            }
            if (!inside) {
                const std::int64_t from = m.from(m_scene.axis);
                const std::int64_t to = m.to(m_scene.axis);
                if (std::max(from, to) < viewBegin || std::min(from, to) > viewEnd ||
                    std::max(m.sender, m.receiver) < firstRow || std::min(m.sender, m.receiver) >= endRow) {
                    continue;
                }
            }
            if (!visit(std::uint32_t(i))) {
                return;
            }
        }
    }
}

void GeometryBuilder::buildMessages() {
    const auto messages = m_model.messages();
    std::vector<std::uint32_t> crossing;
    visitCrossing([&](std::uint32_t index) {
        crossing.push_back(index);
        return crossing.size() <= kMessageCap;
    });
    if (crossing.size() > kMessageCap) {
        buildRibbons();
        return;
    }
    m_out.messagesInView = crossing.size();
    for (const std::uint32_t index : crossing) {
        if (auto line = lineOf(index)) {
            line->head = line->head && crossing.size() <= kHeadCap;
            m_out.messages.push_back(*line);
            addWait(messages[index]);
        }
    }
    m_out.messagesShown = m_out.messages.size();
}

namespace {

/// Messages from one group of ranks to another, by slot of time.
struct RibbonSums {
    struct Sum {
        std::uint32_t count = 0;
        double from = 0;
        double to = 0;
    };
    int groups = 0;
    int slotCount = 0;
    std::vector<Sum> sums;

    RibbonSums(int groupNumber, int slotNumber)
        : groups(groupNumber), slotCount(slotNumber),
          sums(std::size_t(groupNumber) * std::size_t(groupNumber) * std::size_t(slotNumber)) {}
    [[nodiscard]] Sum& at(int sender, int receiver, int slot) {
        return sums[(std::size_t(sender) * std::size_t(groups) + std::size_t(receiver)) *
                        std::size_t(slotCount) +
                    std::size_t(slot)];
    }
    /// Those that can be seen: within one group of rows nothing can.
    [[nodiscard]] std::size_t visible() {
        std::size_t count = 0;
        for (int s = 0; s < groups; ++s) {
            for (int r = 0; r < groups; ++r) {
                for (int slot = 0; s != r && slot < slotCount; ++slot) {
                    count += at(s, r, slot).count > 0 ? 1 : 0;
                }
            }
        }
        return count;
    }
    /// The same with two groups made one.
    [[nodiscard]] RibbonSums halved() {
        RibbonSums other((groups + 1) / 2, slotCount);
        for (int s = 0; s < groups; ++s) {
            for (int r = 0; r < groups; ++r) {
                for (int slot = 0; slot < slotCount; ++slot) {
                    const Sum& from = at(s, r, slot);
                    Sum& to = other.at(s / 2, r / 2, slot);
                    to.count += from.count;
                    to.from += from.from;
                    to.to += from.to;
                }
            }
        }
        return other;
    }
};

} // namespace

void GeometryBuilder::buildRibbons() {
    constexpr int kSlot = 32;       // pixels
    constexpr int kMostGroups = 24; // a ribbon for each pair: more would be as dense as the lines
    constexpr int kLeastGroups = 4;
    const int ranks = m_model.ranks();
    int perGroup = std::max(1, (ranks + kMostGroups - 1) / kMostGroups);
    RibbonSums sums((ranks + perGroup - 1) / perGroup, m_scene.view.width / kSlot + 2);
    std::vector<int> groupOf(std::size_t(ranks), 0);
    for (int rank = 0; rank < ranks; ++rank) {
        groupOf[std::size_t(rank)] = rank / perGroup;
    }
    const std::int64_t begin = m_scene.view.begin;
    visitCrossing([&](std::uint32_t index) {
        const TrackMessage& m = m_model.messages()[index];
        const double from = double(m.from(m_scene.axis) - begin) * m_scale;
        const double to = double(m.to(m_scene.axis) - begin) * m_scale;
        const int slot = std::clamp(int((from + to) / (2 * kSlot)), 0, sums.slotCount - 1);
        RibbonSums::Sum& sum =
            sums.at(groupOf[std::size_t(m.sender)], groupOf[std::size_t(m.receiver)], slot);
        ++sum.count;
        sum.from += from;
        sum.to += to;
        ++m_out.messagesInView;
        return true;
    });
    while (sums.groups > kLeastGroups && sums.visible() > kRibbonCap) {
        sums = sums.halved();
        perGroup *= 2;
    }
    const auto groupY = [&](int group, bool lower) {
        const int first = group * perGroup;
        const int last = std::min(ranks - 1, first + perGroup - 1);
        return perGroup == 1 ? barEdge(first, lower) : (barEdge(first, false) + barEdge(last, true)) / 2;
    };
    for (int sender = 0; sender < sums.groups; ++sender) {
        for (int receiver = 0; receiver < sums.groups; ++receiver) {
            for (int slot = 0; sender != receiver && slot < sums.slotCount; ++slot) {
                const RibbonSums::Sum& sum = sums.at(sender, receiver, slot);
                if (sum.count == 0) {
                    continue;
                }
                Ribbon ribbon;
                ribbon.from = {sum.from / sum.count, groupY(sender, receiver > sender)};
                ribbon.to = {sum.to / sum.count, groupY(receiver, receiver < sender)};
                ribbon.count = sum.count;
                ribbon.width = 1.0 + 0.75 * double(std::bit_width(sum.count));
                m_out.ribbons.push_back(ribbon);
            }
        }
    }
}

std::optional<MessageLine> GeometryBuilder::pendingLineOf(std::uint32_t index,
                                                          std::vector<int>& crowd) const {
    const TrackMessage& m = m_model.messages()[index];
    const Axis axis = m_scene.axis;
    MessageLine line;
    line.message = index;
    const auto ended = [this](int row) {
        const RowState* state = row >= 0 ? rowState(row) : nullptr;
        return state != nullptr && state->ended;
    };
    // Ends at the same now edge step aside, so that each stays visible.
    const auto edge = [&](int row) {
        const int step = crowd[std::size_t(row)]++ % 6;
        return px(m_model.nowEdge(row, axis)) - 4.0 - 8.0 * step;
    };
    if (m.hasSend) {
        line.self = m.sender == m.receiver;
        line.shape = ended(m.receiver) ? MessageShape::UnmatchedSend : MessageShape::Sent;
        const double x = px(m.from(axis));
        if (m.receiver < 0) {
            return std::nullopt;
        }
        const bool down = m.receiver >= m.sender;
        line.from = {x, barEdge(m.sender, down)};
        line.to = {std::max(edge(m.receiver), x + 10),
                   line.self ? double(m_scene.layout.centre(m.receiver)) : barEdge(m.receiver, !down)};
        line.dim = beyondPlace(m.sender, m.eventFrom) ? Dim::All : Dim::None;
        return line;
    }
    if (!m.hasPost) {
        return std::nullopt;
    }
    const TrackCall& post = m_model.calls(m.receiver)[m.postCall];
    const double x = px(DiagramModel::begin(post, axis));
    line.dim = beyondPlace(m.receiver, post.eventBegin) ? Dim::All : Dim::None;
    if (m.sender < 0 || m.wildcard) {
        line.shape = MessageShape::WildcardStub;
        line.to = {x + 3, barEdge(m.receiver, false)};
        line.from = {x - 9, barEdge(m.receiver, false) - 9};
        return line;
    }
    line.shape = ended(m.sender) ? MessageShape::UnmatchedReceive : MessageShape::Awaited;
    const bool below = m.sender > m.receiver;
    line.to = {x + 3, barEdge(m.receiver, below)};
    line.from = {std::max(edge(m.sender), x + 10), barEdge(m.sender, !below)};
    return line;
}

void GeometryBuilder::buildPending() {
    // Even these are bounded, or a program with a million lost messages could not be looked at.
    constexpr std::size_t kMost = 5000;
    std::vector<int> crowd(std::size_t(m_model.ranks()), 0);
    for (const std::uint32_t index : m_model.openMessages()) {
        const auto line = pendingLineOf(index, crowd);
        if (!line) {
            continue;
        }
        const double left = std::min(line->from.x(), line->to.x());
        const double right = std::max(line->from.x(), line->to.x());
        const double top = std::min(line->from.y(), line->to.y());
        const double bottom = std::max(line->from.y(), line->to.y());
        if (right < -kMargin || left > m_scene.view.width + kMargin || bottom < -kMargin ||
            top > m_scene.layout.viewportHeight + kMargin) {
            continue;
        }
        ++m_out.messagesInView;
        if (m_out.pending.size() < kMost) {
            m_out.pending.push_back(*line);
            ++m_out.messagesShown;
        }
    }
}

} // namespace stopline::viewer
