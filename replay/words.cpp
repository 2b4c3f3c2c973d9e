#include "words.h"

#include <QStringList>

#include <algorithm>
#include <array>
#include <cmath>

namespace stopline {

QString rankSetText(QVector<int> ranks) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    QStringList parts;
    for (qsizetype i = 0; i < ranks.size();) {
        qsizetype last = i;
        const QString first = rankText(RankId(ranks[i]));
        const QString job = first.left(first.indexOf(u':') + 1);
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1 &&
               rankText(RankId(ranks[last + 1])).startsWith(job) && rankText(RankId(ranks[last + 1])).contains(u':') == !job.isEmpty()) {
            ++last;
        }
        // Two are no shorter as a range.
        const QString end = rankText(RankId(ranks[last]));
        parts << (last == i ? first : last == i + 1 ? first + u',' + end : first + u'-' + end.mid(job.size()));
        i = last + 1;
    }
    return parts.join(u',');
}

QString bytesText(std::uint64_t bytes) {
    static constexpr std::array<const char16_t*, 5> kNames{u"B", u"KiB", u"MiB", u"GiB", u"TiB"};
    std::size_t name = 0;
    double value = double(bytes);
    while (value >= 1024 && name + 1 < kNames.size()) {
        value /= 1024;
        ++name;
    }
    const bool whole = value == std::floor(value) || value >= 100;
    return QString::number(value, 'f', whole ? 0 : 1) + u' ' + QString::fromUtf16(kNames[name]);
}

QString errorText(trace::ErrorClass error, std::int32_t code) {
    const std::string_view name = trace::errorName(error);
    return QStringLiteral("%1 (code %2)").arg(QString::fromUtf8(name.data(), qsizetype(name.size()))).arg(code);
}

} // namespace stopline
