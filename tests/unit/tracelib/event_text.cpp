#include "event_text.h"

using namespace stopline;
using namespace stopline::trace;

namespace {

std::string peer(std::int32_t rank) {
    return rank == kAnySource   ? "any"
           : rank == kProcNull  ? "null"
           : rank == kRootInter ? "root"
           : rank == kNoPeer    ? "-"
                                : std::to_string(rank);
}
std::string tagText(std::int32_t tag) {
    return tag == kAnyTag ? "any" : tag == kNoTag ? "-" : std::to_string(tag);
}
std::string refText(RequestRef ref, std::uint32_t created) {
    return ref.back == RequestRef::kNull      ? "null"
           : ref.back == RequestRef::kUnknown ? "?"
                                              : std::to_string(created - ref.back);
}
std::string statusText(const Status& s) {
    return peer(s.source) + "/" + tagText(s.tag) + "/" + std::to_string(s.bytes) +
           (s.cancelled ? "/cancelled" : "");
}

/// Name of the class, and what the call returned or the status said.
std::string errorText(ErrorClass error, std::int32_t code) {
    const std::string name(errorName(error));
    return (name.rfind("MPI_ERR_", 0) == 0 ? name.substr(8) : "own") + "/" + std::to_string(code);
}

} // namespace

std::string eventText(std::uint64_t number, const EventDetails& d, const DecodedEvent& event,
                      std::uint32_t created, std::uint32_t matched) {
    std::string t = std::to_string(number) + (d.kind == EventKind::Begin ? " B " : " E ");
    t += std::string(functionName(d.function)).substr(4);
    const auto add = [&t](const std::string& text) { t += " " + text; };
    if (d.thread != 0) {
        add("thread=" + std::to_string(d.thread));
    }
    if (d.comm != kNoComm) {
        add("c" + std::to_string(d.comm.value()));
    }
    if (d.sendPeer != kNoPeer) {
        add("to=" + peer(d.sendPeer) + "/" + tagText(d.sendTag));
    }
    if (d.recvPeer != kNoPeer) {
        add("from=" + peer(d.recvPeer) + "/" + tagText(d.recvTag));
    }
    if (d.root != kNoPeer) {
        add("root=" + peer(d.root));
    }
    if (d.sendBytes != 0) {
        add("out=" + std::to_string(d.sendBytes));
    }
    if (d.recvBytes != 0) {
        add("in=" + std::to_string(d.recvBytes));
    }
    if (!d.requests.empty()) {
        std::string list;
        for (const RequestRef& ref : d.requests) {
            list += (list.empty() ? "" : ",") + refText(ref, created);
        }
        add("req=" + list);
    }
    if (d.mode != 0) {
        add("mode=" + std::to_string(d.mode));
    }
    if (d.message != RequestRef{}) {
        add("message=" + refText(d.message, matched));
    }
    if (!d.peers.empty()) {
        std::string list;
        for (const std::int32_t rank : d.peers) {
            list += (list.empty() ? "" : ",") + std::to_string(rank);
        }
        add("peers=" + list);
    }
    if (d.error != ErrorClass::Success) {
        add("error=" + errorText(d.error, d.errorCode));
    }
    if (!d.flag) {
        add("flag=false");
    }
    if (d.truncated) {
        add("truncated");
    }
    if (d.status != Status{}) {
        add("status=" + statusText(d.status));
    }
    for (const Completion& done : d.completions) {
        add("done=" + std::to_string(done.index) + ":" + refText(done.request, created) +
            (done.status == Status{} ? std::string() : ":" + statusText(done.status)) +
            (done.error == ErrorClass::Success ? std::string()
                                               : ":error=" + errorText(done.error, done.errorCode)));
    }
    if (d.newComm != kNoComm) {
        add("new=c" + std::to_string(d.newComm.value()));
    }
    if (d.kind == EventKind::End && isPoll(functionClass(d.function))) {
        add("failures=" + std::to_string(event.pollFailures));
    }
    return t;
}

std::string listText(const std::vector<std::int32_t>& list) {
    std::string t;
    for (const std::int32_t v : list) {
        t += (t.empty() ? "" : ",") + std::to_string(v);
    }
    return "[" + t + "]";
}
