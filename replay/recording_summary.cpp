#include "recording_summary.h"

#include "call_words.h"
#include "recording_summary_parts.h"
#include "wait_circles.h"
#include "wait_mismatches.h"
#include "words.h"

#include <QDateTime>
#include <QFileInfo>
#include <QTimeZone>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <vector>

namespace stopline::replay {

namespace {

QString fromPath(const std::string& text) {
    return QString::fromStdString(text);
}

QString perCall(std::uint64_t bytes, std::uint64_t calls) {
    return calls == 0 ? QStringLiteral("-")
                      : QString::number(static_cast<double>(bytes) / static_cast<double>(calls), 'f', 3);
}

class Summary {
  public:
    explicit Summary(const LoadedRecording& loaded)
        : m_loaded(loaded), m_timeline(loaded.recording->timeline()), m_tallies(loaded.tallies) {
        for (int i = 0; loaded.tallies.empty() && i < m_timeline.rankCount(); ++i) {
            m_tallies.push_back(tallyTimeline(m_timeline, RankId{i}));
        }
        m_tallies.resize(static_cast<std::size_t>(loaded.file.rankCount()));
    }

    QStringList lines() {
        head();
        ranks();
        calls();
        sizes();
        messages();
        requests();
        races();
        communicators();
        list(QStringLiteral("Problems"), m_loaded.problems);
        list(QStringLiteral("Notes"), m_loaded.notes);
        return m_out;
    }

  private:
    void title(const QString& text) { m_out << QString() << text; }
    void item(const QString& text) { m_out << QStringLiteral("  ") + text; }
    void list(const QString& name, const QStringList& texts) {
        if (texts.isEmpty()) {
            return;
        }
        title(name);
        for (const QString& text : texts) {
            item(text);
        }
    }

    [[nodiscard]] QString where(CallRef call) const {
        return where(call.rank, m_timeline.details(call.rank, m_timeline.call(call).beginDetails).site);
    }

    [[nodiscard]] QString where(RankId rank, CodeAddress site) const {
        const SiteText text = m_loaded.sites.of(rank, site);
        if (text.line > 0) {
            return QStringLiteral("%1:%2").arg(QFileInfo(fromPath(text.file)).fileName()).arg(text.line);
        }
        return text.function.empty() ? fromPath(m_loaded.sites.codeText(rank, site))
                                     : fromPath(text.function);
    }

    /// "rank 1 event 23 MPI_Recv from 0 tag 1  ring.c:22"
    [[nodiscard]] QString callText(CallRef call) const {
        const Call one = m_timeline.call(call);
        return callText(call.rank, one.begin, m_timeline.details(call.rank, one.beginDetails));
    }

    [[nodiscard]] QString callText(RankId rank, EventIndex event, const trace::EventDetails& begin) const {
        const QString place = where(rank, begin.site);
        return QStringLiteral("rank %1 event %2 %3%4")
            .arg(rankText(rank))
            .arg(event.value())
            .arg(detailsText(begin),
                 place.isEmpty() ? QString() : QStringLiteral("  ") + place);
    }

    void head() {
        const RecordingFile& file = m_loaded.file;
        const auto line = [this](const char* name, const QString& text) {
            m_out << QString::fromLatin1(name).leftJustified(11) + text;
        };
        m_out << QStringLiteral("Recording of %1 %2")
                     .arg(file.rankCount())
                     .arg(file.rankCount() == 1 ? QStringLiteral("rank") : QStringLiteral("ranks"));
        QStringList command;
        for (const std::string& word : file.command) {
            command << fromPath(word);
        }
        line("command", command.join(u' '));
        line("directory", fromPath(file.directory));
        line("versions", QStringLiteral("Stopline %1, file format %2, trace format %3")
                             .arg(fromPath(file.stopline))
                             .arg(file.version)
                             .arg(trace::kFormatVersion));
        line("started", QDateTime::fromMSecsSinceEpoch(file.started / 1'000'000, QTimeZone::utc())
                            .toString(QStringLiteral("yyyy-MM-dd hh:mm:ss 'UTC'")));
        line("took", file.took > 0
                         ? QStringLiteral("%1 s").arg(static_cast<double>(file.took) * 1e-9, 0, 'f', 3)
                         : QStringLiteral("not known"));
        line("exit code", file.exitCode >= 0 ? QString::number(file.exitCode) : QStringLiteral("not known"));
        line("whole",
             m_loaded.problems.isEmpty() ? QStringLiteral("yes") : QStringLiteral("no, see Problems"));
        std::map<std::string, std::vector<std::size_t>> hosts;
        for (std::size_t i = 0; i < file.ranks.size(); ++i) {
            hosts[file.ranks[i].present ? file.ranks[i].host : std::string()].push_back(i);
        }
        title(QStringLiteral("Hosts"));
        for (const auto& [host, where] : hosts) {
            item(QStringLiteral("%1  %2").arg(host.empty() ? QStringLiteral("(unknown)") : fromPath(host),
                                              ranksInWords(where)));
        }
        code(QStringLiteral("Programs"), m_loaded.sites.callers());
        code(QStringLiteral("MPI"), m_loaded.sites.libraries());
    }

    void code(const QString& name, const std::vector<CallSites::Code>& all) {
        if (all.empty()) {
            return;
        }
        title(name);
        for (const CallSites::Code& one : all) {
            item(QStringLiteral("%1  build %2  %3")
                     .arg(fromPath(one.path),
                          one.build.empty() ? QStringLiteral("unknown") : fromPath(one.build),
                          ranksInWords(one.ranks)));
        }
    }

    void ranks() {
        title(QStringLiteral("Ranks"));
        for (int i = 0; i < m_loaded.file.rankCount(); ++i) {
            const RankId rank{i};
            const auto index = static_cast<std::size_t>(i);
            const std::uint32_t count = m_timeline.callCount(rank);
            QString text = QStringLiteral("%1  %2 events, %3 calls, %4")
                               .arg(rankText(rank))
                               .arg(m_timeline.lastEvent(rank).value())
                               .arg(m_tallies[index].calls)
                               .arg(endText(m_loaded.file.ranks[index]));
            const std::uint64_t first = m_loaded.tallies.empty() ? m_loaded.ranks[index].missing + 1 : m_tallies[index].firstEvent;
            if (first > 1) {
                text += QStringLiteral(", history starts at event %1").arg(first);
            }
            if (m_loaded.ranks[index].insideCall && count > 0) {
                text += QStringLiteral(", inside ") + callText({rank, CallIndex{count - 1}}).section(u' ', 2);
            } else if (count > 0 && !hasFinalized(rank)) { // where it was when it ended, as far as calls tell
                text += QStringLiteral(", after ") + callText({rank, CallIndex{count - 1}}).section(u' ', 2);
            }
            item(text);
        }
    }

    [[nodiscard]] bool hasFinalized(RankId rank) const {
        const Call last = m_timeline.call({rank, CallIndex{m_timeline.callCount(rank) - 1}});
        return m_timeline.details(rank, last.beginDetails).function == trace::FunctionId::Finalize;
    }

    void calls() {
        /// Calls and bytes of a function, by rank.
        struct Use {
            std::map<std::uint64_t, std::vector<int>> byCount;
            RankTally::Use all;
        };
        std::map<QString, Use> uses;
        for (std::size_t i = 0; i < m_tallies.size(); ++i) {
            for (const auto& [function, own] : m_tallies[i].uses) {
                Use& use = uses[functionText(function)];
                use.byCount[own.calls].push_back(static_cast<int>(i));
                use.all.calls += own.calls;
                use.all.sent += own.sent;
                use.all.received += own.received;
            }
        }
        title(QStringLiteral("Calls"));
        for (const auto& [name, use] : uses) {
            QStringList parts;
            for (const auto& [count, which] : use.byCount) {
                parts << QStringLiteral("%1 on %2").arg(count).arg(ranksInWords(which));
            }
            QString text = QStringLiteral("%1 %2  %3")
                               .arg(name.leftJustified(24))
                               .arg(use.all.calls, 9)
                               .arg(parts.join(QStringLiteral(", ")));
            if (use.all.sent > 0) {
                text += QStringLiteral("; %1 bytes sent").arg(use.all.sent);
            }
            if (use.all.received > 0) {
                text += QStringLiteral("; %1 bytes received").arg(use.all.received);
            }
            item(text);
        }
    }

    void sizes() {
        title(QStringLiteral("Bytes of the recording, and a call"));
        std::uint64_t bytes = 0;
        std::uint64_t calls = 0;
        for (int i = 0; i < m_loaded.file.rankCount(); ++i) {
            const std::uint64_t own = m_loaded.ranks[static_cast<std::size_t>(i)].bytes;
            const std::uint64_t count = m_tallies[static_cast<std::size_t>(i)].calls;
            item(QStringLiteral("%1  %2  %3").arg(rankText(RankId(i))).arg(own).arg(perCall(own, count)));
            bytes += own;
            calls += count;
        }
        item(QStringLiteral("all  %1  %2").arg(bytes).arg(perCall(bytes, calls)));
    }

    /// Where not all events are looked at.
    [[nodiscard]] QString ofLatest() const {
        return m_loaded.latest == 0 ? QString() : QStringLiteral(" (of the latest %1 events; --history-events 0: of all)").arg(m_loaded.latest);
    }

    void messages() {
        title(QStringLiteral("Unmatched messages") + ofLatest());
        const auto end = [](RankId rank) {
            return rank.value() < 0 ? QStringLiteral("any") : rankText(rank);
        };
        static const std::array<QString, 5> kStates{QString(), QStringLiteral("receive posted, not complete"),
                                                    QStringLiteral("sent, not received"),
                                                    QStringLiteral("receive waits, not sent"), QString()};
        const auto open = m_timeline.openMessages();
        std::uint64_t early = 0;
        for (const MessageIndex index : open) {
            const Message& message = m_timeline.messages()[index.value()];
            if (message.state == MessageState::Early && m_loaded.latest != 0) {
                ++early; // left out is what would tell whether it is unmatched
                continue;
            }
            QString text = QStringLiteral("%1 -> %2  %3")
                               .arg(end(message.sender), end(message.receiver),
                                    kStates[static_cast<std::size_t>(message.state)]);
            if (message.send) {
                text += QStringLiteral("  by ") + callText(*message.send);
            }
            if (message.post) {
                text += QStringLiteral("  into ") + callText(*message.post);
            }
            item(text);
        }
        if (early != 0) {
            item(QStringLiteral("%1 whose other half, if any, is older").arg(early));
        }
        if (open.empty()) {
            item(QStringLiteral("none"));
        }
        const auto place = [this](CallRef call) { return where(call).toStdString(); };
        for (const WaitMismatch& mismatch : waitMismatches(m_timeline)) {
            item(QString::fromStdString(mismatchText(m_timeline, mismatch, place)));
        }
        for (const WaitCircle& circle : m_timeline.waitCircles()) {
            item(QString::fromStdString(circleText(m_timeline, circle, place)));
        }
    }

    void requests() {
        title(QStringLiteral("Open requests"));
        bool any = false;
        for (int i = 0; i < m_loaded.file.rankCount(); ++i) {
            for (const RequestTracker::Open& request : m_tallies[static_cast<std::size_t>(i)].open) {
                any = true;
                item(callText(RankId{i}, request.madeBy, request.begin) +
                     (request.persistent ? QStringLiteral("  (persistent, started)") : QString()));
            }
        }
        if (!any) {
            item(QStringLiteral("none"));
        }
    }

    void races() {
        title(QStringLiteral("Races") + ofLatest());
        for (const QString& text : racesByLine(m_timeline, [this](CallRef call) { return where(call); })) {
            item(text);
        }
        for (const QString& text : foundWhileItRan(m_timeline, m_loaded.file)) {
            item(text);
        }
    }

    void communicators() {
        static const std::array<const char*, 14> kKinds{"world",
                                                        "self",
                                                        "dup",
                                                        "split",
                                                        "split by type",
                                                        "create",
                                                        "create from group",
                                                        "intercommunicator",
                                                        "merge",
                                                        "topology",
                                                        "other",
                                                        "with another job",
                                                        "window",
                                                        "file"};
        title(QStringLiteral("Communicators, windows and files"));
        std::unordered_map<std::uint64_t, int> numbers;
        for (int i = 0; i < m_timeline.rankCount(); ++i) {
            const RankId rank{i};
            for (std::uint32_t c = 0;; ++c) {
                const trace::CommInfo& comm = m_timeline.comm(rank, CommIndex{c});
                if (comm.members.empty() && comm.remote.empty() && comm.id == 0) {
                    break; // there are no more
                }
                if (comm.kind == trace::CommKind::Self ||
                    !numbers.emplace(comm.id, static_cast<int>(numbers.size())).second) {
                    continue;
                }
                const auto kind = static_cast<std::size_t>(comm.kind);
                QString text = QStringLiteral("%1  %2")
                                   .arg(numbers[comm.id])
                                   .arg(kind < kKinds.size() ? QString::fromLatin1(kKinds[kind])
                                                             : QStringLiteral("other"));
                if (comm.parent != kNoComm && comm.kind != trace::CommKind::World) {
                    const trace::CommInfo& parent = m_timeline.comm(rank, comm.parent);
                    const auto known = numbers.find(parent.id);
                    text += parent.kind == trace::CommKind::Self ? QStringLiteral(" of self")
                            : known != numbers.end()             ? QStringLiteral(" of %1").arg(known->second)
                                                                 : QString();
                }
                text += QStringLiteral("  %1").arg(ranksInWords(comm.members));
                if (!comm.remote.empty()) {
                    text +=
                        QStringLiteral(" with ") +
                        (comm.remote.front() < 0 ? QStringLiteral("another job") : ranksInWords(comm.remote));
                }
                item(text);
            }
        }
    }

    const LoadedRecording& m_loaded;
    const Timeline& m_timeline;
    std::vector<RankTally> m_tallies; ///< by rank
    QStringList m_out;
};

} // namespace

QStringList summaryLines(const LoadedRecording& loaded) {
    return Summary(loaded).lines();
}

} // namespace stopline::replay
