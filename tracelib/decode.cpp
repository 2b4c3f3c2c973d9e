#include "decode.h"

#include "details_scan.h"
#include "reader.h"

namespace stopline::trace {

namespace {

std::uint64_t readWord(ByteReader& in) {
    std::uint64_t word = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        word |= std::uint64_t{in.byte()} << shift;
    }
    return word;
}

/// All members are of some job, or nothing is said of any.
void readJobs(ByteReader& in, CommInfo& comm) {
    const std::uint64_t members = comm.members.size() + comm.remote.size();
    const std::uint64_t runs = in.varintUpTo(members);
    std::uint64_t named = 0;
    for (std::uint64_t i = 0; i < runs && in.ok(); ++i) {
        const JobKey job = readWord(in);
        const std::uint64_t count = in.varintUpTo(members - named);
        named += count;
        comm.jobs.push_back({job, static_cast<std::uint32_t>(count)});
    }
    if (runs != 0 && named != members) {
        in.fail();
    }
}

} // namespace

bool readDetails(ByteReader& in, EventDetails& d) {
    struct Lists {
        EventDetails& to;
        void request(RequestRef ref) { to.requests.push_back(ref); }
        void completion(const Completion& completion) { to.completions.push_back(completion); }
        void peer(std::int32_t rank) { to.peers.push_back(rank); }
    };
    return scanDetails(in, d, Lists{d});
}

bool readComm(ByteReader& in, CommInfo& comm) {
    comm = CommInfo{};
    comm.id = readWord(in);
    const std::uint8_t kind = in.byte();
    if (kind > static_cast<std::uint8_t>(CommKind::File)) {
        in.fail();
        return false;
    }
    comm.kind = static_cast<CommKind>(kind);
    comm.parent = CommIndex{static_cast<std::uint32_t>(in.varintUpTo(kMax32))};
    comm.ordinal = static_cast<std::uint32_t>(in.varintUpTo(kMax32));
    readRanks(in, kMaxMembers, [&comm](std::int32_t rank) { comm.members.push_back(rank); });
    readRanks(in, kMaxMembers, [&comm](std::int32_t rank) { comm.remote.push_back(rank); });
    readJobs(in, comm);
    return in.ok();
}

bool decodeDetails(std::span<const std::byte> bytes, EventDetails& details, std::size_t& used) {
    ByteReader in(bytes);
    const bool good = readDetails(in, details);
    used = good ? in.used() : 0;
    return good;
}

DetailsView viewOf(const EventDetails& d) {
    DetailsView view;
    view.kind = d.kind;
    view.flag = d.flag;
    view.truncated = d.truncated;
    view.shared = d.shared;
    view.function = d.function;
    view.thread = d.thread;
    view.site = d.site;
    view.comm = d.comm;
    view.sendPeer = d.sendPeer;
    view.sendTag = d.sendTag;
    view.sendBytes = d.sendBytes;
    view.recvPeer = d.recvPeer;
    view.recvTag = d.recvTag;
    view.recvBytes = d.recvBytes;
    view.root = d.root;
    view.error = d.error;
    view.errorCode = d.errorCode;
    view.status = d.status;
    view.newComm = d.newComm;
    view.message = d.message;
    view.mode = d.mode;
    view.requests = d.requests.data();
    view.requestCount = static_cast<std::uint32_t>(d.requests.size());
    view.completions = d.completions.data();
    view.completionCount = static_cast<std::uint32_t>(d.completions.size());
    view.peers = d.peers.data();
    view.peerCount = static_cast<std::uint32_t>(d.peers.size());
    return view;
}

std::vector<std::byte> encodeDetails(const EventDetails& d) {
    const DetailsView view = viewOf(d);
    // No field takes more than twelve bytes, no list entry more than eight such fields with their run.
    std::vector<std::byte> bytes(256 + 24 * (d.requests.size() + d.peers.size()) + 96 * d.completions.size());
    bytes.resize(encodeDetails(view, bytes.data(), bytes.size()));
    return bytes;
}

std::uint8_t encodeDelta(TimeNs delta) {
    return codeOfDelta(delta);
}

TimeNs decodeDelta(std::uint8_t code) {
    return deltaOfCode(code);
}

} // namespace stopline::trace
