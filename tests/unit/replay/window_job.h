// Jobs whose ranks share a window or a file.
#pragma once

#include "script.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stopline::replay::test {

using trace::CommKind;
using trace::ErrorClass;

/// A job in which call 1 of every rank makes a window, or opens a file, of all ranks.
struct WindowJob : Job {
    explicit WindowJob(std::int32_t count, FunctionId maker = FunctionId::Win_create) : Job(count) {
        CommInfo info;
        info.id = 77;
        info.kind = CommKind::Window;
        info.parent = kWorld;
        for (std::int32_t rank = 0; rank < count; ++rank) {
            info.members.push_back(rank);
        }
        for (RankScript& rank : ranks) {
            window = rank.construct(maker, info);
        }
    }
    [[nodiscard]] EventDetails on(FunctionId function, std::int32_t target = kNoPeer) const {
        EventDetails d;
        d.function = function;
        d.comm = window;
        d.sendPeer = target;
        return d;
    }
    void put(std::size_t rank, std::int32_t target, FunctionId function = FunctionId::Put) {
        EventDetails d = on(function, target);
        d.sendBytes = 24;
        ranks[rank].both(d);
    }
    void sync(std::size_t rank, FunctionId function, std::int32_t target = kNoPeer, std::int32_t mode = 0) {
        EventDetails d = on(function, target);
        d.mode = mode;
        ranks[rank].both(d);
    }
    void group(std::size_t rank, FunctionId function, std::vector<std::int32_t> peers,
               ErrorClass error = ErrorClass::Success) {
        EventDetails d = on(function);
        d.peers = std::move(peers);
        EventDetails end;
        end.error = error;
        ranks[rank].both(d, end);
    }
    CommIndex window = kNoComm;
};

} // namespace stopline::replay::test
