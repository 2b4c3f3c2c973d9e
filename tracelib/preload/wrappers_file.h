// MPI-IO. Part of wrappers.h.
#pragma once

#include "wrappers.h"

namespace stopline::preload {

/// Whether a call on a file takes data out of it.
constexpr bool readsFile(FunctionId function) {
    switch (trace::plainFunction(function)) {
    case FunctionId::File_read:
    case FunctionId::File_read_at:
    case FunctionId::File_read_all:
    case FunctionId::File_read_at_all:
    case FunctionId::File_read_shared:
    case FunctionId::File_read_ordered:
    case FunctionId::File_read_all_begin:
    case FunctionId::File_read_at_all_begin:
    case FunctionId::File_read_ordered_begin:
    case FunctionId::File_iread:
    case FunctionId::File_iread_at:
    case FunctionId::File_iread_shared:
    case FunctionId::File_iread_all:
    case FunctionId::File_iread_at_all:
        return true;
    default:
        return false;
    }
}

template <FunctionId F>
void fillFile(DetailsView& d, const Args& a) {
    d.comm = rank.comms.indexOf(keyOf(a.fh));
    (readsFile(F) ? d.recvBytes : d.sendBytes) = bytesOf(a.count, a.datatype);
}

template <FunctionId F, typename Call>
int tracedFileOpen(const Args& a, CodeAddress site, Call call) {
    return tracedMake<F>(
        a, site, trace::CommKind::File, [&] { return *a.fhPointer; }, call,
        [&](DetailsView& d) { d.mode = a.amode; });
}

template <FunctionId F, typename Call>
int tracedFileClose(const Args& a, CodeAddress site, Call call) {
    const MPI_File closed = *a.fhPointer;
    return tracedUnmake<F>(
        site, closed, [&] { return rank.comms.indexOf(keyOf(closed)); }, call);
}

/// A call on a file, described by `fill`: how many bytes it moved is in its status, if it has one.
template <FunctionId F, typename Call, typename Fill>
int onFile(const Args& a, CodeAddress site, Call call, Fill fill) {
    Frame frame(F, site);
    if constexpr (std::is_invocable_v<Call, MPI_Status*>) {
        StatusPlace status(a.status);
        return performed(
            frame, fill, [&] { return call(status.place()); },
            [&](DetailsView& d, int code) {
                if (code == MPI_SUCCESS) {
                    d.status.bytes = statusBytes(*status.place());
                }
            });
    } else {
        return performed(frame, fill, call);
    }
}

template <FunctionId F, typename Call>
int tracedFileCall(const Args& a, CodeAddress site, Call call) {
    return onFile<F>(a, site, call, [&](DetailsView& d) { fillFile<F>(d, a); });
}
template <FunctionId F, typename Call>
int tracedFileCollective(const Args& a, CodeAddress site, Call call) {
    return tracedFileCall<F>(a, site, call);
}

template <FunctionId F, typename Call>
int tracedFileBegin(const Args& a, CodeAddress site, Call call) {
    return tracedFileCall<F>(a, site, call);
}
template <FunctionId F, typename Call>
int tracedFileEnd(const Args& a, CodeAddress site, Call call) {
    return onFile<F>(a, site, call, [&](DetailsView& d) { d.comm = rank.comms.indexOf(keyOf(a.fh)); });
}

template <FunctionId F, typename Call>
int tracedFileRequest(const Args& a, CodeAddress site, Call call) {
    return tracedCreate<F>(a, site, RequestKind::File, call, [&](DetailsView& d) { fillFile<F>(d, a); });
}
template <FunctionId F, typename Call>
int tracedFileIcollective(const Args& a, CodeAddress site, Call call) {
    return tracedFileRequest<F>(a, site, call);
}

/// Ports, names, deleted files.
template <FunctionId F, typename Call>
int tracedService(const Args&, CodeAddress site, Call call) {
    Frame frame(F, site);
    return performed(
        frame, [](DetailsView&) {}, call);
}

} // namespace stopline::preload
