// How a recorded job has gone, and the end of its file.
#include "loaded_recording.h"
#include "recording_job_rank.h"
#include "recording_sites.h"
#include "words.h"

#include <QFile>

#include <csignal>
#include <cstring>
#include <set>
#include <sys/wait.h>

namespace stopline::replay {

quint64 RecordingJob::eventsSeen() const {
    quint64 sum = 0;
    for (const auto& rank : m_ranks) {
        if (rank == nullptr) {
            continue;
        }
        const trace::RankImage& image = rank->link.isNull() ? rank->image : rank->link->image();
        if (image.header.size() >= sizeof(trace::MappingHeader)) {
            const auto* header = reinterpret_cast<const trace::MappingHeader*>(image.header.data());
            sum += header->eventCount.load(std::memory_order_relaxed);
        }
    }
    return sum;
}

QString RecordingJob::failure() const {
    // The launcher ends the others when one has failed: those say nothing.
    const auto weight = [](int status) {
        return status == -1                                                                        ? 1
               : WIFSIGNALED(status) && WTERMSIG(status) != SIGTERM && WTERMSIG(status) != SIGKILL ? 4
               : WIFEXITED(status) && WEXITSTATUS(status) != 0                                     ? 3
               : WIFSIGNALED(status)                                                               ? 2
                                                                                                   : 0;
    };
    const Rank* worst = nullptr;
    for (const auto& rank : m_ranks) {
        if (rank != nullptr && rank->complete && weight(rank->waitStatus) > (worst == nullptr ? 0 : weight(worst->waitStatus))) {
            worst = rank.get();
        }
    }
    if (worst == nullptr) {
        return {};
    }
    RecordedRank ended;
    ended.waitStatus = worst->waitStatus;
    return QStringLiteral("rank %1 %2").arg(rankText(RankId{worst->number})).arg(endText(ended));
}

std::string RecordingJob::sites() const {
    std::set<SiteKey> keys;
    for (const auto& rank : m_ranks) {
        if (rank == nullptr || rank->link.isNull()) {
            continue;
        }
        const std::vector<CodeModule> modules = parseModules(rank->modules);
        std::set<std::uint64_t> addresses = callSitesOf(rank->link->image());
        addresses.insert(rank->sites.begin(), rank->sites.end());
        for (const std::uint64_t address : addresses) {
            if (const CodeModule* module = moduleOf(modules, CodeAddress{address}); module != nullptr) {
                keys.insert(siteKey(*module, CodeAddress{address}));
            }
        }
    }
    return encodeSites(resolveSites(keys, m_started));
}

void RecordingJob::writeFile() {
    const qint64 took = m_clock.nsecsElapsed();
    if (m_ranks.empty()) {
        m_writer.discard();
        if (!m_startFailed) {
            emit said(
                QStringLiteral(
                    "the launcher ended with code %1 before any rank had started: nothing is recorded. The "
                    "same command without Stopline should show the same.")
                    .arg(m_exitCode));
        }
        emit finished(m_exitCode != 0 ? m_exitCode : 1);
        return;
    }
    if (eventsSeen() == 0 && QFile::exists(m_file)) { // a mistyped program must not cost the recording of the right one
        m_writer.discard();
        emit said(QStringLiteral("No rank has called MPI: nothing is recorded, and %1 stays as it was.").arg(m_file));
        emit finished(m_exitCode);
        return;
    }
    m_writer.releaseReserve();
    bool whole = true;
    for (const Chunk& chunk : m_unwritten) { // small ones first
        whole = m_writer.add(chunk.type, chunk.rank, chunk.bytes) && whole;
    }
    for (const auto& rank : m_ranks) {
        if (rank != nullptr && rank->unwritten) {
            keep(*rank, true);
            whole = whole && !rank->unwritten;
        }
    }
    if (m_input != nullptr && (m_input->ended() || !m_input->bytes().isEmpty())) {
        const bool end = m_input->ended() && !m_input->cutShort();
        whole = m_writer.add(ChunkType::Input, -1, (end ? "e" : "-") + m_input->bytes().toStdString()) && whole;
        if (m_input->cutShort()) {
            emit said(QStringLiteral("The job has read more than %1 MiB of standard input: no more than that is kept, and given "
                                     "to it again when the recording is executed.")
                          .arg(InputTee::kMostBytes >> 20));
        }
    }
    if (m_input == nullptr) {
        QFile file(m_spec.inputFile);
        if (file.size() <= InputTee::kMostBytes && file.open(QIODevice::ReadOnly)) {
            whole = m_writer.add(ChunkType::Input, -1, "e" + file.readAll().toStdString()) && whole;
        }
    }
    const int fault = m_writer.fault();
    whole = m_writer.add(ChunkType::Sites, -1, sites()) && whole;
    const std::string lost = whole ? std::string() : std::strerror(fault != 0 ? fault : m_writer.fault());
    m_writer.add(ChunkType::End, -1,
                 encodeFileFields(
                     {{"took", std::to_string(took)}, {"code", std::to_string(m_exitCode)}, {"lost", lost}}));
    const std::string wrong = m_writer.finish();
    if (!wrong.empty()) {
        emit said(QStringLiteral("%1 cannot be given its name %2: %3.")
                      .arg(QString::fromLocal8Bit(m_writer.partName().c_str()), m_file,
                           QString::fromLocal8Bit(wrong.c_str())));
    } else if (!whole) {
        emit said(QStringLiteral("%1 is not whole: %2. What is in it can be opened.")
                      .arg(m_file, QString::fromStdString(lost)));
    }
    emit finished(m_exitCode == 0 && !wrong.empty() ? 1 : m_exitCode);
}

} // namespace stopline::replay
