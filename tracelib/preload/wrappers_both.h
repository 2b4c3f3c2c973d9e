// Calls that send and receive. Part of wrappers.h.
#pragma once

#include "wrappers.h"

namespace stopline::preload {

/// The messages of a call that sends and receives.
struct BothWays {
    Way out;
    Way in;
};
template <FunctionId F>
BothWays bothWays(const Args& a) {
    constexpr FunctionId kPlain = trace::plainFunction(F);
    if constexpr (kPlain == FunctionId::Sendrecv_replace || kPlain == FunctionId::Isendrecv_replace) {
        const std::uint64_t bytes = bytesOf(a.count, a.datatype);
        return {{a.comm, a.dest, a.sendtag, bytes}, {a.comm, a.source, a.recvtag, bytes}};
    } else {
        return {{a.comm, a.dest, a.sendtag, bytesOf(a.sendcount, a.sendtype)},
                {a.comm, a.source, a.recvtag, bytesOf(a.recvcount, a.recvtype)}};
    }
}

template <FunctionId F, typename Call>
int tracedSendrecv(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    const BothWays ways = bothWays<F>(a);
    Facts facts = ways.out.facts();
    facts.words[3] = bothOf(ways.in.peer, ways.in.tag);
    facts.words[4] = ways.in.bytes;
    return received<F>(
        frame, a, facts,
        [&](DetailsView& d) {
            ways.out.fillSend(d);
            ways.in.fillReceive(d);
        },
        call);
}

/// Both ways in one request. Its status is that of the receive by the standard, but MPICH 4.0 leaves it as it
/// was: it is not looked at, and what a wildcard got stays unknown.
template <FunctionId F, typename Call>
int tracedIsendrecv(const Args& a, CodeAddress site, Call call) {
    const BothWays ways = bothWays<F>(a);
    return tracedCreate<F>(
        a, site, RequestKind::Plain,
        [&] {
            if (sent.on()) [[unlikely]] {
                addExchanged<F>(a);
            }
            return call();
        },
        [&](DetailsView& d) {
            ways.out.fillSend(d);
            ways.in.fillReceive(d);
        });
}

} // namespace stopline::preload
