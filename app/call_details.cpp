#include "call_details.h"

#include "../tracelib/functions.h"
#include "text.h"
#include "theme.h"
#include "../replay/completion_words.h"
#include "../replay/words.h"

#include <QStringList>

#include <algorithm>
#include <numeric>
#include <vector>

namespace stopline::app {

using namespace replay;

namespace {

QString nameOf(trace::FunctionId function) {
    const auto text = trace::functionName(function);
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString peerText(std::int32_t peer) {
    switch (peer) {
    case kAnySource:
        return QStringLiteral("MPI_ANY_SOURCE");
    case kProcNull:
        return QStringLiteral("MPI_PROC_NULL");
    case kRootInter:
        return QStringLiteral("MPI_ROOT");
    default:
        return QStringLiteral("rank %1").arg(peer);
    }
}

QString tagText(std::int32_t tag) {
    return tag == kAnyTag ? QStringLiteral("MPI_ANY_TAG") : QString::number(tag);
}

QString durationText(TimeNs ns) {
    const double value = static_cast<double>(ns);
    if (ns < 10'000) {
        return QStringLiteral("%1 ns").arg(ns);
    }
    if (ns < 10'000'000) {
        return QStringLiteral("%1 µs").arg(value / 1e3, 0, 'f', 1);
    }
    return ns < 10'000'000'000 ? QStringLiteral("%1 ms").arg(value / 1e6, 0, 'f', 1)
                               : QStringLiteral("%1 s").arg(value / 1e9, 0, 'f', 1);
}

QString commText(const Timeline& timeline, RankId rank, CommIndex index) {
    if (index == kNoComm) {
        return {};
    }
    if (index == kCommWorld) {
        return QStringLiteral("MPI_COMM_WORLD");
    }
    if (index == kCommSelf) {
        return QStringLiteral("MPI_COMM_SELF");
    }
    const trace::CommInfo& info = timeline.comm(rank, index);
    QVector<int> members(info.members.begin(), info.members.end());
    const QString what = info.kind == trace::CommKind::Window ? QStringLiteral("window")
                         : info.kind == trace::CommKind::File ? QStringLiteral("file")
                                                              : QStringLiteral("communicator");
    QString text = QStringLiteral("%1 %2 of ranks %3").arg(what).arg(index.value()).arg(rankSetText(members));
    if (!info.remote.empty()) {
        text += QStringLiteral(" with ranks %1")
                    .arg(rankSetText(QVector<int>(info.remote.begin(), info.remote.end())));
    }
    return text;
}

/// Collects the rows of the table.
class Table {
  public:
    explicit Table(const QPalette& palette) : m_faint(palette.color(QPalette::PlaceholderText).name()) {}
    void row(const QString& name, const QString& html) {
        if (!html.isEmpty()) {
            m_html += QStringLiteral("<tr><td style='color:%1; padding-right:8px'>%2</td><td>%3</td></tr>")
                          .arg(m_faint, name, html);
        }
    }
    [[nodiscard]] QString html() const {
        return QStringLiteral("<table cellspacing='2'>%1</table>").arg(m_html);
    }

  private:
    QString m_faint;
    QString m_html;
};

QString link(const Session& session, CallRef call) {
    return QStringLiteral("<a href='call:%1:%2'>%3</a>")
        .arg(rankText(call.rank))
        .arg(call.call.value())
        .arg(callPlaceText(session, call).toHtmlEscaped());
}

QString messageHtml(const Session& session, const Message& message, CallRef self, bool dark) {
    QStringList parts;
    const bool open = message.state != MessageState::Matched && message.state != MessageState::Cancelled &&
                      message.state != MessageState::Early;
    const QString state = messageStateText(session, message);
    parts
        << (open
                ? QStringLiteral("<b style='color:%1'>%2</b>").arg(accent(Accent::Orange, dark).name(), state)
                : state);
    parts << QStringLiteral("%1 &rarr; %2, tag %3, %4")
                 .arg(message.sender.value() < 0 ? QStringLiteral("?")
                                                 : rankText(message.sender),
                      message.receiver.value() < 0 ? QStringLiteral("?")
                                                   : rankText(message.receiver),
                      tagText(message.tag), bytesText(message.bytes));
    if (message.wildcardSource || message.wildcardTag) {
        parts << QStringLiteral("received by wildcard");
    }
    const auto end = [&](const QString& name, const std::optional<CallRef>& ref) {
        if (ref && *ref != self) {
            parts << name + QStringLiteral(" ") + link(session, *ref);
        }
    };
    end(QStringLiteral("sent by"), message.send);
    end(QStringLiteral("received by"), message.post);
    if (message.done != message.post) {
        end(QStringLiteral("complete in"), message.done);
    }
    return parts.join(QStringLiteral("<br>"));
}

/// What the races of this call could have had, and the races that this send could have come to.
QString racesHtml(const Session& session, CallRef self, bool dark) {
    constexpr std::size_t kMost = 8;
    QStringList parts;
    for (const Race& race : session.races().racesOf(self)) {
        QStringList others;
        const std::vector<Alternative> all = session.races().alternatives(race);
        for (std::size_t i = 0; i < std::min(all.size(), kMost); ++i) {
            others << link(session, all[i].send);
        }
        if (all.size() > kMost) {
            others << QStringLiteral("and %1 more").arg(all.size() - kMost);
        }
        parts << QStringLiteral("<b style='color:%1'>%2 could have come instead:</b><br>%3")
                     .arg(accent(Accent::Orange, dark).name(),
                          all.size() == 1 ? QStringLiteral("another message") : QStringLiteral("%1 other messages").arg(all.size()),
                          others.join(QStringLiteral("<br>")));
    }
    return parts.join(QStringLiteral("<br>"));
}

QString collectiveHtml(const Session& session, const Collective& collective, CallRef self, bool dark) {
    QVector<int> arrived;
    QVector<int> missing;
    for (std::size_t i = 0; i < collective.members.size(); ++i) {
        (i < collective.arrived.size() && collective.arrived[i] ? arrived : missing)
            << collective.members[i].value();
    }
    QString html = QStringLiteral("%1 of %2 ranks have entered: %3")
                       .arg(arrived.size())
                       .arg(collective.members.size())
                       .arg(rankSetText(arrived));
    if (!missing.isEmpty()) {
        html += (collective.early ? QStringLiteral("<br><b style='color:%1'>before the start of the history, or not yet: %2</b>")
                                  : QStringLiteral("<br><b style='color:%1'>not yet: %2</b>"))
                    .arg(accent(Accent::Orange, dark).name(), rankSetText(missing));
    }
    if (collective.root) {
        html += QStringLiteral("<br>root is rank %1").arg(collective.root->value());
    }
    if (collective.mismatch) {
        html += QStringLiteral("<br><b style='color:%1'>the ranks do not agree on function or root</b>")
                    .arg(accent(Accent::Red, dark).name());
    }
    int listed = 0;
    for (const auto& ref : collective.arrived) {
        if (ref && *ref != self && ++listed <= 8) {
            html += QStringLiteral("<br>") + link(session, *ref);
        }
    }
    return html;
}

/// What a Wait that hangs waits for, request by request: those first of which the other half is missing.
void awaitedRows(const Session& session, CallRef ref, bool dark, Table& table) {
    constexpr int kMost = 12;
    const Timeline& timeline = session.timeline();
    const auto awaited = timeline.awaited(ref);
    if (awaited.empty()) {
        return;
    }
    const auto rankOf = [&timeline](const Timeline::Awaited& one) {
        if (one.collective) {
            return 1;
        }
        if (!one.message || one.done) {
            return 3;
        }
        const MessageState state = timeline.messages()[one.message->value()].state;
        return state == MessageState::Unsent || state == MessageState::Unreceived ? 0 : 2;
    };
    std::vector<std::size_t> order(awaited.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rankOf(awaited[a]) < rankOf(awaited[b]); });
    table.row(QStringLiteral("waits for"), QStringLiteral("%1 request(s)").arg(awaited.size()));
    int shown = 0;
    for (const std::size_t i : order) {
        if (++shown > kMost) {
            table.row(QString(),
                      QStringLiteral("… and %1 more").arg(static_cast<int>(awaited.size()) - kMost));
            break;
        }
        const Timeline::Awaited& one = awaited[i];
        const QString name = QStringLiteral("request %1").arg(i);
        if (one.message) {
            table.row(name, messageHtml(session, timeline.messages()[one.message->value()], ref, dark));
        } else if (one.collective) {
            table.row(name,
                      collectiveHtml(session, timeline.collectives()[one.collective->value()], ref, dark));
        } else {
            table.row(name, QStringLiteral("null, inactive or not known"));
        }
    }
}

/// When the data that a one-sided call moves are where.
void addTransfer(Table& table, const Session& session, const Transfer& transfer) {
    const auto row = [&](const QString& name, const MaybeCall& call) {
        if (call) {
            table.row(name, link(session, *call));
        }
    };
    row(QStringLiteral("opened by"), transfer.exposed);
    row(QStringLiteral("complete here"), transfer.local);
    row(QStringLiteral("complete there"), transfer.remote);
    row(QStringLiteral("seen there"), transfer.seen);
    if (!transfer.local && !transfer.remote) {
        table.row(QStringLiteral("state"), QStringLiteral("not complete"));
    }
}

} // namespace

std::optional<CallRef> callOfLink(const QString& text) {
    const QStringList parts = text.split(u':');
    bool okRank = false;
    bool okCall = false;
    if (parts.size() != 3 || parts[0] != QLatin1StringView("call")) {
        return std::nullopt;
    }
    const CallRef call{RankId{parts[1].toInt(&okRank)}, CallIndex{parts[2].toUInt(&okCall)}};
    return okRank && okCall ? std::optional(call) : std::nullopt;
}

QString callDetailsHtml(const Session& session, CallRef ref, const QPalette& palette) {
    const Timeline& timeline = session.timeline();
    if (!hasCall(timeline, ref)) {
        return {};
    }
    const bool dark = isDark(palette);
    const Call& call = timeline.call(ref);
    const trace::EventDetails& begin = timeline.details(ref.rank, call.beginDetails);
    const bool ended = call.end.value() != 0;

    Table table(palette);
    table.row(QStringLiteral("rank"), rankText(ref.rank));
    table.row(QStringLiteral("events"),
              ended ? QStringLiteral("%1 to %2").arg(call.begin.value()).arg(call.end.value())
                    : QStringLiteral("%1, <b style='color:%2'>not finished</b>")
                          .arg(call.begin.value())
                          .arg(accent(Accent::Orange, dark).name()));
    const SourceLocation where = session.sourceOf(ref);
    if (where.known()) {
        table.row(QStringLiteral("line"),
                  QStringLiteral("<a href='source'>%1</a> %2")
                      .arg(locationText(where).toHtmlEscaped(),
                           where.function.isEmpty()
                               ? QString()
                               : QStringLiteral("in ") + where.function.toHtmlEscaped()));
    } else if (!where.module.isEmpty()) {
        table.row(QStringLiteral("line"), QStringLiteral("not known; called from %1%2")
                                              .arg(where.module.toHtmlEscaped(),
                                                   where.function.isEmpty()
                                                       ? QString()
                                                       : QStringLiteral(", in ") + where.function.toHtmlEscaped()));
    }
    if (begin.sendPeer != kNoPeer) {
        const bool message = begin.sendTag != kNoTag; // else one-sided: a window's rank
        table.row(message ? QStringLiteral("to") : QStringLiteral("at"), peerText(begin.sendPeer));
        table.row(QStringLiteral("tag"), begin.sendTag == kNoTag ? QString() : tagText(begin.sendTag));
    }
    if (begin.recvPeer != kNoPeer) {
        table.row(QStringLiteral("from"), peerText(begin.recvPeer));
        table.row(QStringLiteral("tag"), begin.recvTag == kNoTag ? QString() : tagText(begin.recvTag));
    }
    if (begin.root != kNoPeer) {
        table.row(QStringLiteral("root"), peerText(begin.root));
    }
    const QString comm = commText(timeline, ref.rank, begin.comm);
    table.row(QStringLiteral("in"), comm.toHtmlEscaped());
    const bool moves = timeline.transferOf(ref).has_value();
    if (begin.sendBytes > 0 || (begin.sendPeer != kNoPeer && begin.sendTag != kNoTag)) {
        table.row(moves ? QStringLiteral("puts") : QStringLiteral("sends"), bytesText(begin.sendBytes));
    }
    if (begin.recvBytes > 0 || begin.recvPeer != kNoPeer) {
        table.row(moves ? QStringLiteral("gets") : QStringLiteral("room for"), bytesText(begin.recvBytes));
    }
    if (!begin.peers.empty()) {
        table.row(QStringLiteral("with"),
                  QStringLiteral("ranks %1 of the window")
                      .arg(rankSetText(QVector<int>(begin.peers.begin(), begin.peers.end()))));
    }
    if (!begin.requests.empty() && ended) {
        table.row(QStringLiteral("requests"), QString::number(begin.requests.size()));
    }
    if (ended) {
        const trace::EventDetails& end = timeline.details(ref.rank, call.endDetails);
        const TimeNs took = call.endTime - call.beginTime;
        table.row(QStringLiteral("raced"), racesHtml(session, ref, dark));
        table.row(QStringLiteral("took"), took > 0 ? durationText(took) + QStringLiteral(" (approx.)")
                                                   : QStringLiteral("too short to tell"));
        if (end.status.source >= 0) {
            table.row(QStringLiteral("got"), QStringLiteral("%1 from %2, tag %3")
                                                 .arg(bytesText(end.status.bytes),
                                                      peerText(end.status.source), tagText(end.status.tag)));
        }
        CompletionNames names = completionNames(timeline, ref.rank);
        names.peer = [](CommIndex, std::int32_t peer) { return peerText(peer); };
        names.errors = false; // below, in red
        table.row(QStringLiteral("result"), completedText(timeline, ref.rank, call.end, names).toHtmlEscaped());
        if (!end.flag) {
            table.row(QStringLiteral("result"), QStringLiteral("not yet"));
        }
        const auto failure = [&](trace::ErrorClass error, std::int32_t code) {
            return QStringLiteral("<b style='color:%1'>%2</b>")
                .arg(accent(Accent::Red, dark).name(), errorText(error, code));
        };
        if (end.error != trace::ErrorClass::Success) {
            table.row(QStringLiteral("error"), failure(end.error, end.errorCode));
        }
        int failed = 0;
        for (const trace::Completion& done : end.completions) {
            if (done.error != trace::ErrorClass::Success && ++failed <= 12) {
                table.row(QStringLiteral("request %1").arg(done.index), failure(done.error, done.errorCode));
            }
        }
        if (failed > 12) {
            table.row(QString(), QStringLiteral("… and %1 more failed").arg(failed - 12));
        }
        table.row(QStringLiteral("made"), commText(timeline, ref.rank, end.newComm).toHtmlEscaped());
    }
    if (call.pollFailures > 0) {
        table.row(QStringLiteral("polled"),
                  QStringLiteral("%1 times without success").arg(call.pollFailures));
    }
    awaitedRows(session, ref, dark, table);
    int shown = 0;
    for (const MessageIndex index : timeline.messagesOf(ref)) {
        if (++shown > 12) {
            table.row(QString(), QStringLiteral("… and more"));
            break;
        }
        table.row(QStringLiteral("message"),
                  messageHtml(session, timeline.messages()[index.value()], ref, dark));
    }
    if (const auto index = timeline.transferOf(ref)) {
        addTransfer(table, session, timeline.transfer(*index));
    }
    if (const auto index = timeline.collectiveOf(ref)) {
        table.row(QStringLiteral("together"),
                  collectiveHtml(session, timeline.collectives()[index->value()], ref, dark));
    }
    return QStringLiteral("<p style='margin:0 0 4px 0'><b>%1</b></p>%2")
        .arg(nameOf(begin.function), table.html());
}

} // namespace stopline::app
