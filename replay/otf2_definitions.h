// The definitions of an OTF2 archive, numbered as its events ask for them. Only where the library is there.
#pragma once

#include "loaded_recording.h"

#include <otf2/otf2.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stopline::replay {

/// A thread of a rank.
struct Otf2Location {
    OTF2_LocationRef number = 0;
    RankId rank{0};
    int thread = 0;
    std::uint64_t events = 0;
};

class Otf2Definitions {
  public:
    static constexpr OTF2_AttributeRef kFileAttribute = 0;
    static constexpr OTF2_AttributeRef kLineAttribute = 1;

    explicit Otf2Definitions(const LoadedRecording& loaded);

    [[nodiscard]] OTF2_StringRef string(const std::string& text);
    [[nodiscard]] OTF2_RegionRef region(trace::FunctionId function);
    /// The first thread of rank r has number r.
    [[nodiscard]] OTF2_LocationRef location(RankId rank, int thread);
    void countEvents(RankId rank, int thread, std::uint64_t events);
    [[nodiscard]] const std::vector<Otf2Location>& locations() const { return m_locations; }
    /// OTF2_UNDEFINED_COMM for what is no communicator, or has members that are not in the recording.
    [[nodiscard]] OTF2_CommRef comm(RankId rank, CommIndex index) const;

    /// To be called last: all that has been asked for. `end` is the time of the last event.
    void write(OTF2_GlobalDefWriter* to, TimeNs end);

  private:
    struct Comm {
        OTF2_CommRef number = OTF2_UNDEFINED_COMM;
        const trace::CommInfo* info = nullptr;
        std::string name;
        std::uint64_t parent = 0; ///< id; 0 none
    };
    void addComms(RankId rank);
    void writeSystem(OTF2_GlobalDefWriter* to);
    void writeComms(OTF2_GlobalDefWriter* to);
    OTF2_GroupRef writeGroup(OTF2_GlobalDefWriter* to, const std::vector<std::int32_t>& members);
    void flushStrings(OTF2_GlobalDefWriter* to);

    const LoadedRecording& m_loaded;
    const Timeline& m_timeline;
    std::map<std::string, OTF2_StringRef> m_strings;
    std::vector<std::string> m_newStrings; ///< numbered, not written yet
    std::map<trace::FunctionId, OTF2_RegionRef> m_regions;
    std::vector<Otf2Location> m_locations;
    std::map<std::pair<int, int>, std::size_t> m_locationOf; ///< by rank and thread
    std::map<std::uint64_t, Comm> m_comms;                   ///< by id
    std::vector<std::uint64_t> m_commOrder;
    std::map<std::vector<std::int32_t>, OTF2_GroupRef> m_groups;
};

/// The collective operation of a call, where OTF2 has one for it.
[[nodiscard]] std::optional<OTF2_CollectiveOp> otf2Operation(const trace::EventDetails& begin);

} // namespace stopline::replay
