// Looking at stopped ranks: stacks, variables, expressions.
#include "session_impl.h"

namespace stopline::replay {

/// Unwinds to the user's innermost frame, once a stop; 0 where there is none.
void Session::Impl::findUserFrame(RankProcess* rank, std::function<void(int)> handler) {
    rank->gdb()->stack(rank->thread(), 64, [this, handler, guarded = QPointer<RankProcess>(rank)](Result<QVector<mi::Frame>> frames) {
        const mi::Frame* frame = frames ? Session::userFrame(frames.value()) : nullptr;
        const int user = frame != nullptr ? frame->level : 0;
        if (guarded && guarded->stopped()) {
            guarded->setLocation(guarded->view().location, user);
        }
        handler(user);
    });
}

void Session::refreshTimeline(std::function<void()> done) {
    m_impl->follower->refresh(done ? std::move(done) : [] {});
}

void Session::setFollowing(bool on) {
    m_impl->follower->setOn(on);
}

bool Session::following() const {
    return m_impl->follower->on();
}

SourceLocation Session::sourceOf(CallRef call) const {
    const Timeline& timeline = m_impl->recording->timeline();
    if (call.rank.value() >= timeline.rankCount() || call.call.value() >= timeline.callCount(call.rank)) {
        return {};
    }
    const Call& one = timeline.call(call);
    return m_impl->siteOf(call.rank, timeline.details(call.rank, one.beginDetails).site);
}

void Session::stack(RankId rank, Handler<QVector<mi::Frame>> handler) {
    RankProcess* process = m_impl->process(rank);
    if (process == nullptr || !process->stopped()) {
        QMetaObject::invokeMethod(this, [handler] { handler(Error{ErrorCode::NotStopped, tr("the rank is not stopped")}); }, Qt::QueuedConnection);
        return;
    }
    process->gdb()->stack(process->thread(), 256, std::move(handler));
}

void Session::variables(RankId rank, int frame, Handler<QVector<mi::Variable>> handler) {
    RankProcess* process = m_impl->process(rank);
    if (process == nullptr || !process->stopped()) {
        QMetaObject::invokeMethod(this, [handler] { handler(Error{ErrorCode::NotStopped, tr("the rank is not stopped")}); }, Qt::QueuedConnection);
        return;
    }
    if (frame >= 0) {
        process->gdb()->variables(process->thread(), frame, std::move(handler));
        return;
    }
    m_impl->findUserFrame(process, [guarded = QPointer<RankProcess>(process), handler](int user) {
        if (!guarded || !guarded->stopped()) {
            handler(Error{ErrorCode::NotStopped, tr("the rank is not stopped")});
            return;
        }
        guarded->gdb()->variables(guarded->thread(), user, handler);
    });
}

void Session::evaluate(RankId rank, int frame, const QString& expression, Handler<QString> handler) {
    RankProcess* process = m_impl->process(rank);
    if (process == nullptr || !process->stopped()) {
        QMetaObject::invokeMethod(this, [handler] { handler(Error{ErrorCode::NotStopped, tr("the rank is not stopped")}); }, Qt::QueuedConnection);
        return;
    }
    if (frame >= 0) {
        process->gdb()->evaluate(expression, process->thread(), frame, std::move(handler));
        return;
    }
    m_impl->findUserFrame(process, [guarded = QPointer<RankProcess>(process), expression, handler](int user) {
        if (!guarded || !guarded->stopped()) {
            handler(Error{ErrorCode::NotStopped, tr("the rank is not stopped")});
            return;
        }
        guarded->gdb()->evaluate(expression, guarded->thread(), user, handler);
    });
}

void Session::gdbCommand(RankId rank, const QString& command, Handler<QString> handler) {
    RankProcess* process = m_impl->process(rank);
    if (process == nullptr || !process->attached()) {
        QMetaObject::invokeMethod(this, [handler] { handler(Error{ErrorCode::Unavailable, tr("the rank has no gdb")}); }, Qt::QueuedConnection);
        return;
    }
    process->gdb()->console(command, std::move(handler));
}

} // namespace stopline::replay
