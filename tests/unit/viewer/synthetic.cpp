#include "synthetic.h"

#include <numeric>

namespace stopline::viewer::test {

using trace::EventDetails;
using trace::EventKind;
using trace::FunctionId;

Story::Story(int ranks)
    : m_timeline(std::make_unique<replay::Timeline>(ranks)), m_details(std::size_t(ranks)) {
    trace::CommInfo world;
    world.id = 1;
    world.kind = trace::CommKind::World;
    world.members.resize(std::size_t(ranks));
    std::iota(world.members.begin(), world.members.end(), 0);
    for (int rank = 0; rank < ranks; ++rank) {
        m_timeline->setOrigin(RankId{rank}, 0);
        m_timeline->addComm(RankId{rank}, world);
        trace::CommInfo self;
        self.id = std::uint64_t(100 + rank);
        self.kind = trace::CommKind::Self;
        self.members = {rank};
        m_timeline->addComm(RankId{rank}, self);
    }
}

void Story::add(int rank, const EventDetails& details, TimeNs at) {
    auto& known = m_details[std::size_t(rank)];
    for (const Interned& interned : known) {
        if (interned.details == details) {
            m_timeline->addEvent(RankId{rank}, interned.id, at);
            return;
        }
    }
    const DetailsId id = m_timeline->addDetails(RankId{rank}, details);
    known.push_back({details, id});
    m_timeline->addEvent(RankId{rank}, id, at);
}

std::uint32_t Story::add(int rank, EventDetails begin, EventDetails end, TimeNs from, TimeNs to, bool open) {
    begin.kind = EventKind::Begin;
    end.kind = EventKind::End;
    end.function = begin.function;
    end.site = begin.site;
    add(rank, begin, from);
    if (!open) {
        add(rank, end, to);
    }
    return m_timeline->callCount(RankId{rank}) - 1;
}

std::uint32_t Story::init(int rank, TimeNs begin, TimeNs end) {
    EventDetails b;
    b.function = FunctionId::Init;
    b.site = CodeAddress{0x1000};
    return add(rank, b, {}, begin, end, false);
}

std::uint32_t Story::finalize(int rank, TimeNs begin, TimeNs end) {
    EventDetails b;
    b.function = FunctionId::Finalize;
    b.site = CodeAddress{0x1f00};
    return add(rank, b, {}, begin, end, false);
}

namespace {

EventDetails sending(FunctionId function, int to, int tag, std::uint64_t bytes) {
    EventDetails d;
    d.function = function;
    d.comm = kCommWorld;
    d.sendPeer = to;
    d.sendTag = tag;
    d.sendBytes = bytes;
    d.site = CodeAddress{0x1100};
    return d;
}

EventDetails receiving(FunctionId function, int from, int tag, std::uint64_t bytes) {
    EventDetails d;
    d.function = function;
    d.comm = kCommWorld;
    d.recvPeer = from;
    d.recvTag = tag;
    d.recvBytes = bytes;
    d.site = CodeAddress{0x1200};
    return d;
}

EventDetails received(int from, int tag, std::uint64_t bytes) {
    EventDetails d;
    d.status = {from, tag, bytes, false};
    return d;
}

} // namespace

std::uint32_t Story::send(int rank, int to, int tag, std::uint64_t bytes, TimeNs begin, TimeNs end) {
    return add(rank, sending(FunctionId::Send, to, tag, bytes), {}, begin, end, false);
}

std::uint32_t Story::recv(int rank, int from, int tag, std::uint64_t bytes, TimeNs begin, TimeNs end) {
    return add(rank, receiving(FunctionId::Recv, from, tag, bytes), received(from, tag, bytes), begin, end,
               false);
}

std::uint32_t Story::recvOpen(int rank, int from, int tag, TimeNs begin) {
    return add(rank, receiving(FunctionId::Recv, from, tag, 8192), {}, begin, 0, true);
}

std::uint32_t Story::recvAny(int rank, int from, int tag, std::uint64_t bytes, TimeNs begin, TimeNs end) {
    return add(rank, receiving(FunctionId::Recv, kAnySource, tag, bytes), received(from, tag, bytes), begin,
               end, false);
}

std::uint32_t Story::isend(int rank, int to, int tag, std::uint64_t bytes, TimeNs begin, TimeNs end) {
    return add(rank, sending(FunctionId::Isend, to, tag, bytes), {}, begin, end, false);
}

std::uint32_t Story::irecv(int rank, int from, int tag, std::uint64_t bytes, TimeNs begin, TimeNs end) {
    return add(rank, receiving(FunctionId::Irecv, from, tag, bytes), {}, begin, end, false);
}

std::uint32_t Story::wait(int rank, const std::vector<Done>& done, TimeNs begin, TimeNs end) {
    EventDetails b;
    b.function = done.size() == 1 ? FunctionId::Wait : FunctionId::Waitall;
    b.site = CodeAddress{0x1300};
    EventDetails e;
    std::uint32_t index = 0;
    for (const Done& one : done) {
        b.requests.push_back({one.back});
        e.completions.push_back({{one.back}, index++, {one.source, one.tag, one.bytes, false}});
    }
    return add(rank, b, e, begin, end, false);
}

std::uint32_t Story::collective(int rank, FunctionId function, int root, TimeNs begin, TimeNs end) {
    EventDetails b;
    b.function = function;
    b.comm = kCommWorld;
    b.root = root;
    b.site = CodeAddress{0x1400};
    return add(rank, b, {}, begin, end, false);
}

std::uint32_t Story::collectiveOpen(int rank, FunctionId function, int root, TimeNs begin) {
    EventDetails b;
    b.function = function;
    b.comm = kCommWorld;
    b.root = root;
    b.site = CodeAddress{0x1400};
    return add(rank, b, {}, begin, 0, true);
}

Story hangStory(int ranks, int rows, int sent) {
    constexpr TimeNs kUs = 1000;
    constexpr std::uint64_t kRow = 4096;
    Story story(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        story.init(rank, (5 + 9 * rank) * kUs, (180 + 6 * rank) * kUs);
    }
    TimeNs at = 240 * kUs;
    std::vector<TimeNs> arrived(std::size_t(ranks), 250 * kUs);
    for (int row = 0; row < rows; ++row) {
        for (int to = 1; to < ranks; ++to) {
            if (row < sent) {
                story.send(0, to, row, kRow, at, at + 40 * kUs);
                const TimeNs from = arrived[std::size_t(to)];
                story.recv(to, 0, row, kRow, from, at + 75 * kUs);
                arrived[std::size_t(to)] = at + 95 * kUs;
                at += 58 * kUs;
            } else if (row == sent) {
                story.recvOpen(to, 0, row, arrived[std::size_t(to)]);
            }
        }
    }
    story.recvOpen(0, 1, 99, at + 30 * kUs);
    return story;
}

Story haloStory(int ranks, int steps) {
    constexpr TimeNs kUs = 1000;
    Story story(ranks);
    std::vector<TimeNs> clock(std::size_t(ranks), 0);
    for (int rank = 0; rank < ranks; ++rank) {
        story.init(rank, 3 * kUs, 60 * kUs);
        clock[std::size_t(rank)] = 65 * kUs;
    }
    for (int step = 0; step < steps; ++step) {
        TimeNs latest = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            TimeNs& t = clock[std::size_t(rank)];
            const int left = (rank + ranks - 1) % ranks;
            const int right = (rank + 1) % ranks;
            t += ((rank * 7 + step * 13) % 11) * kUs; // uneven work
            story.irecv(rank, left, 7, 1024, t, t + kUs);
            story.isend(rank, right, 7, 1024, t + 2 * kUs, t + 3 * kUs);
            t += 9 * kUs;
            latest = std::max(latest, t);
        }
        for (int rank = 0; rank < ranks; ++rank) {
            TimeNs& t = clock[std::size_t(rank)];
            const int left = (rank + ranks - 1) % ranks;
            const TimeNs end = std::max(t, latest) + 2 * kUs;
            story.wait(rank, {{1, left, 7, 1024}, {0}}, t, end);
            story.collective(rank, FunctionId::Allreduce, kNoPeer, end + kUs, latest + 12 * kUs);
            t = latest + 14 * kUs;
        }
    }
    return story;
}

} // namespace stopline::viewer::test
