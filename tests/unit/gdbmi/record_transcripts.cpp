// Records the scenes with the gdb of this machine, as data for the tests of parser and session:
//     record_transcripts DIRECTORY
// Run it again when the requests of the session or the scenes change, and read the difference.
#include "gdb_fixture.h"
#include "scenes.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>

#include <cstdio>

using namespace stopline::mi;

namespace {

/// The folders of whoever recorded are nobody's business.
QByteArray anonymous(QByteArray text) {
    QByteArray root(PROGRAM_SOURCES);
    root.chop(qstrlen("/tests/unit/gdbmi/programs"));
    return text.replace(root, "/home/user/stopline");
}

bool write(const QString& path, const QByteArray& text) {
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
}

} // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    if (arguments.size() != 2) {
        std::fputs("usage: record_transcripts DIRECTORY\n", stderr);
        return 2;
    }
    for (const Scene& scene : scenes()) {
        const QString base = QDir(arguments[1]).filePath(scene.name);
        const QString transcript = base + QStringLiteral(".mi");
        QStringList result;
        {
            Program program(QStringLiteral(PROGRAM_DIRECTORY "/") + scene.program, scene.arguments);
            GdbProcess gdb;
            GdbSession session(&gdb);
            session.recordTranscript(transcript);
            gdb.start();
            result = playScene(scene, session, program.pid());
            session.quit();
            waitUntil([&] { return session.state() == GdbState::Dead; });
        }
        QFile file(transcript);
        if (!file.open(QIODevice::ReadOnly) || !write(transcript, anonymous(file.readAll())) ||
            !write(base + QStringLiteral(".txt"),
                   anonymous(result.join(QLatin1Char('\n')).toUtf8() + '\n'))) {
            std::fprintf(stderr, "cannot write %s\n", qPrintable(base));
            return 1;
        }
    }
    return 0;
}
