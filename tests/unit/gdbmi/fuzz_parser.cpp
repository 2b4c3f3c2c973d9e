// libFuzzer target: -DSTOPLINE_FUZZ=ON with clang; then `fuzz_mi_parser -max_total_time=60 <corpus>`.
#include "../../../gdbmi/mi_parser.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace stopline::mi;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    // The result may not depend on how the stream is cut.
    std::size_t whole = 0;
    std::size_t pieces = 0;
    LineReader first;
    first.feed(bytes, [&](Record&& record) { whole += 1 + record.results.size() + record.text.size(); });
    first.finish([&](Record&& record) { whole += 1 + record.results.size() + record.text.size(); });
    LineReader second;
    const auto count = [&](Record&& record) { pieces += 1 + record.results.size() + record.text.size(); };
    for (std::size_t at = 0; at < size; at += 7) {
        second.feed(bytes.substr(at, 7), count);
    }
    second.finish(count);
    if (whole != pieces) {
        std::abort();
    }
    if (parseLine("~" + quote(bytes)).text != bytes) {
        std::abort();
    }
    return 0;
}
