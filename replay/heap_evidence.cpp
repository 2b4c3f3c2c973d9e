#include "heap_evidence.h"

#include "../tracelib/values.h"

namespace stopline::replay {

namespace {

using trace::ValueKind;

trace::ValueReader readerOf(const QByteArray& log) {
    return {reinterpret_cast<const std::byte*>(log.constData()), std::size_t(log.size())};
}

/// Forward to the next item that tells of memory, from the one where it stands.
bool findNext(trace::ValueReader& reader, EventIndex parted) {
    while (reader.kind() != ValueKind::None && !trace::isWrittenWhole(reader.kind())) {
        reader.next();
    }
    return reader.kind() != ValueKind::None && reader.event() < parted.value();
}

} // namespace

HeapEvidence heapEvidence(const QByteArray& recorded, const QByteArray& executed, EventIndex parted) {
    HeapEvidence found;
    found.parted = parted;
    trace::ValueReader then = readerOf(recorded);
    trace::ValueReader now = readerOf(executed);
    while (findNext(then, parted) && findNext(now, parted)) {
        // At one event the kinds stand in the order of their numbers.
        const bool one = then.event() == now.event() && then.kind() == now.kind();
        const bool thenFirst =
            then.event() < now.event() || (then.event() == now.event() && then.kind() < now.kind());
        if (!one) {
            (thenFirst ? then : now).next();
            continue;
        }
        const EventIndex event(now.event());
        const bool equal = then.value() == now.value();
        if (now.kind() == ValueKind::Base) {
            found.elsewhere = found.elsewhere || !equal;
        } else if (now.kind() == ValueKind::Heap && found.differs.value() == 0) {
            (equal ? found.same : found.differs) = event;
        } else if (now.kind() == ValueKind::Buffer && found.buffer.value() == 0 && !equal) {
            found.buffer = event;
            found.recorded = static_cast<std::uint64_t>(then.value());
            found.executed = static_cast<std::uint64_t>(now.value());
        }
        then.next();
        now.next();
    }
    return found;
}

QString movedText(const HeapEvidence& evidence) {
    if (evidence.buffer.value() == 0) {
        return {};
    }
    return QStringLiteral("the heap is not where it was: the buffer of event %1 was at 0x%2 in the recording "
                          "and is at 0x%3 now")
        .arg(evidence.buffer.value())
        .arg(evidence.recorded, 0, 16)
        .arg(evidence.executed, 0, 16);
}

QString causesText(const HeapEvidence& evidence, const QString& causes, const QString& pointer) {
    if (evidence.elsewhere) {
        return causes.arg(pointer +
                          QStringLiteral(
                              " (all are others than in the recording, as the system has chosen them), ")) +
               QStringLiteral(" Numbers of one's own instead of addresses are the same each time; in a run that is "
                              "recorded with --fixed-addresses most addresses are, too.");
    }
    if (evidence.buffer.value() != 0) {
        return causes.arg(
                   pointer +
                   QStringLiteral(
                       " (where the program sorts or hashes by address, or prints or sends a pointer), ")) +
               QStringLiteral(" Numbers of one's own instead of addresses, or memory that is allocated "
                              "before MPI_Init, are the same each time.");
    }
    if (evidence.nothingMoved()) {
        return causes.arg(QString()) +
               QStringLiteral(" Up to event %1 the heap was as in the recording.").arg(evidence.same.value());
    }
    return causes.arg(
        pointer +
        (evidence.differs.value() != 0
             ? QStringLiteral(" (since event %1 at the latest the heap is not as in the recording), ")
                   .arg(evidence.differs.value())
             : QStringLiteral(" (behind MPI_Init they differ), ")));
}

} // namespace stopline::replay
