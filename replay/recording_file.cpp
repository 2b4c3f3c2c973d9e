#include "recording_file.h"

#include "../tracelib/decode.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace stopline::replay {

namespace {

/// Most sites and modules that a chunk may name, before any memory is taken for them.
constexpr std::uint64_t kMaxEntries = 1U << 24;
constexpr std::uint64_t kMaxText = 1U << 16;

void putNumber(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
        out += static_cast<char>(value | 0x80);
    }
    out += static_cast<char>(value);
}

void putText(std::string& out, std::string_view text) {
    text = text.substr(0, kMaxText);
    putNumber(out, text.size());
    out += text;
}

std::string takeText(trace::ByteReader& in) {
    const std::uint64_t size = in.varintUpTo(kMaxText);
    const auto rest = in.rest();
    if (!in.ok() || size > rest.size()) {
        in.fail();
        return {};
    }
    std::string text(reinterpret_cast<const char*>(rest.data()), size);
    in.skip(size);
    return text;
}

bool takeHex(std::string_view& line, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
    if (error != std::errc() || end == line.data() + line.size() || *end != ' ') {
        return false;
    }
    line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
    return true;
}

} // namespace

std::string chunkName(std::uint32_t type) {
    static constexpr std::array<const char*, 16> kNames = {
        "",      "job",    "rank", "modules",    "header", "staging", "dictionary", "communicators",
        "stops", "blocks", "exit", "call sites", "end", "values", "start of history", "input"};
    return type > 0 && type < kNames.size() ? kNames[type] : "type " + std::to_string(type);
}

std::string encodeFileFields(const FileFields& fields) {
    std::string text;
    for (const auto& [name, value] : fields) {
        text += name + ' ';
        for (const char c : value) {
            if (c == '\n') {
                text += "\\n";
            } else if (c == '\\') {
                text += "\\\\";
            } else {
                text += c;
            }
        }
        text += '\n';
    }
    return text;
}

FileFields decodeFileFields(std::string_view text) {
    FileFields fields;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const std::size_t space = line.find(' ');
        if (space == std::string_view::npos) {
            continue;
        }
        std::string value;
        for (std::size_t i = space + 1; i < line.size(); ++i) {
            const bool escaped = line[i] == '\\' && i + 1 < line.size();
            value += !escaped ? line[i] : line[i + 1] == 'n' ? '\n' : line[i + 1];
            i += escaped ? 1 : 0;
        }
        fields[std::string(line.substr(0, space))] = std::move(value);
    }
    return fields;
}

std::string fileField(const FileFields& fields, std::string_view name) {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string() : found->second;
}

std::int64_t fileNumber(const FileFields& fields, std::string_view name, std::int64_t fallback) {
    const std::string text = fileField(fields, name);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : fallback;
}

std::vector<CodeModule> parseModules(std::string_view text) {
    std::vector<CodeModule> modules;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        CodeModule module;
        if (!takeHex(line, module.begin) || !takeHex(line, module.end) || !takeHex(line, module.offset) ||
            module.end <= module.begin) {
            continue;
        }
        const std::size_t space = line.find(' ');
        if (space == std::string_view::npos) {
            continue;
        }
        const std::string_view build = line.substr(0, space);
        module.build = build == "-" ? std::string_view() : build;
        module.path = line.substr(space + 1);
        modules.push_back(std::move(module));
    }
    std::sort(modules.begin(), modules.end(),
              [](const CodeModule& a, const CodeModule& b) { return a.begin < b.begin; });
    return modules;
}

const CodeModule* moduleOf(const std::vector<CodeModule>& modules, CodeAddress returnAddress) {
    if (returnAddress.value() == 0) {
        return nullptr;
    }
    const std::uint64_t call = returnAddress.value() - 1;
    auto next =
        std::upper_bound(modules.begin(), modules.end(), call,
                         [](std::uint64_t value, const CodeModule& module) { return value < module.begin; });
    if (next == modules.begin() || (--next)->end <= call) {
        return nullptr;
    }
    return &*next;
}

SiteKey siteKey(const CodeModule& module, CodeAddress returnAddress) {
    return {module.path, module.build, returnAddress.value() - 1 - module.begin + module.offset};
}

std::string encodeSites(const SiteTable& sites) {
    std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> numbers;
    std::string modules;
    for (const auto& [key, site] : sites) {
        if (numbers
                .emplace(std::pair(std::string_view(key.path), std::string_view(key.build)), numbers.size())
                .second) {
            putText(modules, key.path);
            putText(modules, key.build);
        }
    }
    std::string out;
    putNumber(out, numbers.size());
    out += modules;
    putNumber(out, sites.size());
    for (const auto& [key, site] : sites) {
        putNumber(out, numbers.at({key.path, key.build}));
        putNumber(out, key.offset);
        putNumber(out, static_cast<std::uint64_t>(std::max(0, site.line)));
        putText(out, site.file);
        putText(out, site.function);
    }
    return out;
}

bool decodeSites(std::string_view bytes, SiteTable& sites) {
    trace::ByteReader in({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
    std::vector<std::pair<std::string, std::string>> modules;
    for (std::uint64_t left = in.varintUpTo(kMaxEntries); left > 0 && in.ok(); --left) {
        std::string path = takeText(in);
        std::string build = takeText(in);
        modules.emplace_back(std::move(path), std::move(build));
    }
    for (std::uint64_t left = in.varintUpTo(kMaxEntries); left > 0 && in.ok(); --left) {
        const std::uint64_t module = in.varint();
        SiteKey key;
        SiteText site;
        key.offset = in.varint();
        site.line = static_cast<std::int32_t>(in.varintUpTo(INT32_MAX));
        site.file = takeText(in);
        site.function = takeText(in);
        if (!in.ok() || module >= modules.size()) {
            return false;
        }
        key.path = modules[module].first;
        key.build = modules[module].second;
        sites[std::move(key)] = std::move(site);
    }
    return in.ok() && in.atEnd();
}

} // namespace stopline::replay
