#include "export_otf2.h"

#ifdef STOPLINE_HAS_OTF2

#include "otf2_definitions.h"

#include <QFile>
#include <QFileInfo>

#include <array>
#include <cstdarg>
#include <cstdio>

namespace stopline::replay {

namespace {

constexpr std::uint64_t kChunkBytes = 1u << 20;

OTF2_FlushType beforeFlush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
    return OTF2_FLUSH;
}

/// Keeps the first thing that the library complains about, in place of printing it.
OTF2_ErrorCode onError(void* to, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                       const char* format, va_list values) {
    auto* text = static_cast<QString*>(to);
    if (text != nullptr && text->isEmpty()) {
        std::array<char, 512> said{};
        std::vsnprintf(said.data(), said.size(), format, values);
        *text = QStringLiteral("%1: %2").arg(QString::fromUtf8(OTF2_Error_GetDescription(code)),
                                             QString::fromUtf8(said.data()));
    }
    return code;
}

class ArchiveWriter {
  public:
    ArchiveWriter(const LoadedRecording& loaded, OTF2_Archive* archive)
        : m_loaded(loaded), m_timeline(loaded.recording->timeline()), m_archive(archive),
          m_definitions(loaded), m_attributes(OTF2_AttributeList_New()) {}
    ~ArchiveWriter() { OTF2_AttributeList_Delete(m_attributes); }
    ArchiveWriter(const ArchiveWriter&) = delete;
    ArchiveWriter& operator=(const ArchiveWriter&) = delete;

    void write() {
        for (int i = 0; i < m_timeline.rankCount(); ++i) {
            const RankId rank{i};
            if (m_timeline.lastEvent(rank).value() > 0) {
                m_end = std::max(m_end, m_timeline.axisTime(rank, m_timeline.lastEvent(rank)));
            }
        }
        OTF2_Archive_OpenEvtFiles(m_archive);
        for (int i = 0; i < m_timeline.rankCount(); ++i) {
            writeRank(RankId{i});
        }
        OTF2_Archive_CloseEvtFiles(m_archive);
        // Readers want a file of local definitions for each location, also without any.
        OTF2_Archive_OpenDefFiles(m_archive);
        for (const Otf2Location& location : m_definitions.locations()) {
            OTF2_Archive_CloseDefWriter(m_archive, OTF2_Archive_GetDefWriter(m_archive, location.number));
        }
        OTF2_Archive_CloseDefFiles(m_archive);
        OTF2_GlobalDefWriter* definitions = OTF2_Archive_GetGlobalDefWriter(m_archive);
        m_definitions.write(definitions, m_end);
        OTF2_Archive_CloseGlobalDefWriter(m_archive, definitions);
    }

  private:
    void writeRank(RankId rank) {
        m_rank = rank;
        m_created = 0;
        m_pending.clear();
        std::map<int, OTF2_EvtWriter*> writers;
        std::map<int, std::vector<OTF2_RegionRef>> inside; ///< by thread
        for (std::uint64_t number = m_timeline.firstEvent(rank).value(); number <= m_timeline.lastEvent(rank).value(); ++number) {
            const EventIndex event{number};
            const CallRef ref = *m_timeline.callAt(rank, event);
            const Call call = m_timeline.call(ref);
            m_begin = &m_timeline.details(rank, call.beginDetails);
            const int thread = m_begin->thread;
            OTF2_EvtWriter*& writer = writers[thread];
            if (writer == nullptr) {
                writer = OTF2_Archive_GetEvtWriter(m_archive, m_definitions.location(rank, thread));
            }
            m_writer = writer;
            m_time = static_cast<OTF2_TimeStamp>(std::max<TimeNs>(0, m_timeline.axisTime(rank, event)));
            const OTF2_RegionRef region = m_definitions.region(m_begin->function);
            if (m_timeline.isBegin(rank, event)) {
                enter(region);
                inside[thread].push_back(region);
                begin();
            } else {
                end(m_timeline.details(rank, m_timeline.eventDetails(rank, event)));
                OTF2_EvtWriter_Leave(m_writer, nullptr, m_time, region);
                if (!inside[thread].empty()) {
                    inside[thread].pop_back();
                }
            }
        }
        for (const auto& [thread, writer] : writers) {
            for (const OTF2_RegionRef region : inside[thread]) {
                OTF2_EvtWriter_Leave(writer, nullptr, static_cast<OTF2_TimeStamp>(m_end), region);
            }
            std::uint64_t count = 0;
            OTF2_EvtWriter_GetNumberOfEvents(writer, &count);
            m_definitions.countEvents(rank, thread, count);
            OTF2_Archive_CloseEvtWriter(m_archive, writer);
        }
    }

    void enter(OTF2_RegionRef region) {
        const SiteText where = m_loaded.sites.of(m_rank, m_begin->site);
        if (where.line > 0) {
            OTF2_AttributeList_AddStringRef(m_attributes, Otf2Definitions::kFileAttribute,
                                            m_definitions.string(where.file));
            OTF2_AttributeList_AddUint32(m_attributes, Otf2Definitions::kLineAttribute,
                                         static_cast<std::uint32_t>(where.line));
        }
        OTF2_EvtWriter_Enter(m_writer, m_attributes, m_time, region); // which empties the list
    }

    /// A send or receive that a request stands for.
    struct Pending {
        bool send = false;
        OTF2_CommRef comm = OTF2_UNDEFINED_COMM;
        const trace::EventDetails* begin = nullptr;
    };

    void begin() {
        const trace::CallClass what = trace::functionClass(m_begin->function);
        const OTF2_CommRef comm = m_definitions.comm(m_rank, m_begin->comm);
        const bool sends = m_begin->sendPeer >= 0 && comm != OTF2_UNDEFINED_COMM;
        if (trace::createsRequest(what)) {
            ++m_created;
        }
        switch (what) {
        case trace::CallClass::Send:
        case trace::CallClass::Sendrecv:
            if (sends) {
                OTF2_EvtWriter_MpiSend(m_writer, nullptr, m_time,
                                       static_cast<std::uint32_t>(m_begin->sendPeer), comm,
                                       static_cast<std::uint32_t>(m_begin->sendTag), m_begin->sendBytes);
            }
            break;
        case trace::CallClass::Isend:
        case trace::CallClass::Irecv:
        case trace::CallClass::Imrecv:
        case trace::CallClass::SendInit:
        case trace::CallClass::RecvInit: {
            const bool send = what == trace::CallClass::Isend || what == trace::CallClass::SendInit;
            if (comm == OTF2_UNDEFINED_COMM || (send ? m_begin->sendPeer : m_begin->recvPeer) == kProcNull) {
                break;
            }
            m_pending[m_created] = {send, comm, m_begin};
            if (what != trace::CallClass::SendInit && what != trace::CallClass::RecvInit) {
                start(m_created);
            }
            break;
        }
        case trace::CallClass::Start:
            for (const trace::RequestRef ref : m_begin->requests) {
                start(serial(ref));
            }
            break;
        case trace::CallClass::Collective:
        case trace::CallClass::CommCreate:
        case trace::CallClass::CommFree:
            if (comm != OTF2_UNDEFINED_COMM && otf2Operation(*m_begin)) {
                OTF2_EvtWriter_MpiCollectiveBegin(m_writer, nullptr, m_time);
            }
            break;
        default:
            break;
        }
    }

    [[nodiscard]] std::uint64_t serial(trace::RequestRef ref) const {
        return ref.back == trace::RequestRef::kNull || ref.back == trace::RequestRef::kUnknown ||
                       ref.back > m_created
                   ? 0
                   : m_created - ref.back;
    }

    void start(std::uint64_t number) {
        const auto found = m_pending.find(number);
        if (found == m_pending.end()) {
            return;
        }
        const Pending& request = found->second;
        if (request.send) {
            OTF2_EvtWriter_MpiIsend(
                m_writer, nullptr, m_time, static_cast<std::uint32_t>(request.begin->sendPeer), request.comm,
                static_cast<std::uint32_t>(request.begin->sendTag), request.begin->sendBytes, number);
        } else {
            OTF2_EvtWriter_MpiIrecvRequest(m_writer, nullptr, m_time, number);
        }
    }

    void end(const trace::EventDetails& end) {
        const trace::CallClass what = trace::functionClass(m_begin->function);
        const OTF2_CommRef comm = m_definitions.comm(m_rank, m_begin->comm);
        const bool receives = what == trace::CallClass::Recv || what == trace::CallClass::Sendrecv ||
                              what == trace::CallClass::Mrecv;
        if (receives && end.status.source >= 0 && comm != OTF2_UNDEFINED_COMM) {
            OTF2_EvtWriter_MpiRecv(m_writer, nullptr, m_time, static_cast<std::uint32_t>(end.status.source),
                                   comm, static_cast<std::uint32_t>(end.status.tag), end.status.bytes);
        }
        if (end.function != trace::FunctionId::Request_get_status) {
            for (const trace::Completion& completion : end.completions) {
                completed(completion);
            }
        }
        if (const auto operation = otf2Operation(*m_begin); operation && comm != OTF2_UNDEFINED_COMM) {
            const std::uint32_t root = m_begin->root == kRootInter  ? OTF2_COLLECTIVE_ROOT_SELF
                                       : m_begin->root == kProcNull ? OTF2_COLLECTIVE_ROOT_THIS_GROUP
                                       : m_begin->root >= 0 ? static_cast<std::uint32_t>(m_begin->root)
                                                            : OTF2_COLLECTIVE_ROOT_NONE;
            OTF2_EvtWriter_MpiCollectiveEnd(m_writer, nullptr, m_time, *operation, comm, root,
                                            m_begin->sendBytes, m_begin->recvBytes);
        }
    }

    void completed(const trace::Completion& completion) {
        const std::uint64_t number = serial(completion.request);
        const auto found = m_pending.find(number);
        if (found == m_pending.end()) {
            return;
        }
        const Pending request = found->second;
        if (trace::functionClass(request.begin->function) != trace::CallClass::SendInit &&
            trace::functionClass(request.begin->function) != trace::CallClass::RecvInit) {
            m_pending.erase(found);
        }
        if (completion.status.cancelled) {
            OTF2_EvtWriter_MpiRequestCancelled(m_writer, nullptr, m_time, number);
        } else if (request.send) {
            OTF2_EvtWriter_MpiIsendComplete(m_writer, nullptr, m_time, number);
        } else if (completion.status.source >= 0) {
            OTF2_EvtWriter_MpiIrecv(
                m_writer, nullptr, m_time, static_cast<std::uint32_t>(completion.status.source), request.comm,
                static_cast<std::uint32_t>(completion.status.tag), completion.status.bytes, number);
        }
    }

    const LoadedRecording& m_loaded;
    const Timeline& m_timeline;
    OTF2_Archive* m_archive;
    Otf2Definitions m_definitions;
    OTF2_AttributeList* m_attributes;
    TimeNs m_end = 0;
    // Of the rank and event at hand.
    RankId m_rank{0};
    const trace::EventDetails* m_begin = nullptr;
    OTF2_EvtWriter* m_writer = nullptr;
    OTF2_TimeStamp m_time = 0;
    std::uint64_t m_created = 0;
    std::map<std::uint64_t, Pending> m_pending; ///< by serial
};

} // namespace

bool hasOtf2() {
    return true;
}

QString exportOtf2(const LoadedRecording& loaded, const QString& directory) {
    if (QFileInfo::exists(directory)) {
        return QStringLiteral("%1 exists already; an OTF2 archive is a new directory").arg(directory);
    }
    QString wrong;
    OTF2_Error_RegisterCallback(onError, &wrong);
    OTF2_Archive* archive =
        OTF2_Archive_Open(QFile::encodeName(directory).constData(), "traces", OTF2_FILEMODE_WRITE,
                          kChunkBytes, 4 * kChunkBytes, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive != nullptr) {
        const OTF2_FlushCallbacks flush{beforeFlush, nullptr};
        OTF2_Archive_SetFlushCallbacks(archive, &flush, nullptr);
        OTF2_Archive_SetSerialCollectiveCallbacks(archive);
        OTF2_Archive_SetCreator(archive, "Stopline");
        ArchiveWriter(loaded, archive).write();
        OTF2_Archive_Close(archive);
    } else if (wrong.isEmpty()) {
        wrong = QStringLiteral("%1 cannot be made").arg(directory);
    }
    OTF2_Error_RegisterCallback(onError, nullptr);
    return wrong;
}

} // namespace stopline::replay

#else

namespace stopline::replay {

bool hasOtf2() {
    return false;
}

QString exportOtf2(const LoadedRecording&, const QString&) {
    return QStringLiteral(
        "this Stopline was built without OTF2: install libopen-trace-format2-dev and build it again");
}

} // namespace stopline::replay

#endif
