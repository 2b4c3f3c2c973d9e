// The program that the benchmarks of the timeline read: a halo exchange on a ring, as events and as
// recordings.
#pragma once

#include "../../../replay/timeline.h"
#include "../../../tracelib/reader.h"
#include "../../../tracelib/recorder.h"
#include "../measure.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace stopline::bench {

inline trace::CommInfo world(std::int32_t ranks) {
    trace::CommInfo world;
    world.id = 1;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
        world.members.push_back(rank);
    }
    return world;
}

/// One iteration of a rank, in order: Irecv and Isend left and right, Waitall, and an Allreduce: 12 events.
inline std::vector<trace::EventDetails> iteration(std::int32_t rank, std::int32_t ranks) {
    std::vector<trace::EventDetails> step;
    const std::int32_t left = (rank + ranks - 1) % ranks;
    const std::int32_t right = (rank + 1) % ranks;
    const auto add = [&](trace::EventDetails begin, trace::EventDetails end) {
        begin.comm = kCommWorld;
        end.kind = trace::EventKind::End;
        end.function = begin.function;
        step.push_back(std::move(begin));
        step.push_back(std::move(end));
    };
    for (const auto& [peer, tag] : {std::pair{left, 0}, std::pair{right, 1}}) {
        trace::EventDetails d;
        d.function = trace::FunctionId::Irecv;
        d.recvPeer = peer;
        d.recvTag = tag;
        add(d, {});
    }
    for (const auto& [peer, tag] : {std::pair{right, 0}, std::pair{left, 1}}) {
        trace::EventDetails d;
        d.function = trace::FunctionId::Isend;
        d.sendPeer = peer;
        d.sendTag = tag;
        d.sendBytes = 100000;
        add(d, {});
    }
    trace::EventDetails wait;
    trace::EventDetails waited;
    wait.function = trace::FunctionId::Waitall;
    for (std::uint32_t back = 4; back > 0; --back) {
        wait.requests.push_back({back - 1});
        waited.completions.push_back({{back - 1}, 4 - back, {}});
    }
    add(wait, waited);
    trace::EventDetails reduce;
    reduce.function = trace::FunctionId::Allreduce;
    reduce.sendBytes = 8;
    add(reduce, {});
    return step;
}

/// What the agent sends of a rank that has recorded these events `iterations` times; times from a fixed seed.
inline trace::RankImage recording(const std::vector<trace::EventDetails>& step, std::int32_t rank,
                                  std::int32_t ranks, std::uint64_t iterations) {
    constexpr std::size_t kLimit = std::size_t{256} << 20;
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    const std::unique_ptr<std::byte, Free> bytes(static_cast<std::byte*>(std::calloc(kLimit, 1)));
    const std::unique_ptr<trace::RecorderMemory, Free> memory(
        static_cast<trace::RecorderMemory*>(std::calloc(1, sizeof(trace::RecorderMemory))));
    auto& header = *new (bytes.get()) trace::MappingHeader();
    header.magic = trace::kMappingMagic;
    header.formatVersion = trace::kFormatVersion;
    header.headerBytes = sizeof(trace::MappingHeader);
    header.fileBytes = trace::kInitialFileBytes;
    trace::Recorder recorder;
    const auto grow = [](void*, std::uint64_t size) { return size > kLimit ? ENOSPC : 0; };
    recorder.open(bytes.get(), memory.get(), grow, nullptr, trace::kDefaultToleranceNs);
    const trace::CommInfo all = world(ranks);
    trace::CommView comm;
    comm.id = all.id;
    comm.members = all.members.data();
    comm.memberCount = static_cast<std::uint32_t>(all.members.size());
    recorder.addComm(comm);
    TimeNs time = 0;
    std::uint64_t noise = static_cast<std::uint64_t>(rank) + 1;
    for (std::uint64_t i = 0; i < iterations; ++i) {
        for (const trace::EventDetails& d : step) {
            noise = noise * 6364136223846793005ULL + 1442695040888963407ULL;
            time += 1000 + static_cast<TimeNs>((noise >> 33U) % 1000);
            recorder.append(trace::viewOf(d), time);
        }
    }
    trace::RankImage image;
    const auto copy = [&](std::vector<std::byte>& to, std::size_t offset, std::size_t size) {
        to.assign(bytes.get() + offset, bytes.get() + offset + size);
    };
    copy(image.header, 0, sizeof(trace::MappingHeader));
    copy(image.staging, trace::kStagingOffset + (header.stagingSequence & 1U) * trace::kStagingBytes,
         trace::kStagingBytes);
    copy(image.dictionary, trace::kDictionaryOffset, header.dictionaryLength);
    copy(image.comms, trace::kCommOffset, header.commLength);
    copy(image.blocks, trace::kBlockOffset, header.blockLength);
    return image;
}

/// What the agent sends of a rank that has made `iterations` iterations.
inline trace::RankImage recording(std::int32_t rank, std::int32_t ranks, std::uint64_t iterations) {
    return recording(iteration(rank, ranks), rank, ranks, iterations);
}

} // namespace stopline::bench
