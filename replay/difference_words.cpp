#include "difference_words.h"

#include "call_words.h"
#include "request_names.h"
#include "words.h"

#include <QStringList>

#include <algorithm>

namespace stopline::replay {

namespace {

QString commText(CommIndex comm) {
    return comm == kCommWorld  ? QStringLiteral("MPI_COMM_WORLD")
           : comm == kCommSelf ? QStringLiteral("MPI_COMM_SELF")
           : comm == kNoComm   ? QStringLiteral("none")
                               : QStringLiteral("communicator %1").arg(comm.value());
}

/// Two sizes that differ, as texts that do.
struct Sizes {
    QString recorded, executed;
    Sizes(std::uint64_t then, std::uint64_t now) : recorded(bytesText(then)), executed(bytesText(now)) {
        if (std::max(then, now) - std::min(then, now) <
            std::max(then, now) / 16) { // rounded they would look the same
            recorded = QStringLiteral("%1 B").arg(then);
            executed = QStringLiteral("%1 B").arg(now);
        }
    }
};

class Words {
  public:
    Words(const trace::EventDetails& recorded, const trace::EventDetails& executed,
          const DifferenceNames& names)
        : m_then(recorded), m_now(executed), m_names(names) {}

    QString text() {
        if (m_then.kind != m_now.kind) {
            m_parts << (m_now.kind == trace::EventKind::End
                            ? QStringLiteral("at its end instead of its begin")
                            : QStringLiteral("at its begin instead of its end"));
        }
        comms();
        sizes();
        if (!requests()) {
            completions();
        }
        others();
        site();
        return u' ' + (m_parts.isEmpty() ? QStringLiteral("with other arguments")
                                         : m_parts.join(QStringLiteral(", ")));
    }

  private:
    void comms() {
        if (m_then.comm != m_now.comm) {
            m_parts << QStringLiteral("on %1 instead of %2").arg(commText(m_now.comm), commText(m_then.comm));
        }
        if (m_then.newComm != m_now.newComm) {
            m_parts << QStringLiteral("making %1 instead of %2")
                           .arg(commText(m_now.newComm), commText(m_then.newComm));
        }
    }

    void sizes() {
        const auto add = [this](const QString& text, std::uint64_t then, std::uint64_t now) {
            if (then != now) {
                const Sizes sizes(then, now);
                m_parts << text.arg(sizes.executed, sizes.recorded);
            }
        };
        add(QStringLiteral("with %1 to send instead of %2"), m_then.sendBytes, m_now.sendBytes);
        add(QStringLiteral("with room for %1 instead of %2"), m_then.recvBytes, m_now.recvBytes);
        add(QStringLiteral("receiving %1 instead of %2"), m_then.status.bytes, m_now.status.bytes);
    }

    /// True where the requests that the call is about are others: then it completes others.
    bool requests() {
        const auto& then = m_then.requests;
        const auto& now = m_now.requests;
        if (then.size() != now.size()) {
            m_parts << QStringLiteral("for %1 requests instead of %2").arg(now.size()).arg(then.size());
            return true;
        }
        const auto [one, other] = std::mismatch(now.begin(), now.end(), then.begin());
        if (one == now.end()) {
            return false;
        }
        const QString where = now.size() == 1 ? QString() : QStringLiteral(" at [%1]").arg(one - now.begin());
        m_parts << QStringLiteral("for %1%2 instead of %3")
                       .arg(m_names.request(*one), where, m_names.request(*other));
        return true;
    }

    void completions() {
        const auto& then = m_then.completions;
        const auto& now = m_now.completions;
        const auto [one, other] = std::mismatch(
            now.begin(), now.begin() + std::ptrdiff_t(std::min(now.size(), then.size())), then.begin());
        if (other == then.end() || one == now.end()) {
            return;
        }
        const QString where = QStringLiteral("[%1]").arg(one->index);
        if (one->request != other->request) {
            m_parts << QStringLiteral("completing %1 at %2 instead of %3")
                           .arg(m_names.request(one->request), where, m_names.request(other->request));
        }
        if (one->status.bytes != other->status.bytes) {
            const Sizes sizes(other->status.bytes, one->status.bytes);
            m_parts << QStringLiteral("receiving %1 at %2 instead of %3")
                           .arg(sizes.executed, where, sizes.recorded);
        }
        if (one->status.cancelled != other->status.cancelled) {
            m_parts << QStringLiteral("with %1 %2")
                           .arg(where, one->status.cancelled ? QStringLiteral("cancelled")
                                                             : QStringLiteral("not cancelled"));
        }
    }

    void others() {
        if (m_then.status.cancelled != m_now.status.cancelled) {
            m_parts << (m_now.status.cancelled ? QStringLiteral("cancelled")
                                               : QStringLiteral("not cancelled"));
        }
        if (m_then.message != m_now.message) {
            m_parts << QStringLiteral("for another matched message");
        }
        if (m_then.mode != m_now.mode) {
            m_parts << QStringLiteral("in mode %1 instead of %2").arg(m_now.mode).arg(m_then.mode);
        }
        if (m_then.peers != m_now.peers) {
            m_parts << QStringLiteral("with the ranks in another order");
        }
        if (m_then.thread != m_now.thread) {
            m_parts
                << QStringLiteral("by thread %1 instead of thread %2").arg(m_now.thread).arg(m_then.thread);
        }
    }

    void site() {
        if (m_then.site == m_now.site || m_names.sitesMayBeOne) {
            return;
        }
        const QString then = m_names.recordedSite(m_then.site);
        const QString now = m_names.executedSite(m_now.site);
        m_parts << (then.isEmpty() || now.isEmpty() ? QStringLiteral("from another place in the program")
                    : then == now                   ? QStringLiteral("by another call in %1").arg(now)
                                                    : QStringLiteral("from %1 instead of %2").arg(now, then));
    }

    const trace::EventDetails& m_then;
    const trace::EventDetails& m_now;
    const DifferenceNames& m_names;
    QStringList m_parts;
};

} // namespace

QString requestText(const Timeline& timeline, RankId rank, EventIndex event, trace::RequestRef ref) {
    if (ref.back == trace::RequestRef::kNull) {
        return QStringLiteral("no active request");
    }
    if (const auto by = madeBy(timeline, rank, event, ref)) {
        return QStringLiteral("the request of %1 (event %2)")
            .arg(detailsText(timeline.details(rank, timeline.eventDetails(rank, *by))))
            .arg(by->value());
    }
    return QStringLiteral("a request that no recorded call has made");
}

QString whatDiffers(const trace::EventDetails& recorded, const trace::EventDetails& executed,
                    const DifferenceNames& names) {
    return Words(recorded, executed, names).text();
}

} // namespace stopline::replay
