#include "recording_tally.h"

#include "file_bytes.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stopline::replay {

namespace {

/// Of what a call has received, or seen to be received; a probe receives nothing.
std::uint64_t received(const trace::EventDetails& end) {
    const trace::CallClass what = trace::functionClass(end.function);
    if (what == trace::CallClass::Recv || what == trace::CallClass::Sendrecv ||
        what == trace::CallClass::Mrecv) {
        return end.status.source >= 0 ? end.status.bytes : 0;
    }
    std::uint64_t bytes = 0;
    if (end.function != trace::FunctionId::Request_get_status) { // a Wait or Test will tell again
        for (const trace::Completion& completion : end.completions) {
            bytes +=
                completion.status.source >= 0 && !completion.status.cancelled ? completion.status.bytes : 0;
        }
    }
    return bytes;
}

/// Counts the events of a rank.
class Counter {
  public:
    explicit Counter(RankTally& tally) : m_tally(tally) {}

    void add(EventIndex event, const trace::EventDetails& details) {
        m_requests.add(event, details);
        const auto open = std::find_if(m_open.begin(), m_open.end(),
                                       [&](const auto& one) { return one.first == details.thread; });
        if (details.kind == trace::EventKind::Begin) {
            RankTally::Use& use = m_tally.uses[details.function];
            ++m_tally.calls;
            ++use.calls;
            use.sent += details.sendPeer == kProcNull ? 0 : details.sendBytes;
            (open == m_open.end() ? m_open.emplace_back(details.thread, details.function)
                                  : *open) = {details.thread, details.function};
        } else if (open != m_open.end()) { // else its begin is missing
            m_tally.uses[open->second].received += received(details);
            m_open.erase(open);
        }
    }
    void finish() { m_tally.open = m_requests.open(); }

  private:
    RankTally& m_tally;
    RequestTracker m_requests;
    std::vector<std::pair<std::uint16_t, trace::FunctionId>> m_open; ///< calls that have begun, by thread
};

std::uint32_t headerWord(const trace::RankImage& image, std::size_t offset) {
    std::uint32_t value = 0;
    std::memcpy(&value, image.header.data() + offset, sizeof value);
    return value;
}

} // namespace

std::string eachPiece(const std::string& path, RecordedRank& rank,
                      const std::function<std::uint64_t(const trace::RankImage&)>& update) {
    trace::RankImage& image = rank.image;
    if (image.header.size() < sizeof(trace::MappingHeader)) {
        (void)update(image); // which says that it is cut off
        return {};
    }
    constexpr std::size_t kStagedIds = offsetof(trace::MappingHeader, stagedIds);
    // Before the end of the blocks the events of the staging area follow on nothing.
    const std::uint32_t staged = image.staging.empty() ? 0 : headerWord(image, kStagedIds);
    const auto setStaged = [&image](std::uint32_t ids) {
        std::memcpy(image.header.data() + kStagedIds, &ids, sizeof ids);
    };
    DiskBytes disk;
    if (std::string wrong = rank.pieces.empty() ? std::string() : disk.open(path); !wrong.empty()) {
        return wrong;
    }
    setStaged(0);
    std::string raw;
    for (const BlockPiece& piece : rank.pieces) {
        const std::string_view stored = disk.at(piece.at, piece.storedBytes);
        if (stored.size() != piece.storedBytes || !unpackChunk(piece.codec, piece.rawBytes, stored, raw)) {
            return "it has changed while it was read";
        }
        const std::string_view bytes = piece.codec == 0 ? stored : std::string_view(raw);
        const auto* from = reinterpret_cast<const std::byte*>(bytes.data());
        image.blocks.insert(image.blocks.end(), from, from + bytes.size());
        if (&piece != &rank.pieces.back()) {
            trace::releaseBlocks(image, update(image));
        }
    }
    setStaged(staged);
    (void)update(image);
    return {};
}

std::vector<RankTally> tallyRecording(const std::string& path, RecordingFile& file, std::string& wrong) {
    constexpr std::size_t kAtOnce = 1 << 16; // events
    std::vector<RankTally> all(file.ranks.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        RecordedRank& rank = file.ranks[i];
        RankTally& tally = all[i];
        if (rank.image.header.empty()) {
            continue;
        }
        trace::RankReader reader;
        Counter counter(tally);
        tally.bytes = rank.image.dictionary.size() + rank.image.comms.size() + rank.image.blocks.size();
        for (const BlockPiece& piece : rank.pieces) {
            tally.bytes += piece.rawBytes;
        }
        const auto update = [&](const trace::RankImage& image) {
            tally.largestImage = std::max(tally.largestImage, image.blocks.size());
            do {
                const std::string error = reader.update(image, kAtOnce);
                const std::vector<trace::DecodedEvent>& events = reader.events();
                tally.mostEvents = std::max(tally.mostEvents, events.size());
                const std::uint64_t first = reader.firstEvent().value();
                if (tally.lastEvent == 0 && first != 0) {
                    tally.firstEvent = first;
                }
                for (std::size_t at = 0; at < events.size(); ++at) {
                    counter.add(EventIndex{first + at}, reader.details(events[at].details));
                }
                tally.lastEvent = reader.lastEvent().value();
                reader.discard(events.size());
                if (!error.empty()) {
                    break;
                }
            } while (reader.behind());
            return reader.blocksRead();
        };
        // What it looks at is looked at again by others.
        trace::RankImage kept = rank.image;
        if (std::string why = eachPiece(path, rank, update); !why.empty() && wrong.empty()) {
            wrong = std::move(why);
        }
        rank.image = std::move(kept);
        counter.finish();
    }
    return all;
}

RankTally tallyTimeline(const Timeline& timeline, RankId rank) {
    RankTally tally;
    Counter counter(tally);
    tally.firstEvent = timeline.firstEvent(rank).value();
    tally.lastEvent = timeline.lastEvent(rank).value();
    for (std::uint64_t event = tally.firstEvent; event <= tally.lastEvent; ++event) {
        counter.add(EventIndex{event},
                    timeline.details(rank, timeline.eventDetails(rank, EventIndex{event})));
    }
    counter.finish();
    return tally;
}

} // namespace stopline::replay
