#include "words.h"

#include <QStringList>

#include <array>
#include <cmath>

namespace stopline {

QString rankSetText(const QVector<int>& ranks) {
    QStringList parts;
    for (const std::string& part : replay::rankRanges({ranks.begin(), ranks.end()})) {
        parts << QString::fromStdString(part);
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
