// Bytes of MI parsed in a second: what a stop brings (frames, variables), one long string, and a flood of
// short lines.
#include "../../../gdbmi/mi_parser.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace stopline::mi;

namespace {

std::string frames(int count) {
    std::string line = "12^done,stack=[";
    for (int i = 0; i < count; ++i) {
        line += i ? "," : "";
        line += "frame={level=\"" + std::to_string(i) +
                "\",addr=\"0x00005605ce2501e2\",func=\"solver::relax<double>\",file=\"solver.cpp\",fullname="
                "\"/home/"
                "user/project/solver.cpp\",line=\"" +
                std::to_string(100 + i) + "\",arch=\"i386:x86-64\"}";
    }
    return line + "]\n(gdb) \n";
}

void measure(const char* what, const std::string& piece, std::size_t totalBytes) {
    std::string bytes;
    while (bytes.size() < totalBytes) {
        bytes += piece;
    }
    std::size_t records = 0;
    LineReader reader;
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t at = 0; at < bytes.size(); at += 65536) {
        reader.feed(std::string_view(bytes).substr(at, 65536), [&](Record&& record) {
            ++records;
            if (record.type == RecordType::Malformed) {
                std::printf("malformed: %s\n", record.error.c_str());
                std::exit(1);
            }
        });
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("%-28s %8.1f MB/s  %9.0f records/s\n", what,
                static_cast<double>(bytes.size()) / 1e6 / seconds, static_cast<double>(records) / seconds);
}

} // namespace

int main(int argc, char** argv) {
    const std::size_t megabytes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 32;
    const std::size_t bytes = std::max<std::size_t>(megabytes, 1) << 20;
    measure("stacks of 20 frames", frames(20), bytes);
    measure("stacks of 20,000 frames", frames(20000), bytes);
    measure("one string of 1 MB", "~\"" + std::string(1 << 20, 'x') + "\"\n", bytes);
    std::string escaped = "~\"";
    for (int i = 0; i < 100000; ++i) {
        escaped += "\\303\\251\\n";
    }
    measure("escapes only", escaped + "\"\n", bytes);
    measure("short lines", "1^done\n(gdb) \n", bytes);
    return 0;
}
