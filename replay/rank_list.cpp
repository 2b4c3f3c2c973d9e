#include "rank_list.h"

#include <algorithm>

namespace stopline::replay {

QString ranksText(QVector<RankId> ranks) {
    std::sort(ranks.begin(), ranks.end());
    QString text;
    for (qsizetype i = 0; i < ranks.size();) {
        qsizetype last = i;
        while (last + 1 < ranks.size() && ranks[last + 1].value() == ranks[last].value() + 1) {
            ++last;
        }
        text += text.isEmpty() ? QString() : QStringLiteral(",");
        text += QString::number(ranks[i].value());
        if (last > i) {
            text += (last > i + 1 ? u'-' : u',') + QString::number(ranks[last].value());
        }
        i = last + 1;
    }
    return (ranks.size() == 1 ? QStringLiteral("rank ") : QStringLiteral("ranks ")) + text;
}

} // namespace stopline::replay
