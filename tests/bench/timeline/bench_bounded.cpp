// Memory and time to take in a recording of many events when only the latest ones are shown.
// Usage: bench_bounded [events [most events shown, 0: all]], by default 50 million and 20 million.
#include "halo.h"

#include "../../../replay/recording.h"
#include "../../../tracelib/history_advance.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

/// Resident memory in MiB now, or at most so far.
double residentMiB(const char* which) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind(which, 0) == 0) {
            return std::strtod(line.c_str() + std::string(which).size(), nullptr) / 1024;
        }
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    using namespace stopline;
    const std::uint64_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50'000'000;
    const std::uint64_t most = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20'000'000;
    constexpr std::int32_t kRanks = 4;
    trace::RankImage image = bench::recording(0, kRanks, events / 12);
    std::printf("recording of %llu events: %.1f MiB of blocks, resident %.0f MiB\n",
                static_cast<unsigned long long>(events), static_cast<double>(image.blocks.size()) / (1 << 20),
                residentMiB("VmRSS:"));
    const auto started = std::chrono::steady_clock::now();
    if (most != 0) {
        trace::HistoryAdvance::leaveOut(image, most);
    }
    const auto left = std::chrono::steady_clock::now();
    replay::Recording recording(kRanks);
    QString error;
    (void)recording.feed(RankId{0}, image, error);
    const auto done = std::chrono::steady_clock::now();
    const auto seconds = [](auto from, auto to) { return std::chrono::duration<double>(to - from).count(); };
    const std::uint64_t first = recording.timeline().firstEvent(RankId{0}).value();
    const std::uint64_t last = recording.timeline().lastEvent(RankId{0}).value();
    std::printf("left out %llu events in %.2f s, took in %llu in %.2f s; resident %.0f MiB (most %.0f), timeline %.1f bytes "
                "an event%s%s\n",
                static_cast<unsigned long long>(first - 1), seconds(started, left),
                static_cast<unsigned long long>(last - first + 1), seconds(left, done), residentMiB("VmRSS:"),
                residentMiB("VmHWM:"),
                static_cast<double>(recording.timeline().memoryBytes()) / static_cast<double>(last - first + 1),
                error.isEmpty() ? "" : ": ", qPrintable(error));
    return error.isEmpty() ? 0 : 1;
}
