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
        text += QStringLiteral(" to %1 %2 %3").arg(peerText(details.sendPeer), tagText(details.sendTag), bytesText(details.sendBytes));
    }
    if (details.recvPeer != kNoPeer) {
        text += QStringLiteral(" from %1 %2").arg(peerText(details.recvPeer), tagText(details.recvTag));
    }
    if (details.root != kNoPeer) {
        text += QStringLiteral(" root %1").arg(peerText(details.root));
    }
    if (details.kind == trace::EventKind::End) {
        if (details.status.source != kNoPeer) {
            text += QStringLiteral(" got source %1 tag %2 %3").arg(peerText(details.status.source)).arg(details.status.tag).arg(bytesText(details.status.bytes));
        }
        for (const trace::Completion& completion : details.completions) {
            if (completion.status.source != kNoPeer) {
                text += QStringLiteral(" [%1] from %2 tag %3").arg(completion.index).arg(peerText(completion.status.source)).arg(completion.status.tag);
            } else {
                text += QStringLiteral(" [%1]").arg(completion.index);
            }
        }
        if (!details.flag) {
            text += QStringLiteral(" not yet");
        }
        if (details.error != 0) {
            text += QStringLiteral(" error %1").arg(details.error);
        }
    }
    return text;
}

} // namespace stopline::replay
