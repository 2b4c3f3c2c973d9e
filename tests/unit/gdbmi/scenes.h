// Short debugging sessions, performed with a real gdb when transcripts are recorded and against those in
// tests.
#pragma once

#include "../../../gdbmi/gdb_session.h"

#include <QString>
#include <QStringList>
#include <QVector>

namespace stopline::mi {

struct SceneStep {
    enum class What {
        UserLibraries,
        Break,
        Continue,
        Next,
        Step,
        Finish,
        Advance,
        Stack,
        Variables,
        Evaluate,
        Threads
    };
    What what = What::Stack;
    QString text = {}; ///< location or expression
};

struct Scene {
    QString name, program;
    QStringList arguments;
    QVector<SceneStep> steps;
};

QVector<Scene> scenes();

/// Initialises, attaches, and performs the steps one after the other. One line of text for each, without
/// addresses.
QStringList playScene(const Scene& scene, GdbSession& session, qint64 pid);

} // namespace stopline::mi
