#include "chance_words.h"

#include <QStringList>

namespace stopline::replay {

QString chanceText(const Timeline& timeline, std::optional<RankId> rank) {
    const Timeline::ChanceCalls chance = timeline.chanceCalls(rank);
    if (chance.uses.empty()) {
        return {};
    }
    QStringList parts;
    for (const auto& [function, calls] : chance.uses) {
        const std::string_view name = trace::functionName(function);
        const QString noun = !parts.isEmpty() ? QString()
                             : calls == 1     ? QStringLiteral("call ")
                                              : QStringLiteral("calls ");
        parts << QStringLiteral("%1 %2of %3")
                     .arg(calls)
                     .arg(noun, QString::fromLatin1(name.data(), qsizetype(name.size())));
    }
    const QString last = parts.takeLast();
    return QStringLiteral("also without a race, %1 may come out otherwise in another run, by what is "
                          "complete or has come by then%2")
        .arg(parts.isEmpty() ? last : QStringLiteral("%1 and %2").arg(parts.join(QStringLiteral(", ")), last),
             chance.severalThreads ? QString() : QStringLiteral("; a replay repeats what they came to"));
}

} // namespace stopline::replay
