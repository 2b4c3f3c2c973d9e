// Inside of values.h: how what the program takes from outside is noted and given back.
#pragma once

#include "values.h"

#include <cstddef>
#include <cstdint>
#include <sys/types.h>

#define STOPLINE_EXPORT extern "C" __attribute__((visibility("default")))

namespace stopline::preload {

struct ValueState {
    bool noting;
    bool busy; ///< a signal handler that asks meanwhile gets what is true
};
extern ValueState valueState;

/// The log of the execution that is followed, if one is.
struct Following {
    bool on; ///< false from where the program has asked for something else
    trace::MappingHeader* header; ///< of this execution, once values are noted
    trace::ValueReader log;

    void next() {
        log.next();
        passFindings();
    }
    void passFindings();
};
extern Following following;

/// Only what the main thread asks for between MPI calls is noted: in other threads nothing has an order.
bool isMainThread();
/// True where what is asked for now is noted: by the main thread, outside of MPI.
bool valuesConcernHere();
/// The same of a call that returns to `caller`: not for MPI's own code.
bool valuesConcern(const void* caller);
/// The same of getpid, which is noted on request.
bool pidsConcern(const void* caller);

/// Notes a value. The log ends where it does not fit: what comes behind could not be given back in its order.
void noteValue(trace::ValueKind kind, std::int64_t value, const std::byte* random = nullptr);
/// True if the log that is followed has the value that is asked for here: takeGiven() is it. Where the program asks for
/// something else it has gone another way: from there on it gets what is true now.
bool isGiven(trace::ValueKind kind);
std::int64_t takeGiven();

/// The value of an integer kind: the recorded one or, where there is none, `now()`.
template <typename Now>
std::int64_t valueOf(trace::ValueKind kind, Now now) {
    valueState.busy = true;
    const std::int64_t value = isGiven(kind) ? takeGiven() : now();
    noteValue(kind, value);
    valueState.busy = false;
    return value;
}

/// Random bytes: those recorded or, where there are none, what `ask` answers. Returns what it returned.
ssize_t randomBytes(void* buffer, std::size_t length, ssize_t (*ask)(void* context, void* buffer, std::size_t length), void* context);
template <typename Ask>
ssize_t randomBytes(void* buffer, std::size_t length, Ask ask) {
    return randomBytes(
        buffer, length,
        [](void* context, void* to, std::size_t bytes) { return (*static_cast<Ask*>(context))(to, bytes); }, &ask);
}

/// Passes the hashes in front of another value in the log that is followed: all that they are of has been sent. Those to come
/// stay, if they are to be compared.
void passHashes();
/// The hash of what has been sent, where the main thread is in a call; into the log.
void noteSent(std::uint64_t hash);
/// Compares it with those in the log that is followed which were put there before now, `after` the data of the call whose
/// begin has just been recorded were added, or before that. What differs is published.
void compareSent(std::uint64_t hash, bool after);

/// Finds the functions that are taken the place of where random bytes come from.
void findRandom();

} // namespace stopline::preload
