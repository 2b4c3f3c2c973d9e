// Calls on requests that exist: Wait, Test, Start, Request_free, Cancel. Part of wrappers.h.
#pragma once

#include "scratch.h"
#include "wrappers.h"

namespace stopline::preload {

constexpr Shape shapeOf(FunctionId function) {
    switch (function) {
    case FunctionId::Waitall:
    case FunctionId::Testall:
        return Shape::All;
    case FunctionId::Waitany:
    case FunctionId::Testany:
        return Shape::Any;
    case FunctionId::Waitsome:
    case FunctionId::Testsome:
        return Shape::Some;
    default:
        return Shape::One;
    }
}

/// The requests a call names: MPI overwrites the user's handles, so they are copied first.
class Operands {
  public:
    static constexpr std::size_t kFew = 16;

    Operands(const MPI_Request* handles, int count);
    /// Looks the handles up, under the lock.
    void find();
    /// Keeps the nodes for this call until complete(): for calls that stay in MPI while other threads go on.
    void claim();
    /// Gives back what claim() has kept.
    void unclaim();
    /// Finds what refs() says, for a poll that goes on.
    void look();
    /// Of the statuses of a list that failed.
    [[nodiscard]] bool anyPending(const MPI_Status* statuses) const;
    /// As describe() has found them.
    [[nodiscard]] const RequestRef* refs() { return m_refs.data(); }
    /// Adds them to the details of an event. Needs find().
    void describe(DetailsView& d);
    /// Adds the completions that a call reports; forgets what is complete if `release`. Needs find().
    void complete(DetailsView& d, Shape shape, const Args& a, const MPI_Status* statuses, int code,
                  bool release);
    /// Starts (Start, Startall) or forgets (Request_free) all of them. Needs find().
    void activate();
    void forget();
    /// Tells the hash of what is sent that persistent sends start, or that one is gone.
    void startSent();
    void forgetSent();
    /// After the start: gives back what was claimed, and follows those that MPI has given another handle.
    void started(const Args& a);
    /// Request_free of a receive that is on: keeps it until it is complete. False: there is nothing to
    /// follow.
    bool follow();

  private:
    [[nodiscard]] RequestRef refOf(std::uint32_t i);
    /// `code`: with which the request ended. `status` may be null: nothing is known but that.
    void completeOne(std::uint32_t i, const MPI_Status* status, int code, bool release);

    std::uint32_t m_count;
    std::uint32_t m_completed = 0;
    bool m_shared = false; ///< one of them is not the only one of its handle
    Scratch<MPI_Request, kFew, 0> m_handles;
    const MPI_Request* m_places; ///< where the handles were
    Scratch<std::uint32_t, kFew, 1> m_nodes;
    Scratch<RequestRef, kFew, 2> m_refs;
    Scratch<Completion, kFew, 3> m_completions;
};

/// Statuses for an array call: the user's, or ours.
class StatusArray {
  public:
    StatusArray(MPI_Status* user, std::size_t count)
        : m_own(isIgnored(user) ? count : 0), m_place(isIgnored(user) ? m_own.data() : user) {}
    [[nodiscard]] MPI_Status* place() { return m_place; }

  private:
    Scratch<MPI_Status, Operands::kFew, 4> m_own;
    MPI_Status* m_place;
};

/// What Wait, Test and Start are about: one request or an array of them.
inline Operands operandsOf(const Args& a) {
    return a.requests != nullptr ? Operands(a.requests, static_cast<int>(a.count))
                                 : Operands(a.request, a.request != nullptr ? 1 : 0);
}

/// The same while MPI has them.
inline Shadows shadowsOf(const Args& a) {
    return a.requests != nullptr ? Shadows(a.requests, a.count) : Shadows(a.request, 1);
}

template <FunctionId F>
StatusArray statusesOf(const Args& a) {
    return StatusArray(a.requests != nullptr && shapeOf(F) != Shape::Any ? a.statuses : a.status,
                       a.requests != nullptr && a.count > 0 ? static_cast<std::size_t>(a.count) : 1);
}

template <FunctionId F, typename Call>
int tracedWait(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    Operands operands = operandsOf(a);
    StatusArray statuses = statusesOf<F>(a);
    return performed(
        frame,
        [&](DetailsView& d) {
            operands.find();
            operands.claim();
            operands.describe(d);
        },
        [&] {
            const Shadows shadows = shadowsOf(a);
            if (forced.concerns(frame.event())) [[unlikely]] {
                if (const auto code = forced.wait(frame.event(), shapeOf(F), a, statuses.place(), operands.refs())) {
                    return *code;
                }
            }
            return call(statuses.place());
        },
        [&](DetailsView& d, int code) { operands.complete(d, shapeOf(F), a, statuses.place(), code, true); });
}

template <FunctionId F, typename Call>
int tracedTest(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    Operands operands = operandsOf(a);
    StatusArray statuses = statusesOf<F>(a);
    return polled(
        frame,
        [&](DetailsView& d) {
            operands.find();
            operands.describe(d);
        },
        [&] {
            const Shadows shadows = shadowsOf(a);
            return call(statuses.place());
        },
        // MPI_UNDEFINED for outcount: nothing to wait for.
        [&] { return F == FunctionId::Testsome ? *a.outcount == 0 : *a.flag == 0; },
        [&](DetailsView& d, int code) {
            operands.find();
            operands.complete(d, shapeOf(F), a, statuses.place(), code, F != FunctionId::Request_get_status);
        },
        [&] {
            if constexpr (F == FunctionId::Testsome) {
                *a.outcount = 0;
            } else {
                *a.flag = 0;
            }
            if constexpr (F == FunctionId::Testany) {
                *a.index = MPI_UNDEFINED;
            }
        },
        [&] {
            const Shadows shadows = shadowsOf(a);
            if constexpr (shapeOf(F) == Shape::All) {
                operands.look();
            }
            if constexpr (shapeOf(F) != Shape::One) {
                if (const auto code = forced.deliver(shapeOf(F), a, statuses.place(), operands.refs())) {
                    if constexpr (shapeOf(F) == Shape::Any) {
                        *a.flag = 1;
                    } else if constexpr (shapeOf(F) == Shape::All) {
                        *a.flag = operands.anyPending(statuses.place()) ? 0 : 1;
                    }
                    return *code;
                }
                if constexpr (shapeOf(F) == Shape::Some) {
                    return untilYes([&] { return call(statuses.place()); }, a.outcount);
                } else {
                    return untilYes([&] { return call(statuses.place()); }, a.flag);
                }
            } else {
                return untilYes([&] { return call(statuses.place()); }, a.flag);
            }
        });
}

template <FunctionId F, typename Call>
int tracedStart(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    Operands operands = operandsOf(a);
    return performed(
        frame,
        [&](DetailsView& d) {
            operands.find();
            // Claimed: MPI may give the handle to a request of another thread before we know the new one.
            operands.claim();
            // Named as what they become: active.
            operands.activate();
            operands.describe(d);
        },
        [&] {
            if (sent.on()) [[unlikely]] {
                operands.startSent();
            }
            if (forced.concerns(frame.event())) [[unlikely]] {
                if (const auto code = forced.start(frame.event(), a)) {
                    return *code;
                }
            }
            return call();
        },
        [&](DetailsView&, int) { operands.started(a); });
}

template <FunctionId F, typename Call>
int tracedCancel(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    Operands operands(a.request, 1);
    return performed(
        frame,
        [&](DetailsView& d) {
            operands.find();
            operands.describe(d);
        },
        [&] {
            if (F == FunctionId::Cancel && forced.concerns(frame.event()) && forced.keeps(frame.event())) [[unlikely]] {
                return MPI_SUCCESS;
            }
            const Shadows shadows(a.request, 1);
            return call();
        });
}

template <FunctionId F, typename Call>
int tracedPready(const Args& a, CodeAddress site, Call call) {
    return tracedCancel<F>(a, site, call);
}

template <FunctionId F, typename Call>
int tracedGrequest(const Args& a, CodeAddress site, Call call) {
    return tracedCreate<F>(a, site, RequestKind::Plain, call, [](DetailsView&) {});
}
template <FunctionId F, typename Call>
int tracedGrequestComplete(const Args& a, CodeAddress site, Call call) {
    return tracedCancel<F>(a, site, call);
}

template <FunctionId F, typename Call>
int tracedRequestFree(const Args& a, CodeAddress site, Call call) {
    Frame frame(F, site);
    Operands operands(a.request, 1);
    bool followed = false;
    return performed(
        frame,
        [&](DetailsView& d) {
            operands.find();
            operands.describe(d);
            followed = operands.follow();
        },
        [&] {
            const bool ours = forced.remembersReceives() && forced.forget(*a.request, followed);
            if (sent.on()) [[unlikely]] {
                operands.forgetSent();
            }
            if (followed && !ours) {
                *a.request = predefined.requestNull;
                return MPI_SUCCESS;
            }
            return call();
        },
        [&](DetailsView&, int code) {
            if (code == MPI_SUCCESS) {
                operands.forget();
            }
        });
}

} // namespace stopline::preload
