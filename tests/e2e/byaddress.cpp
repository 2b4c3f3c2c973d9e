// An execution departs from the recorded one as a block of memory is elsewhere, or for another reason: what
// is said of addresses then.
//
// usage: byaddress PROGRAM shown|hidden|sent|plain [LAUNCHER]
#include "session_support.h"

#include "../../tracelib/mapping.h"

#include <QCoreApplication>
#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>

using namespace stopline;
using namespace stopline::replay;
using namespace stopline::test;

namespace {

constexpr int kSeconds = 100; ///< that one execution may take

/// What the program does by what the file says, and what is said of that, as regular expressions.
struct Case {
    const char* recorded; ///< the file's content
    const char* executed;
    quint32 noted;
    const char* text;
    const char* remedy;
    const char* memory; ///< of the departure
};

// A block from the heap, and one that is mapped for itself.
constexpr const char* kSmall = "1000";
constexpr const char* kLarge = "41943040";

constexpr const char* kMoved =
    "the heap is not where it was: the buffer of event 3 was at 0x5[0-9a-f]{11} in the recording and is at "
    "0x7[0-9a-f]{11} now";
constexpr const char* kGoOn = " The diagram now shows this execution; you can go on from here\\.";

Case caseOf(const QString& how) {
    static const std::string kDeparts =
        "The re-execution departs from the recording: rank 1, event 7 \\(byaddress\\.c:\\d+\\): recorded "
        "MPI_Send to 0 tag 1 4 B, now MPI_Send to 0 tag 2 4 B";
    static const std::string kRest = "a file, a time or number from elsewhere, the order of threads or of "
                                     "one-sided accesses decides there\\.";
    static const std::string kDecided = "What MPI decides was replayed: so ";
    static const std::string kHelps = " Numbers of one's own instead of addresses, or memory that is "
                                      "allocated before MPI_Init, are the same each time\\.";
    static const std::string kWhere =
        "\\(where the program sorts or hashes by address, or prints or sends a pointer\\), ";
    if (how == u"shown") {
        static const std::string text = kDeparts + "; " + kMoved;
        static const std::string remedy =
            kDecided + "an address that malloc gave " + kWhere + kRest + kHelps + kGoOn;
        return {kSmall, kLarge, 0, text.c_str(), remedy.c_str(), kMoved};
    }
    if (how == u"hidden") {
        static const std::string remedy = kDecided +
                                          "an address that malloc gave \\(since event [23] at the latest the "
                                          "heap is not as in the recording\\), " +
                                          kRest + kGoOn;
        return {kSmall, kLarge, trace::kNoteSent, kDeparts.c_str(), remedy.c_str(), ""};
    }
    if (how == u"sent") {
        static const std::string text = "What rank 1 sends is not what it sent in the recording: it differs "
                                        "at event 8193 \\(byaddress\\.c:\\d+\\); "
                                        "from when on is not known; " +
                                        std::string(kMoved);
        static const std::string remedy =
            "The calls are the same, their data are not: a pointer " + kWhere +
            "a random number, the number of a process, memory that was never set\\." + kHelps + kGoOn;
        return {kSmall, kLarge, trace::kNoteSent, text.c_str(), remedy.c_str(), kMoved};
    }
    static const std::string text =
        "The re-execution departs from the recording: rank 1, event 3 \\(byaddress\\.c:\\d+\\): recorded "
        "MPI_Send to 0 tag 1 4 B, now MPI_Send to 0 tag 2 4 B";
    static const std::string remedy =
        kDecided + kRest + " Up to event 2 the heap was as in the recording\\." + kGoOn;
    return {"1", "2", trace::kNoteSent, text.c_str(), remedy.c_str(), ""};
}

bool isText(const char* expected, const QString& text, const char* what) {
    const QRegularExpression form(QRegularExpression::anchoredPattern(QLatin1StringView(expected)));
    if (form.match(text).hasMatch()) {
        return true;
    }
    out << "FAILED: the " << what << " is\n    " << text << "\n  and not\n    " << expected << Qt::endl;
    return false;
}

bool write(const QString& path, const char* content) {
    QFile file(path);
    if (file.open(QIODevice::WriteOnly) && file.write(content) > 0) {
        return true;
    }
    out << "FAILED: " << path << " cannot be written" << Qt::endl;
    return false;
}

bool departs(const QStringList& words, const Case& expected) {
    const QTemporaryDir directory;
    const QString file = directory.filePath(QStringLiteral("input"));
    LaunchSpec spec;
    spec.program = words.at(1);
    spec.arguments = {file, words.at(2)};
    spec.ranks = 2;
    spec.alsoNoted = expected.noted;
    if (words.size() > 3) {
        spec.launcher = words.at(3);
    }
    Session session;
    bool ended = false;
    QStringList texts, remedies;
    Departure departure;
    QObject::connect(&session, &Session::jobEnded, &session, [&] { ended = true; });
    QObject::connect(&session, &Session::departed, &session,
                     [&](const Departure& found) { departure = found; });
    QObject::connect(&session, &Session::message, &session,
                     [&](Severity severity, const QString& text, const QString& remedy) {
                         if (severity == Severity::Error) {
                             texts << text;
                             remedies << remedy;
                         }
                     });
    session.setLaunch(spec);
    bool good = write(file, expected.recorded);
    if (good) {
        session.run();
        good = waitFor([&] { return ended; }, kSeconds) && write(file, expected.executed);
    }
    if (good) {
        session.replay();
        good = waitFor([&] { return departure.event.value() != 0; }, kSeconds);
    }
    if (!good) {
        printStates(session);
        out << "FAILED: it does not go as it should" << Qt::endl;
    } else {
        good = isText(expected.text, texts.value(0), "text");
        good = isText(expected.remedy, remedies.value(0), "remedy") && good;
        good = isText(expected.memory, departure.memory, "memory of the departure") && good;
    }
    endJob(session);
    return good;
}

} // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    const QStringList words = QCoreApplication::arguments();
    if (words.size() < 3) {
        out << "usage: byaddress PROGRAM shown|hidden|sent|plain [LAUNCHER]" << Qt::endl;
        return 2;
    }
    return departs(words, caseOf(words.at(2))) ? 0 : 1;
}
