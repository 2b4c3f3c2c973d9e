#include "batch.h"
#include "recording_mains.h"

#include "../replay/export_chrome.h"
#include "../replay/export_otf2.h"

#include <QSaveFile>

#include <cstdio>

namespace stopline::app {

namespace {

QString writeChrome(const replay::LoadedRecording& loaded, const QString& path) {
    QSaveFile file(path); // an old file stays until the new one is whole
    if (!file.open(QIODevice::WriteOnly)) {
        return file.errorString();
    }
    const QString wrong = replay::exportChrome(loaded, file);
    if (!wrong.isEmpty()) {
        file.cancelWriting();
        return wrong;
    }
    return file.commit() ? QString() : file.errorString();
}

} // namespace

int runExport(const CommandLine& line) {
    const bool otf2 = line.exportFormat == QLatin1StringView("otf2");
    replay::LoadedRecording loaded;
    if (const QString wrong = replay::loadRecording(line.openFile, loaded); !wrong.isEmpty()) {
        std::fprintf(stderr, "stopline: %s\n", qPrintable(wrong));
        return kScriptFailed;
    }
    for (const QString& text : loaded.problems + loaded.notes) {
        std::fprintf(stderr, "stopline: %s\n", qPrintable(text));
    }
    const QString wrong =
        otf2 ? replay::exportOtf2(loaded, line.exportTo) : writeChrome(loaded, line.exportTo);
    if (!wrong.isEmpty()) {
        std::fprintf(stderr, "stopline: %s cannot be exported: %s.\n", qPrintable(line.openFile),
                     qPrintable(wrong));
        return kScriptFailed;
    }
    return kScriptOk;
}

} // namespace stopline::app
