#include "call_words.h"

#include "words.h"

namespace stopline::replay {

QString functionText(trace::FunctionId function) {
    const std::string_view name = trace::functionName(function);
    return QString::fromLatin1(name.data(), qsizetype(name.size()));
}

namespace {

QString peerText(std::int32_t peer) {
    switch (peer) {
    case kAnySource:
        return QStringLiteral("any source");
    case kProcNull:
        return QStringLiteral("nobody (MPI_PROC_NULL)");
    case kRootInter:
        return QStringLiteral("the other group (MPI_ROOT)");
    default:
        return QString::number(peer);
    }
}

QString tagText(std::int32_t tag) {
    return tag == kAnyTag ? QStringLiteral("any tag") : QStringLiteral("tag %1").arg(tag);
}

} // namespace

QString detailsText(const trace::EventDetails& details) {
    QString text = functionText(details.function);
    if (details.sendPeer != kNoPeer) {
        text += QStringLiteral(" to %1").arg(peerText(details.sendPeer));
        // One-sided calls have no tag; their synchronisation, which has a target too, moves nothing by itself.
        if (details.sendTag != kNoTag) {
            text += QStringLiteral(" %1 %2").arg(tagText(details.sendTag), bytesText(details.sendBytes));
        } else {
            text += details.sendBytes > 0 ? QStringLiteral(" puts %1").arg(bytesText(details.sendBytes)) : QString();
            text += details.recvBytes > 0 ? QStringLiteral(" gets %1").arg(bytesText(details.recvBytes)) : QString();
        }
    }
    if (details.recvPeer != kNoPeer) {
        text += QStringLiteral(" from %1 %2").arg(peerText(details.recvPeer), tagText(details.recvTag));
    }
    if (details.root != kNoPeer) {
        text += QStringLiteral(" root %1").arg(peerText(details.root));
    }
    if (!details.peers.empty()) {
        text += QStringLiteral(" with %1").arg(rankSetText(QVector<int>(details.peers.begin(), details.peers.end())));
    }
    if (details.kind == trace::EventKind::End) {
        if (details.status.source != kNoPeer) {
            text += QStringLiteral(" got source %1 %2 %3").arg(peerText(details.status.source)).arg(tagText(details.status.tag)).arg(bytesText(details.status.bytes));
        }
        for (const trace::Completion& completion : details.completions) {
            if (completion.status.source != kNoPeer) {
                text += QStringLiteral(" [%1] from %2 %3").arg(completion.index).arg(peerText(completion.status.source)).arg(tagText(completion.status.tag));
            } else {
                text += QStringLiteral(" [%1]").arg(completion.index);
            }
            if (completion.error != trace::ErrorClass::Success) {
                text += QStringLiteral(" error ") + errorText(completion.error, completion.errorCode);
            }
        }
        if (!details.flag) {
            text += QStringLiteral(" not yet");
        }
        if (details.error != trace::ErrorClass::Success) {
            text += QStringLiteral(" error ") + errorText(details.error, details.errorCode);
        }
    }
    return text;
}

} // namespace stopline::replay
