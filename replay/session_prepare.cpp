// Commands that ask gdb something before ranks go on: whether there is anything to step out to, where a line's code is.
#include "session_impl.h"

#include <utility>

namespace stopline::replay {

void Session::stepOut() {
    m_impl->resumeCommand(Verb::StepOut, [](RankProcess* rank) { rank->step(Verb::StepOut); },
                          [this](RankProcess* rank, auto answer) { m_impl->prepareStepOut(rank, answer); });
}

Session::Impl::Refusal Session::Impl::outermost(const QString& function) {
    return {QStringLiteral("%1 is in its outermost function %2; there is nothing to step out to").arg(QStringLiteral("%1"), function),
            QStringLiteral("%1 are in their outermost function %2; there is nothing to step out to").arg(QStringLiteral("%1"), function)};
}

/// gdb would refuse to finish the last frame of a stack, after the rank has been told to go on.
void Session::Impl::prepareStepOut(RankProcess* rank, std::function<void(const Refusal&)> answer) {
    rank->gdb()->stack(rank->thread(), 256, [answer = std::move(answer)](Result<QVector<mi::Frame>> frames) {
        const mi::Frame* user = frames ? Session::userFrame(frames.value()) : nullptr;
        const bool last = user != nullptr && user->level == frames.value().last().level;
        answer(last ? outermost(user->function) : Refusal());
    });
}

void Session::runTo(const QString& file, int line) {
    const QString location = QStringLiteral("%1:%2").arg(file).arg(line);
    m_impl->resumeCommand(
        Verb::RunTo,
        [this](RankProcess* rank) { rank->runTo(m_impl->runTo.numbers[rank->rank().value()]); },
        [this, location, line, begun = std::make_shared<bool>(false)](RankProcess* rank, auto answer) {
            if (!std::exchange(*begun, true)) {
                m_impl->runTo = {location, {}, {}};
            }
            m_impl->prepareRunTo(rank, location, line, answer);
        });
}

void Session::Impl::prepareRunTo(RankProcess* rank, const QString& location, int wanted, std::function<void(const Refusal&)> answer) {
    rank->gdb()->insertBreakpoint(location, {}, true, [=, this, guarded = QPointer<RankProcess>(rank)](Result<mi::Breakpoint> bp) {
        const QString place = location.section(u'/', -1);
        const auto refuse = [&answer, &place](const QString& why) {
            const QString text = QStringLiteral("Run to %1: %2 (%3)").arg(place, why, QStringLiteral("%1"));
            answer({text, text});
        };
        if (!bp || !guarded) {
            refuse(bp ? QStringLiteral("the process has ended") : bp.error().text);
            return;
        }
        if (bp.value().pending) { // nothing would ever stop there
            guarded->gdb()->deleteBreakpoint(bp.value().number, [](Status) {});
            refuse(QStringLiteral("there is no code"));
            return;
        }
        runTo.numbers[guarded->rank().value()] = bp.value().number;
        if (bp.value().line > 0 && bp.value().line != wanted && !std::exchange(runTo.moved, true)) {
            say(Severity::Warning,
                QStringLiteral("Run to %1: there is no code; the next line that has some is %2.").arg(place).arg(bp.value().line));
        }
        answer({});
    });
}

/// A rank that was sent somewhere has stopped, there or elsewhere, or has ended.
void Session::Impl::leaveRunTo(RankProcess* rank) {
    const auto it = runTo.numbers.find(rank->rank().value());
    if (it == runTo.numbers.end()) {
        return;
    }
    if (rank->ended()) {
        runTo.ended << rank->rank();
    } else if (!rank->lastStop().breakpoints.contains(it->second)) {
        rank->gdb()->deleteBreakpoint(it->second, [](Status) {}); // else it would stop there at some later time
    }
    runTo.numbers.erase(it);
    if (runTo.numbers.empty()) {
        tellRunTo();
    } else if (rank->ended()) { // most end together, and are told of together
        QTimer::singleShot(2000, q, [this] { tellRunTo(); });
    }
}

void Session::Impl::tellRunTo() {
    const QVector<RankId> gone = std::exchange(runTo.ended, {});
    if (!gone.isEmpty()) {
        say(Severity::Warning, QStringLiteral("Run to %1: %2 ended before %3 came there.")
                                   .arg(runTo.location.section(u'/', -1), rankListText(gone),
                                        gone.size() == 1 ? QStringLiteral("it") : QStringLiteral("they")));
    }
}

} // namespace stopline::replay
