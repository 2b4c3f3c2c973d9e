// Whether pointers may be why an execution parts from the recorded one: what both have noted of where the
// program's memory is (tracelib/preload/heap.h).
#pragma once

#include "../tracelib/types.h"

#include <QByteArray>
#include <QString>

#include <cstdint>

namespace stopline::replay {

/// What two executions of one rank say of its memory, up to where they part. Event 0: none.
struct HeapEvidence {
    bool elsewhere = false;     ///< the system has chosen other addresses for all: nothing is where it was
    EventIndex same{0};         ///< the last event up to which the heap was found in the same state
    EventIndex differs{0};      ///< the first at which it was found in another one
    EventIndex buffer{0};       ///< the first whose buffer was elsewhere
    std::uint64_t recorded = 0; ///< address of that buffer in the recording
    std::uint64_t executed = 0; ///< and in this execution
    EventIndex parted{0};       ///< the event before which all this was

    /// Nothing that pointers decide is likely: the heap was in the same state until shortly before the
    /// executions part.
    [[nodiscard]] bool nothingMoved() const {
        return !elsewhere && buffer.value() == 0 && differs.value() == 0 && same.value() > 0 &&
               same.value() * 2 >= parted.value();
    }
};

/// Of two logs of values (tracelib/values.h) what they say of calls before `parted`.
[[nodiscard]] HeapEvidence heapEvidence(const QByteArray& recorded, const QByteArray& executed,
                                        EventIndex parted);

/// "the heap is not where it was: the buffer of event 7 was at 0x5c0 in the recording and is at 0x5e0 now";
/// empty where no buffer is known to be elsewhere.
[[nodiscard]] QString movedText(const HeapEvidence& evidence);

/// The remedy that names what may be decisive besides what MPI decides, of what was found. `pointer` ("an
/// address that malloc gave") stands in `causes` as %1, followed by a comma and a blank: it is left out where
/// nothing moved, and told with what is known where something did.
[[nodiscard]] QString causesText(const HeapEvidence& evidence, const QString& causes, const QString& pointer);

} // namespace stopline::replay
