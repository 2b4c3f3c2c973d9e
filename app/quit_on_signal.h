// Ends the program decently when it is told to by a signal.
#pragma once

namespace stopline::replay {
class Session;
}

namespace stopline::app {

/// From now on SIGTERM, SIGHUP and SIGINT end the session's job first, so that the launcher can clear up, and then the
/// program, with exit code 128 + signal, after ten seconds at the latest. A second signal ends it at once. The session
/// must live until the program ends; call once, with a running QCoreApplication.
void quitOnSignals(replay::Session* session);

} // namespace stopline::app
