#include "launcher.h"

#include "agent_protocol.h"
#include "launcher_options.h"

#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>

#include <algorithm>

namespace stopline::agent {
namespace {

Error parseError(const QString& text) {
    return {ErrorCode::BadAnswer, text};
}

QString exportedNames() {
    return QLatin1StringView(kConnectVariable) + u',' + QLatin1StringView(kTokenVariable);
}

bool isOneOf(const QString& word, std::initializer_list<const char*> options) {
    return std::any_of(options.begin(), options.end(), [&](const char* option) {
        const QLatin1StringView name(option);
        return word == QStringLiteral("-") + name || word == QStringLiteral("--") + name;
    });
}

/// Reads one context from `at` to the next ":" or the end.
Result<AppContext> parseContext(const QStringList& words, qsizetype& at, LauncherKind kind) {
    AppContext context;
    const qsizetype end = std::find(words.begin() + at, words.end(), QStringLiteral(":")) - words.begin();
    while (at < end && words.at(at).startsWith(u'-') && words.at(at).size() > 1) {
        const QString option = words.at(at++);
        if (option == QLatin1StringView("--")) {
            break;
        }
        const OptionInfo info = optionInfo(kind, option);
        if (info.values < 0) {
            const auto marker = std::find(words.begin() + at, words.begin() + end, QStringLiteral("--"));
            if (marker == words.begin() + end) {
                return parseError(
                    QStringLiteral("The launcher option %1 is not known to Stopline, so it cannot tell "
                                   "where the program begins. Write -- before the program.")
                        .arg(option));
            }
            // The user says where the program begins.
            context.options << option;
            while (words.at(at) != QLatin1StringView("--")) {
                context.options << words.at(at++);
            }
            continue;
        }
        if (at + info.values > end) {
            return parseError(QStringLiteral("The launcher option %1 lacks its value.").arg(option));
        }
        if (info.role == OptionRole::Programs) {
            return parseError(
                QStringLiteral("The launcher option %1 takes the programs from a file. Stopline has to "
                               "put its agent before each program: give them on the command line.")
                    .arg(option));
        }
        if (info.role == OptionRole::Ranks) {
            context.ranks = (info.values > 0 ? words.at(at) : info.attached).toInt();
        }
        context.options << option << words.mid(at, info.values);
        at += info.values;
    }
    context.program = words.mid(at, end - at);
    at = end;
    if (context.program.isEmpty()) {
        return parseError(QStringLiteral("No program after the launcher's options%1.")
                              .arg(context.options.isEmpty()
                                       ? QString()
                                       : QStringLiteral(" (%1)").arg(joinWords(context.options))));
    }
    return context;
}

/// Options of one context so that the agent's two variables reach the rank.
QStringList exportingOptions(const LauncherCommand& command, const AppContext& context,
                             bool exportEnvironment) {
    QStringList options = context.options;
    const auto extend = [&options](qsizetype at) { options[at] += u',' + exportedNames(); };
    if (command.kind == LauncherKind::OpenMpi4 || command.kind == LauncherKind::OpenMpi5) {
        if (exportEnvironment) {
            options << QStringLiteral("-x") << QLatin1StringView(kConnectVariable) << QStringLiteral("-x")
                    << QLatin1StringView(kTokenVariable);
        }
    } else if (command.kind == LauncherKind::Mpich) {
        bool none = false;
        for (qsizetype i = 0; i < options.size(); ++i) {
            if (isOneOf(options.at(i), {"envlist", "genvlist"}) && i + 1 < options.size()) {
                extend(i + 1);
                return options;
            }
            if (isOneOf(options.at(i), {"envnone"})) {
                options[i] = QStringLiteral("-envlist");
                options.insert(i + 1, exportedNames());
                return options;
            }
            none = none || isOneOf(options.at(i), {"genvnone"});
        }
        // Global options stand in the first context, but hold for all.
        for (const QString& option : command.contexts.first().options) {
            none = none || isOneOf(option, {"genvnone", "genvlist"});
        }
        if (none) {
            options << QStringLiteral("-envlist") << exportedNames();
        }
    } else if (command.kind == LauncherKind::Srun) {
        for (qsizetype i = 0; i < options.size(); ++i) {
            const bool apart = options.at(i) == QLatin1StringView("--export") && i + 1 < options.size();
            if (!apart && !options.at(i).startsWith(QLatin1StringView("--export="))) {
                continue;
            }
            const QString value = apart ? options.at(i + 1) : options.at(i).mid(9);
            const QString wanted = value == QLatin1StringView("NONE") ? exportedNames()
                                   : value.split(u',').contains(QStringLiteral("ALL"))
                                       ? value
                                       : value + u',' + exportedNames();
            options[apart ? i + 1 : i] = apart ? wanted : QStringLiteral("--export=") + wanted;
        }
    }
    return options;
}

QStringList assemble(const LauncherCommand& command, const QString& agent, bool exportEnvironment) {
    QStringList words{command.launcher};
    for (qsizetype i = 0; i < command.contexts.size(); ++i) {
        const AppContext& context = command.contexts.at(i);
        if (i > 0) {
            words << QStringLiteral(":");
        }
        if (agent.isEmpty()) {
            words << context.options;
        } else {
            words << exportingOptions(command, context, exportEnvironment) << agent;
        }
        words << context.program;
    }
    return words;
}

} // namespace

int LauncherCommand::ranks() const {
    int sum = 0;
    for (const AppContext& context : contexts) {
        if (context.ranks <= 0) {
            return 0;
        }
        sum += context.ranks;
    }
    return sum;
}

Result<QStringList> splitWords(const QString& text) {
    enum class Quote { None, Single, Double };
    QStringList words;
    QString word;
    bool inWord = false;
    Quote quote = Quote::None;
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar c = text.at(i);
        if (quote == Quote::Single) {
            if (c == u'\'') {
                quote = Quote::None;
            } else {
                word += c;
            }
        } else if (c == u'\\' && i + 1 < text.size()) {
            const QChar next = text.at(++i);
            // Between double quotes a backslash protects only what would mean something there.
            if (quote == Quote::Double && next != u'"' && next != u'\\' && next != u'$' && next != u'`') {
                word += c;
            }
            word += next;
            inWord = true;
        } else if (c == u'"') {
            quote = quote == Quote::Double ? Quote::None : Quote::Double;
            inWord = true;
        } else if (c == u'\'' && quote == Quote::None) {
            quote = Quote::Single;
            inWord = true;
        } else if (c.isSpace() && quote == Quote::None) {
            if (inWord) {
                words << word;
                word.clear();
                inWord = false;
            }
        } else {
            word += c;
            inWord = true;
        }
    }
    if (quote != Quote::None) {
        return parseError(QStringLiteral("A quotation mark is not closed in: %1").arg(text));
    }
    if (inWord) {
        words << word;
    }
    return words;
}

QString joinWords(const QStringList& words) {
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_@%+=:,./^-]+$"));
    QStringList quoted;
    for (QString word : words) {
        if (!plain.match(word).hasMatch()) {
            word = u'\'' + word.replace(u'\'', QStringLiteral("'\\''")) + u'\'';
        }
        quoted << word;
    }
    return quoted.join(u' ');
}

bool isLauncherName(const QString& word) {
    static const QRegularExpression names(
        QStringLiteral("^(mpirun|mpiexec|orterun|prterun|srun|oshrun|shmemrun)([.-].+)?$"));
    return names.match(QFileInfo(word).fileName()).hasMatch();
}

LauncherKind kindFromVersion(const QString& versionText) {
    static const QRegularExpression openMpi(QStringLiteral("\\(Open MPI\\) v?(\\d+)\\."));
    if (const auto match = openMpi.match(versionText); match.hasMatch()) {
        return match.captured(1).toInt() >= 5 ? LauncherKind::OpenMpi5 : LauncherKind::OpenMpi4;
    }
    if (versionText.contains(QLatin1StringView("(PRRTE)")) ||
        versionText.contains(QLatin1StringView("prterun"))) {
        return LauncherKind::OpenMpi5;
    }
    if (versionText.contains(QLatin1StringView("HYDRA")) ||
        versionText.contains(QLatin1StringView("MPICH")) ||
        versionText.contains(QLatin1StringView("Intel(R) MPI")) ||
        versionText.contains(QLatin1StringView("MVAPICH"))) {
        return LauncherKind::Mpich;
    }
    return versionText.startsWith(QLatin1StringView("slurm ")) ? LauncherKind::Srun : LauncherKind::Unknown;
}

LauncherKind kindFromName(const QString& launcher) {
    const QString name = QFileInfo(launcher).fileName();
    if (name == QLatin1StringView("srun")) {
        return LauncherKind::Srun;
    }
    if (name == QLatin1StringView("prterun")) {
        return LauncherKind::OpenMpi5;
    }
    if (name.endsWith(QLatin1StringView(".hydra")) || name.endsWith(QLatin1StringView(".mpich"))) {
        return LauncherKind::Mpich;
    }
    return LauncherKind::Unknown;
}

LauncherKind detectLauncher(const QString& launcher) {
    if (const LauncherKind kind = kindFromName(launcher); kind != LauncherKind::Unknown) {
        return kind;
    }
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(launcher, {QStringLiteral("--version")});
    process.closeWriteChannel();
    if (!process.waitForFinished(5000)) {
        process.kill();
        process.waitForFinished(1000);
        return LauncherKind::Unknown;
    }
    return kindFromVersion(QString::fromLocal8Bit(process.readAll()));
}

Result<LauncherCommand> parseCommand(const QStringList& words, LauncherKind kind) {
    if (words.isEmpty()) {
        return parseError(QStringLiteral("The command line is empty."));
    }
    LauncherCommand command;
    command.launcher = words.first();
    command.kind = kind;
    qsizetype at = 1;
    while (true) {
        Result<AppContext> context = parseContext(words, at, kind);
        if (!context) {
            return context.error();
        }
        command.contexts << context.value();
        if (at >= words.size()) {
            return command;
        }
        ++at; // the colon
    }
}

Result<LauncherCommand> buildCommand(const QString& launcher, LauncherKind kind, int ranks,
                                     const QStringList& launcherArguments, const QStringList& program) {
    if (ranks < 1) {
        return parseError(QStringLiteral("The number of ranks must be at least 1."));
    }
    if (program.isEmpty()) {
        return parseError(QStringLiteral("No program is given."));
    }
    LauncherCommand command;
    command.launcher = launcher;
    command.kind = kind;
    AppContext context;
    context.ranks = ranks;
    context.options = QStringList{QStringLiteral("-n"), QString::number(ranks)} + launcherArguments;
    context.program = program;
    command.contexts << context;
    return command;
}

QStringList withAgent(const LauncherCommand& command, const QString& agent, bool exportEnvironment) {
    return assemble(command, agent, exportEnvironment);
}

QStringList withoutAgent(const LauncherCommand& command) {
    return assemble(command, {}, false);
}

bool namesHosts(const LauncherCommand& command) {
    for (const AppContext& context : command.contexts) {
        for (qsizetype i = 0; i < context.options.size(); ++i) {
            const OptionInfo info = optionInfo(command.kind, context.options.at(i));
            if (info.role == OptionRole::Hosts) {
                return true;
            }
            i += std::max(info.values, 0);
        }
    }
    return false;
}

} // namespace stopline::agent
