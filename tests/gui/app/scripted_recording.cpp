// Ranks that stand somewhere and a small recording, for scripted sessions.
#include "scripted_session.h"

namespace stopline::replay {

void standAt(Session& session, const QString& file, const std::vector<int>& lines) {
    Scripted& s = scriptOf(session);
    s.job = true;
    s.ranks.clear();
    for (std::size_t i = 0; i < lines.size(); ++i) {
        RankView view;
        view.rank = RankId{static_cast<std::int32_t>(i)};
        view.phase = RankPhase::Stopped;
        view.why = StopWhy::Paused;
        view.location = {file, lines[i], QStringLiteral("work"), {}};
        view.userFrame = 0;
        view.pid = 1000 + static_cast<qint64>(i);
        s.ranks.push_back(view);
    }
    mi::Frame frame;
    frame.function = QStringLiteral("work");
    frame.file = file;
    frame.fullName = file;
    frame.line = lines.empty() ? 1 : lines.front();
    mi::Frame outer = frame;
    outer.level = 1;
    outer.function = QStringLiteral("main");
    outer.line = frame.line + 5;
    s.frames = {frame, outer};
}

void recordMessages(Session& session, int ranks) {
    Scripted& s = scriptOf(session);
    s.timeline = std::make_unique<Timeline>(ranks);
    Timeline& t = *s.timeline;
    trace::CommInfo world;
    world.id = 1;
    for (int i = 0; i < ranks; ++i) {
        world.members.push_back(i);
    }
    const auto event = [&t](int rank, TimeNs time, auto fill) {
        trace::EventDetails details;
        fill(details);
        const RankId id{rank};
        t.addEvent(id, t.addDetails(id, details), time);
    };
    const auto send = [](int peer, trace::EventKind kind) {
        return [peer, kind](trace::EventDetails& d) {
            d.kind = kind;
            d.function = trace::FunctionId::Send;
            d.comm = kCommWorld;
            if (kind == trace::EventKind::Begin) {
                d.sendPeer = peer;
                d.sendTag = 5;
                d.sendBytes = 64;
            }
        };
    };
    const auto receive = [](trace::EventKind kind) {
        return [kind](trace::EventDetails& d) {
            d.kind = kind;
            d.function = trace::FunctionId::Recv;
            d.comm = kCommWorld;
            if (kind == trace::EventKind::Begin) {
                d.recvPeer = 0;
                d.recvTag = 5;
                d.recvBytes = 64;
            } else {
                d.status = {0, 5, 64, false};
            }
        };
    };
    for (int rank = 0; rank < ranks; ++rank) {
        t.addComm(RankId{rank}, world);
        for (const auto kind : {trace::EventKind::Begin, trace::EventKind::End}) {
            event(rank, kind == trace::EventKind::Begin ? 1000 : 900'000, [kind](trace::EventDetails& d) {
                d.kind = kind;
                d.function = trace::FunctionId::Init;
                d.comm = kCommWorld;
            });
        }
    }
    for (int peer = 1; peer < ranks; ++peer) {
        event(0, 1'000'000 + peer * 100'000, send(peer, trace::EventKind::Begin));
        event(0, 1'050'000 + peer * 100'000, send(peer, trace::EventKind::End));
    }
    for (int rank = 1; rank < ranks; ++rank) {
        event(rank, 950'000 + rank * 1000, receive(trace::EventKind::Begin));
        if (rank + 1 < ranks) {
            event(rank, 1'080'000 + rank * 100'000, receive(trace::EventKind::End));
        }
    }
    s.ranks.resize(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        s.ranks[static_cast<std::size_t>(rank)].place = {t.lastEvent(RankId{rank}),
                                                         rank > 0 && rank + 1 == ranks};
    }
    emit session.timelineReplaced();
}

void recordRace(Session& session) {
    Scripted& s = scriptOf(session);
    s.timeline = std::make_unique<Timeline>(3);
    s.analysis = RaceAnalysis();
    Timeline& t = *s.timeline;
    trace::CommInfo world;
    world.id = 1;
    world.members = {0, 1, 2};
    const auto event = [&t](int rank, TimeNs time, trace::FunctionId function, trace::EventKind kind, auto fill) {
        trace::EventDetails details;
        details.kind = kind;
        details.function = function;
        details.comm = kCommWorld;
        fill(details);
        t.addEvent(RankId{rank}, t.addDetails(RankId{rank}, details), time);
    };
    const auto nothing = [](trace::EventDetails&) {};
    for (int rank = 0; rank < 3; ++rank) {
        t.addComm(RankId{rank}, world);
        event(rank, 1000, trace::FunctionId::Init, trace::EventKind::Begin, nothing);
        event(rank, 900'000, trace::FunctionId::Init, trace::EventKind::End, nothing);
    }
    for (int rank = 1; rank < 3; ++rank) {
        event(rank, 1'000'000 * rank, trace::FunctionId::Send, trace::EventKind::Begin, [](trace::EventDetails& d) {
            d.sendPeer = 0;
            d.sendTag = 5;
            d.sendBytes = 64;
        });
        event(rank, 1'000'000 * rank + 1000, trace::FunctionId::Send, trace::EventKind::End, nothing);
        event(0, 1'000'000 * rank, trace::FunctionId::Recv, trace::EventKind::Begin, [](trace::EventDetails& d) {
            d.recvPeer = kAnySource;
            d.recvTag = 5;
            d.recvBytes = 64;
        });
        event(0, 1'000'000 * rank + 2000, trace::FunctionId::Recv, trace::EventKind::End,
              [rank](trace::EventDetails& d) { d.status = {rank, 5, 64, false}; });
    }
    s.ranks.resize(3);
    for (int rank = 0; rank < 3; ++rank) {
        s.ranks[static_cast<std::size_t>(rank)].place = {t.lastEvent(RankId{rank}), false};
    }
    emit session.timelineReplaced();
    emit session.racesChanged();
}

} // namespace stopline::replay
