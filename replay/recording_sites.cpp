#include "recording_sites.h"

#include "../tracelib/decode.h"
#include "../tracelib/signatures.h"
#include "debug_file.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <sys/stat.h>

namespace stopline::replay {

namespace {

/// Blocks that are decoded together when events themselves are looked at.
constexpr std::size_t kSliceBytes = 64 * 1024;

void takeSites(const trace::RankReader& reader, std::set<std::uint64_t>& sites) {
    for (std::uint32_t i = 0; i < reader.detailsCount(); ++i) {
        sites.insert(reader.details(DetailsId{i}).site.value());
    }
}

/// Details that stand in the stream itself: the dictionary was full. Piece by piece, as nobody wants the
/// events.
void takeInlineSites(const trace::RankImage& image, std::set<std::uint64_t>& sites) {
    trace::RankImage part;
    part.header = image.header;
    part.dictionary = image.dictionary;
    std::size_t at = 0;
    while (at < image.blocks.size()) {
        std::size_t end = at;
        while (image.blocks.size() - end >= sizeof(trace::BlockHeader) && end - at < kSliceBytes) {
            trace::BlockHeader header{};
            std::memcpy(&header, image.blocks.data() + end, sizeof header);
            const std::size_t length =
                sizeof header + ((std::size_t{header.compressedBytes} + 7) & ~std::size_t{7});
            if (header.magic != trace::kBlockMagic || length > image.blocks.size() - end) {
                break;
            }
            end += length;
        }
        if (end == at) {
            break;
        }
        part.blocks.assign(image.blocks.begin() + static_cast<std::ptrdiff_t>(at),
                           image.blocks.begin() + static_cast<std::ptrdiff_t>(end));
        trace::RankReader reader;
        (void)reader.update(part); // what is damaged is told by whoever reads the events
        takeSites(reader, sites);
        at = end;
    }
    part.blocks.clear();
    part.staging = image.staging;
    trace::RankReader reader;
    (void)reader.update(part);
    takeSites(reader, sites);
}

SiteText textOf(const SourceLine& line) {
    return {line.file.toStdString(), line.line, line.function.toStdString()};
}

} // namespace

bool blocksTellSites(const trace::RankImage& image) {
    // No entry is so short that there could be as many as are allowed in less.
    return image.dictionary.size() > trace::kDictionaryBytes / 2;
}

std::set<std::uint64_t> callSitesOf(const trace::RankImage& image) {
    std::set<std::uint64_t> sites;
    std::span<const std::byte> rest(image.dictionary);
    std::size_t entries = 0;
    for (std::size_t used = 0; !rest.empty(); rest = rest.subspan(used), ++entries) {
        trace::EventDetails details;
        if (!trace::decodeDetails(rest, details, used) || used == 0) {
            break;
        }
        sites.insert(details.site.value());
    }
    constexpr std::size_t kNearlyFull = trace::kDictionaryBytes - trace::kDictionaryBytes / 8;
    if (image.dictionary.size() > kNearlyFull || entries + 1 >= trace::SignatureMemory::kMaxSignatures ||
        !rest.empty()) {
        takeInlineSites(image, sites);
    }
    sites.erase(0);
    return sites;
}

BuildMatch matchBuild(const std::string& path, const std::string& build, std::int64_t notAfter,
                      std::string* now) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
        return BuildMatch::Missing;
    }
    const std::string found = buildIdOfFile(path);
    if (now != nullptr) {
        *now = found;
    }
    if (!build.empty()) {
        return found == build ? BuildMatch::Same : BuildMatch::Rebuilt;
    }
    const std::int64_t changed = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
    return found.empty() && notAfter > 0 && changed <= notAfter ? BuildMatch::Same : BuildMatch::Unknown;
}

SiteTable resolveSites(const std::set<SiteKey>& sites, std::int64_t notAfter) {
    SiteTable table;
    std::shared_ptr<DebugFile> file;
    const SiteKey* last = nullptr;
    for (const SiteKey& key : sites) {
        if (last == nullptr || last->path != key.path || last->build != key.build) {
            file = matchBuild(key.path, key.build, notAfter) == BuildMatch::Same ? DebugFile::atPath(key.path)
                                                                                 : nullptr;
            last = &key;
        }
        if (file == nullptr) {
            continue;
        }
        if (SiteText text = textOf(file->at(key.offset)); text.line > 0 || !text.function.empty()) {
            table.emplace(key, std::move(text));
        }
    }
    return table;
}

CallSites::CallSites(RecordingFile& file) : m_notAfter(file.started), m_sites(std::move(file.sites)) {
    struct Use {
        std::vector<std::int32_t> ranks;
        bool resolved = true; ///< all lines are known
    };
    using Which = std::pair<std::string, std::string>;
    const auto add = [](Use& use, std::int32_t rank) {
        if (use.ranks.empty() || use.ranks.back() != rank) {
            use.ranks.push_back(rank);
        }
    };
    std::map<Which, Use> callers;
    std::map<Which, Use> libraries;
    for (std::int32_t number = 0; number < file.rankCount(); ++number) {
        RecordedRank& rank = file.ranks[static_cast<std::size_t>(number)];
        for (const std::uint64_t address : callSitesOf(rank.image)) {
            if (const CodeModule* module = moduleOf(rank.modules, CodeAddress{address}); module != nullptr) {
                Use& use = callers[{module->path, module->build}];
                add(use, number);
                use.resolved = use.resolved && m_sites.contains(siteKey(*module, CodeAddress{address}));
            }
        }
        for (const CodeModule& module : rank.modules) {
            const std::string_view name = std::string_view(module.path).substr(module.path.rfind('/') + 1);
            if (name.starts_with("libmpi.so") || name.starts_with("libmpich.so")) {
                add(libraries[{module.path, module.build}], number);
            }
        }
        m_modules.push_back(std::move(rank.modules));
    }
    for (const auto& [which, use] : callers) {
        m_callers.push_back({which.first, which.second, use.ranks});
        std::string now;
        const BuildMatch match = matchBuild(which.first, which.second, m_notAfter, &now);
        if (match == BuildMatch::Rebuilt || match == BuildMatch::Missing) {
            m_changed.push_back({which.first, which.second, now, use.resolved});
        }
    }
    for (const auto& [which, use] : libraries) {
        m_libraries.push_back({which.first, which.second, use.ranks});
    }
}

CallSites::CallSites(CallSites&& other) noexcept {
    *this = std::move(other);
}

CallSites& CallSites::operator=(CallSites&& other) noexcept {
    m_modules = std::move(other.m_modules);
    m_notAfter = other.m_notAfter;
    m_changed = std::move(other.m_changed);
    m_callers = std::move(other.m_callers);
    m_libraries = std::move(other.m_libraries);
    m_sites = std::move(other.m_sites);
    return *this;
}

SiteText CallSites::of(RankId rank, CodeAddress returnAddress) const {
    const auto index = static_cast<std::size_t>(rank.value());
    if (rank.value() < 0 || index >= m_modules.size()) {
        return {};
    }
    const CodeModule* module = moduleOf(m_modules[index], returnAddress);
    if (module == nullptr) {
        return {};
    }
    const SiteKey key = siteKey(*module, returnAddress);
    const std::lock_guard guard(m_lock);
    if (const auto known = m_sites.find(key); known != m_sites.end()) {
        return known->second;
    }
    const SiteTable found = resolveSites({key}, m_notAfter);
    return m_sites.emplace(key, found.empty() ? SiteText() : found.begin()->second).first->second;
}

std::string CallSites::codeText(RankId rank, CodeAddress returnAddress) const {
    const auto index = static_cast<std::size_t>(rank.value());
    const CodeModule* module =
        rank.value() < 0 || index >= m_modules.size() ? nullptr : moduleOf(m_modules[index], returnAddress);
    if (module == nullptr) {
        return {};
    }
    constexpr char kDigits[] = "0123456789abcdef";
    std::string hex;
    for (std::uint64_t offset = siteKey(*module, returnAddress).offset; offset != 0 || hex.empty();
         offset /= 16) {
        hex.insert(hex.begin(), kDigits[offset % 16]);
    }
    return module->path.substr(module->path.rfind('/') + 1) + "+0x" + hex;
}

} // namespace stopline::replay
