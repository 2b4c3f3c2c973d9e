#include "export_chrome.h"

#include "call_words.h"
#include "words.h"

#include <QDateTime>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <set>

namespace stopline::replay {

namespace {

/// Nanoseconds as microseconds with all their digits.
QByteArray micros(TimeNs time) {
    const TimeNs whole = time / 1000;
    const TimeNs rest = time % 1000;
    return QByteArray::number(qint64{whole}) + '.' + QByteArray::number(qint64{rest}).rightJustified(3, '0');
}

QByteArray quoted(const QString& text) {
    const QByteArray array = QJsonDocument(QJsonArray{text}).toJson(QJsonDocument::Compact);
    return array.mid(1, array.size() - 2);
}

class Export {
  public:
    Export(const LoadedRecording& loaded, QIODevice& out)
        : m_loaded(loaded), m_timeline(loaded.recording->timeline()), m_out(out) {}

    QString run() {
        for (int i = 0; i < m_timeline.rankCount(); ++i) {
            const RankId rank{i};
            if (m_timeline.lastEvent(rank).value() > 0) {
                m_end = std::max(m_end, m_timeline.axisTime(rank, m_timeline.lastEvent(rank)));
            }
        }
        write("{\"displayTimeUnit\":\"ns\",\"otherData\":" + otherData() + ",\"traceEvents\":[");
        for (int i = 0; i < m_timeline.rankCount() && m_error.isEmpty(); ++i) {
            writeRank(RankId{i});
        }
        writeMessages();
        write("\n]}\n");
        return m_error;
    }

  private:
    void write(const QByteArray& bytes) {
        if (m_error.isEmpty() && m_out.write(bytes) != bytes.size()) {
            m_error = m_out.errorString();
        }
    }
    void event(const QByteArray& fields) {
        write((m_first ? "\n{" : ",\n{") + fields + '}');
        m_first = false;
    }

    [[nodiscard]] QByteArray otherData() const {
        const RecordingFile& file = m_loaded.file;
        QStringList command;
        for (const std::string& word : file.command) {
            command << QString::fromStdString(word);
        }
        return QJsonDocument(QJsonObject{{QStringLiteral("command"), command.join(u' ')},
                                         {QStringLiteral("stopline"), QString::fromStdString(file.stopline)},
                                         {QStringLiteral("started"),
                                          QDateTime::fromMSecsSinceEpoch(file.started / 1'000'000, Qt::UTC)
                                              .toString(Qt::ISODate)}})
            .toJson(QJsonDocument::Compact);
    }

    [[nodiscard]] TimeNs beginOf(CallRef ref) const {
        return m_timeline.axisTime(ref.rank, m_timeline.call(ref).begin);
    }
    [[nodiscard]] TimeNs endOf(CallRef ref) const {
        const EventIndex end = m_timeline.call(ref).end;
        return std::max(beginOf(ref), end.value() == 0 ? m_end : m_timeline.axisTime(ref.rank, end));
    }
    [[nodiscard]] int threadOf(CallRef ref) const {
        return m_timeline.details(ref.rank, m_timeline.call(ref).beginDetails).thread;
    }

    void name(int process, int thread, const char* what, const QString& text) {
        event(QByteArray("\"ph\":\"M\",\"pid\":") + QByteArray::number(process) +
              ",\"tid\":" + QByteArray::number(thread) + ",\"name\":\"" + what +
              "\",\"args\":{\"name\":" + quoted(text) + '}');
    }

    void writeRank(RankId rank) {
        const RecordedRank& from = m_loaded.file.ranks[static_cast<std::size_t>(rank.value())];
        name(rank.value(), 0, "process_name",
             QStringLiteral("rank %1 (%2)").arg(rankText(rank)).arg(QString::fromStdString(from.host)));
        event("\"ph\":\"M\",\"pid\":" + QByteArray::number(rank.value()) +
              ",\"tid\":0,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":" +
              QByteArray::number(rank.value()) + '}');
        std::set<int> threads;
        for (std::uint32_t i = 0; i < m_timeline.callCount(rank) && m_error.isEmpty(); ++i) {
            const CallRef ref{rank, CallIndex{i}};
            if (const int thread = threadOf(ref); threads.insert(thread).second) {
                name(rank.value(), thread, "thread_name",
                     thread == 0 ? QStringLiteral("main thread") : QStringLiteral("thread %1").arg(thread));
            }
            writeCall(ref);
        }
    }

    void writeCall(CallRef ref) {
        const Call call = m_timeline.call(ref);
        const trace::EventDetails& begin = m_timeline.details(ref.rank, call.beginDetails);
        QJsonObject arguments{{QStringLiteral("event"), static_cast<qint64>(call.begin.value())},
                              {QStringLiteral("call"), detailsText(begin)}};
        if (begin.comm != kNoComm) {
            arguments.insert(QStringLiteral("comm"),
                             QStringLiteral("0x%1").arg(m_timeline.comm(ref.rank, begin.comm).id, 0, 16));
        }
        if (begin.sendPeer != kNoPeer || begin.sendBytes > 0) {
            arguments.insert(QStringLiteral("bytes sent"), static_cast<qint64>(begin.sendBytes));
        }
        const SiteText where = m_loaded.sites.of(ref.rank, begin.site);
        if (where.line > 0) {
            arguments.insert(QStringLiteral("file"), QString::fromStdString(where.file));
            arguments.insert(QStringLiteral("line"), where.line);
        }
        if (!where.function.empty()) {
            arguments.insert(QStringLiteral("function"), QString::fromStdString(where.function));
        }
        if (call.end.value() == 0) {
            arguments.insert(QStringLiteral("unfinished"), true);
        } else {
            const trace::EventDetails& end = m_timeline.details(ref.rank, call.endDetails);
            if (end.status.source >= 0) {
                arguments.insert(QStringLiteral("source"), end.status.source);
                arguments.insert(QStringLiteral("tag"), end.status.tag);
                arguments.insert(QStringLiteral("bytes received"), static_cast<qint64>(end.status.bytes));
            }
            if (end.error != trace::ErrorClass::Success) {
                arguments.insert(QStringLiteral("error"), errorText(end.error, end.errorCode));
            }
            if (call.pollFailures > 0) {
                arguments.insert(QStringLiteral("failed polls"), static_cast<qint64>(call.pollFailures));
            }
        }
        const TimeNs start = beginOf(ref);
        event("\"ph\":\"X\",\"cat\":\"mpi\"" + track(ref) +
              ",\"name\":" + quoted(functionText(begin.function)) + ",\"ts\":" + micros(start) +
              ",\"dur\":" + micros(endOf(ref) - start) +
              ",\"args\":" + QJsonDocument(arguments).toJson(QJsonDocument::Compact));
    }

    [[nodiscard]] QByteArray track(CallRef ref) const {
        return ",\"pid\":" + QByteArray::number(ref.rank.value()) +
               ",\"tid\":" + QByteArray::number(threadOf(ref));
    }

    void writeMessages() {
        const auto messages = m_timeline.messages();
        for (std::size_t i = 0; i < messages.size() && m_error.isEmpty(); ++i) {
            const Message& message = messages[i];
            if (message.state != MessageState::Matched || !message.send || !message.done) {
                continue;
            }
            const auto flow = [&](const char* phase, CallRef ref, TimeNs time) {
                event(QByteArray("\"ph\":\"") + phase +
                      "\",\"cat\":\"message\",\"name\":\"message\",\"id\":" +
                      QByteArray::number(qulonglong{i}) + track(ref) + ",\"ts\":" + micros(time) +
                      (*phase == 'f' ? ",\"bp\":\"e\"" : ""));
            };
            // An arrow belongs to the slice that its time is in: the end itself is outside.
            flow("s", *message.send, beginOf(*message.send));
            flow("f", *message.done, std::max(beginOf(*message.done), endOf(*message.done) - 1));
        }
    }

    const LoadedRecording& m_loaded;
    const Timeline& m_timeline;
    QIODevice& m_out;
    TimeNs m_end = 0;
    bool m_first = true;
    QString m_error;
};

} // namespace

QString exportChrome(const LoadedRecording& loaded, QIODevice& out) {
    return Export(loaded, out).run();
}

} // namespace stopline::replay
