// Size of the order logs that are made from recordings, for each call that they force.
//
// usage: bench_order_log FILE.stopline...
//
// Prints one line of words for each file: its name, then name=value. Order logs are not stored: they are made
// from the trace for a replay. `trace` is what the file holds of the ranks that have an entry: dictionary,
// communicators, events.
#include "../../../replay/loaded_recording.h"
#include "../../../replay/replay_logs.h"
#include "../../../tracelib/order.h"
#include "../measure.h"

#include <cstdio>
#include <cstdlib>
#include <vector>
#include <zlib.h>

using namespace stopline;

namespace {

[[noreturn]] void fail(const QString& what) {
    std::fprintf(stderr, "bench_order_log: %s\n", qPrintable(what));
    std::exit(1);
}

std::size_t deflated(const std::vector<std::byte>& bytes) {
    uLongf size = compressBound(static_cast<uLong>(bytes.size()));
    std::vector<Bytef> packed(size);
    if (compress2(packed.data(), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                  static_cast<uLong>(bytes.size()), 6) != Z_OK) {
        fail(QStringLiteral("zlib"));
    }
    return size;
}

void look(const char* path) {
    replay::LoadedRecording loaded;
    if (const QString wrong = replay::loadRecording(QString::fromLocal8Bit(path), loaded); !wrong.isEmpty()) {
        fail(wrong);
    }
    std::uint64_t sources = 0;
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
    std::uint64_t packed = 0;
    std::uint64_t trace = 0;
    std::uint64_t events = 0;
    double seconds = 0;
    const double begun = bench::now();
    replay::LogsProgress progress;
    const std::shared_ptr<const replay::ReplayLogs> logs =
        loaded.recording->makeReplayLogs(replay::ReplayBy::Source, progress);
    seconds += bench::since(begun);
    for (std::size_t i = 0; i < loaded.ranks.size(); ++i) {
        const replay::OrderLog& log = logs->ranks[i];
        events += loaded.ranks[i].events;
        if (log.entries == 0) {
            continue;
        }
        for (trace::OrderReader reader(log.bytes.data(), log.bytes.size());
             reader.kind() != trace::OrderKind::None; reader.skip()) {
            sources += reader.kind() == trace::OrderKind::Source ? 1 : 0;
        }
        entries += log.entries;
        bytes += log.bytes.size();
        packed += deflated(log.bytes);
        trace += loaded.ranks[i].bytes;
    }
    std::printf(
        "%s events=%llu entries=%llu sources=%llu log=%llu deflated=%llu trace=%llu ns_an_event=%.1f\n", path,
        static_cast<unsigned long long>(events), static_cast<unsigned long long>(entries),
        static_cast<unsigned long long>(sources), static_cast<unsigned long long>(bytes),
        static_cast<unsigned long long>(packed), static_cast<unsigned long long>(trace),
        seconds * 1e9 / static_cast<double>(events == 0 ? 1 : events));
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: bench_order_log FILE.stopline...\n");
        return 2;
    }
    for (int i = 1; i < argc; ++i) {
        look(argv[i]);
    }
    return 0;
}
