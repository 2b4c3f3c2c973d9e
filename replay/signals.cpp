#include "signals.h"

#include <csignal>
#include <cstring>

namespace stopline {

QString signalName(int signal) {
    const char* name = ::sigabbrev_np(signal);
    return name != nullptr ? QStringLiteral("SIG") + QString::fromLatin1(name) : QStringLiteral("signal %1").arg(signal);
}

int signalOfName(const QString& name) {
    for (int signal = 1; signal < SIGRTMIN; ++signal) {
        if (signalName(signal) == name) {
            return signal;
        }
    }
    return -1;
}

QString killedText(int signal) {
    return QStringLiteral("killed by %1 (%2)").arg(signalName(signal), QString::fromLocal8Bit(::strsignal(signal)));
}

QString endedWithJobText() {
    return QStringLiteral("ended with the job");
}

bool isOwnFault(int signal) {
    switch (signal) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
    case SIGTRAP:
    case SIGSYS:
    case SIGPIPE:
        return true;
    default:
        return false;
    }
}

} // namespace stopline
