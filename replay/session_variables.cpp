// Looking into values, and at ranks that run.
#include "session_impl.h"

namespace stopline::replay {

namespace {

/// A handle names the gdb it is of: another process of the same rank counts its values from one again.
QString handleOf(const RankProcess& process, const QString& gdbName) {
    return QStringLiteral("%1/%2").arg(process.link()->status().gdbPid).arg(gdbName);
}

/// gdb's name of a value, or nothing when the gdb that keeps it is gone.
std::optional<QString> gdbNameOf(const RankProcess& process, const QString& handle) {
    const qsizetype slash = handle.indexOf(u'/');
    if (slash < 0 || handle.left(slash) != QString::number(process.link()->status().gdbPid)) {
        return std::nullopt;
    }
    return handle.mid(slash + 1);
}

template <typename T>
void refuse(QObject* context, const Session::Handler<T>& handler, ErrorCode code, const QString& why) {
    QMetaObject::invokeMethod(
        context, [handler, error = Error{code, why}] { handler(error); }, Qt::QueuedConnection);
}

} // namespace

void Session::openValue(RankId rank, int frame, const QString& expression, Handler<mi::ValueTree> handler) {
    RankProcess* process = m_impl->process(rank);
    if (process == nullptr || !process->stopped()) {
        refuse(this, handler, ErrorCode::NotStopped, tr("the rank is not stopped"));
        return;
    }
    const auto open = [guarded = QPointer<RankProcess>(process), expression, handler](int level) {
        if (!guarded || !guarded->stopped()) {
            handler(Error{ErrorCode::NotStopped, tr("the rank is not stopped")});
            return;
        }
        guarded->gdb()->openValue(expression, guarded->thread(), level,
                                  [guarded, handler](Result<mi::ValueTree> answer) {
                                      if (answer && guarded) {
                                          answer.value().handle = handleOf(*guarded, answer.value().handle);
                                      }
                                      handler(answer);
                                  });
    };
    if (frame >= 0) {
        open(frame);
    } else {
        m_impl->findUserFrame(process, open);
    }
}

void Session::valueParts(RankId rank, const QString& handle, int from, int to,
                         Handler<QVector<mi::ValueTree>> handler) {
    RankProcess* process = m_impl->process(rank);
    const auto name = process != nullptr ? gdbNameOf(*process, handle) : std::nullopt;
    if (!name || !process->stopped()) {
        refuse(this, handler, name ? ErrorCode::NotStopped : ErrorCode::Unavailable,
               name ? tr("the rank is not stopped") : tr("the value is of a process that has ended"));
        return;
    }
    process->gdb()->valueParts(
        *name, from, to, [guarded = QPointer<RankProcess>(process), handler](Result<QVector<mi::ValueTree>> answer) {
            if (answer && guarded) {
                for (mi::ValueTree& part : answer.value()) {
                    part.handle = handleOf(*guarded, part.handle);
                }
            }
            handler(answer);
        });
}

void Session::updateValues(RankId rank, Handler<QVector<mi::ValueChange>> handler) {
    RankProcess* process = m_impl->process(rank);
    if (process == nullptr || !process->stopped()) {
        refuse(this, handler, ErrorCode::NotStopped, tr("the rank is not stopped"));
        return;
    }
    process->gdb()->updateValues(
        [guarded = QPointer<RankProcess>(process), handler](Result<QVector<mi::ValueChange>> answer) {
            if (answer && guarded) {
                for (mi::ValueChange& change : answer.value()) {
                    change.handle = handleOf(*guarded, change.handle);
                }
            }
            handler(answer);
        });
}

void Session::closeValue(RankId rank, const QString& handle) {
    const RankProcess* process = m_impl->process(rank);
    if (process == nullptr || process->ended()) {
        return;
    }
    if (const auto name = gdbNameOf(*process, handle)) {
        process->gdb()->closeValue(*name);
    }
}

RankView Session::live(RankId rank) const {
    RankView view = this->rank(rank);
    const RankProcess* process = m_impl->process(rank);
    const bool moves = view.phase == RankPhase::Starting || view.phase == RankPhase::Running;
    if (process == nullptr || !moves) {
        return view;
    }
    const agent::RankStatus& now = process->link()->status();
    if (now.event < view.place.event) {
        return view; // its trace has been read since
    }
    view.insideMpi = now.insideCall && !now.inHold;
    view.place = {now.event, !now.inHold && (now.insideCall || now.pollOpen)};
    view.location = {};
    view.callName.clear();
    const Timeline& timeline = m_impl->recording->timeline();
    if (now.event.value() == 1 && view.insideMpi) {
        view.callName = functionText(trace::FunctionId::Init); // which may well be read for the first time much later
    } else if (view.place.inside && rank.value() < timeline.rankCount() && now.event <= timeline.lastEvent(rank) &&
               timeline.isBegin(rank, now.event)) {
        const trace::EventDetails& details = timeline.details(rank, timeline.eventDetails(rank, now.event));
        view.callName = functionText(details.function);
        view.location = m_impl->siteOf(rank, details.site);
    }
    return view;
}

void Session::lookAt(RankId rank) {
    RankProcess* process = m_impl->process(rank);
    if (process == nullptr || process->ended() || m_impl->approach != nullptr) {
        return;
    }
    process->look([this, guarded = QPointer<RankProcess>(process)] {
        if (guarded && m_impl->process(guarded->rank()) == guarded) {
            emit rankChanged(guarded->rank());
        }
    });
}

} // namespace stopline::replay
