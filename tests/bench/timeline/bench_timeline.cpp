// Processor time of reading a job of about a million events: decoding alone, appending with matching, all of
// it as a session does, and of frontiers. The baseline of the same run: the same events stored in plain
// vectors, unmatched.
//
// usage: bench_timeline [EVENTS]
#include "halo.h" // before Qt, which takes a word of it for its own

#include "../../../replay/recording.h"

#include <algorithm>
#include <cstdio>

using namespace stopline;
using namespace stopline::replay;
using bench::now;
using bench::since;

namespace {

struct Job {
    std::int32_t ranks;
    std::uint64_t iterations;
    std::vector<std::vector<trace::EventDetails>> steps;

    Job(std::int32_t count, std::uint64_t events)
        : ranks(count),
          iterations(std::max<std::uint64_t>(events / (12U * static_cast<unsigned>(count)), 4)) {
        for (std::int32_t rank = 0; rank < ranks; ++rank) {
            steps.push_back(bench::iteration(rank, ranks));
        }
    }
    [[nodiscard]] double events() const { return 12.0 * static_cast<double>(iterations) * ranks; }
};

/// Seconds for the same events in plain vectors.
double plain(const Job& job) {
    const double start = now();
    std::vector<std::vector<DetailsId>> ids(static_cast<std::size_t>(job.ranks));
    std::vector<std::vector<TimeNs>> times(static_cast<std::size_t>(job.ranks));
    for (std::uint64_t i = 0; i < job.iterations; ++i) {
        for (std::size_t rank = 0; rank < ids.size(); ++rank) {
            for (std::uint32_t step = 0; step < 12; ++step) {
                ids[rank].emplace_back(step);
                times[rank].push_back(static_cast<TimeNs>(i));
            }
        }
    }
    return since(start);
}

/// Seconds to append everything, `stretch` iterations of a rank at a time.
double append(const Job& job, std::uint64_t stretch, Timeline& timeline) {
    for (std::int32_t rank = 0; rank < job.ranks; ++rank) {
        timeline.addComm(RankId{rank}, bench::world(job.ranks));
        for (const trace::EventDetails& d : job.steps[static_cast<std::size_t>(rank)]) {
            timeline.addDetails(RankId{rank}, d);
        }
    }
    const double start = now();
    for (std::uint64_t from = 0; from < job.iterations; from += stretch) {
        const std::uint64_t to = std::min(from + stretch, job.iterations);
        for (std::int32_t rank = 0; rank < job.ranks; ++rank) {
            for (std::uint64_t i = from; i < to; ++i) {
                for (std::uint32_t step = 0; step < 12; ++step) {
                    timeline.addEvent(RankId{rank}, DetailsId{step}, static_cast<TimeNs>(i * 12 + step));
                }
            }
        }
    }
    return since(start);
}

void appending(const Job& job) {
    const double base = plain(job);
    std::printf("%2d ranks, %.0f events\n", job.ranks, job.events());
    double took[2] = {0, 0};
    double bytes = 0;
    for (const std::uint64_t stretch : {std::uint64_t{1}, job.iterations}) {
        Timeline timeline(job.ranks);
        took[stretch == 1 ? 0 : 1] = append(job, stretch, timeline);
        bytes = static_cast<double>(timeline.memoryBytes()) / job.events();
    }
    std::printf(
        "  append: ranks in turn %.1f M events/s (%.1f x plain vectors), rank after rank %.1f M/s (%.1f x); "
        "%.0f bytes an event\n",
        job.events() / took[0] / 1e6, took[0] / base, job.events() / took[1] / 1e6, took[1] / base, bytes);
}

bool reading(const Job& job) {
    std::vector<trace::RankImage> images;
    std::size_t stored = 0;
    for (std::int32_t rank = 0; rank < job.ranks; ++rank) {
        images.push_back(bench::recording(rank, job.ranks, job.iterations));
        stored += images.back().blocks.size() + images.back().dictionary.size();
    }
    double start = now();
    {
        std::vector<trace::RankReader> readers(images.size());
        for (std::size_t rank = 0; rank < images.size(); ++rank) {
            readers[rank].update(images[rank]);
        }
    }
    const double decode = since(start);
    start = now();
    Recording recording(job.ranks);
    QString error;
    for (std::int32_t rank = 0; rank < job.ranks; ++rank) {
        recording.feed(RankId{rank}, images[static_cast<std::size_t>(rank)], error);
    }
    const double all = since(start);
    const Timeline& timeline = recording.timeline();
    if (!error.isEmpty() || !timeline.openMessages().empty()) {
        std::printf("  the recording cannot be read\n");
        return false;
    }
    std::printf("  read: %.2f bytes an event stored; decode alone %.1f M events/s, decode, match and append "
                "%.1f M/s\n",
                static_cast<double>(stored) / job.events(), job.events() / decode / 1e6,
                job.events() / all / 1e6);
    Recording pieces(job.ranks);
    double longest = 0;
    int count = 0;
    for (std::int32_t rank = 0; rank < job.ranks; ++rank) {
        (void)pieces.read(RankId{rank}, images[static_cast<std::size_t>(rank)]);
        for (bool more = true; more; ++count) {
            start = now();
            more = !pieces.take(RankId{rank}, std::chrono::milliseconds(8)).all;
            longest = std::max(longest, since(start));
        }
    }
    std::printf("  the same in pieces of 8 ms: %d pieces, the longest takes %.1f ms\n", count, longest * 1e3);
    start = now();
    (void)timeline.axisTime(RankId{0}, EventIndex{1});
    std::printf("  time axis made: %.1f ms\n", since(start) * 1e3);
    double first[2] = {0, 0};
    double worst[2] = {0, 0};
    double total[2] = {0, 0};
    const auto calls = timeline.callCount(RankId{0});
    const int points = 9;
    for (int p = 0; p < points; ++p) {
        const auto call = static_cast<std::uint32_t>(std::uint64_t{calls} *
                                                     static_cast<unsigned>((p * 4 + 4) % 9 + 1) / 10);
        const Point point{{RankId{0}, CallIndex{call}}, true};
        for (int kind = 0; kind < 2; ++kind) {
            start = now();
            const Line line = kind == 0 ? timeline.pastFrontier(point) : timeline.futureFrontier(point);
            const double took = since(start);
            first[kind] = p == 0 ? took : first[kind];
            worst[kind] = std::max(worst[kind], took);
            total[kind] += took;
            if (!line.obstacles.empty()) {
                std::printf("unexpected obstacle: %s\n", line.obstacles[0].reason.c_str());
                return false;
            }
        }
    }
    for (int kind = 0; kind < 2; ++kind) {
        std::printf("  %s frontier: first %.2f ms, mean %.2f ms, worst %.2f ms\n",
                    kind == 0 ? "past" : "future", first[kind] * 1e3, total[kind] / points * 1e3,
                    worst[kind] * 1e3);
    }
    return true;
}

} // namespace

int main(int argc, char** argv) {
    const std::uint64_t wanted = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
    for (const std::int32_t ranks : {4, 16, 64}) {
        const Job job(ranks, wanted);
        appending(job);
        if (!reading(job)) {
            return 1;
        }
    }
    return 0;
}
