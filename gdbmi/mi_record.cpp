#include "mi_record.h"

#include <charconv>
#include <limits>

namespace stopline::mi {

const Value& Value::null() {
    static const Value value;
    return value;
}

const Value& Value::operator[](std::string_view childName) const {
    for (const Value& child : m_children) {
        if (child.m_name == childName) {
            return child;
        }
    }
    return null();
}

const Value& Value::at(std::size_t index) const {
    return index < m_children.size() ? m_children[index] : null();
}

std::optional<std::uint64_t> Value::toUnsigned() const {
    std::string_view digits = m_text;
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
        digits.remove_prefix(2);
        base = 16;
    }
    std::uint64_t number = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, number, base);
    if (failure != std::errc{} || stop != end || digits.empty()) {
        return std::nullopt;
    }
    return number;
}

int Value::toInt(int otherwise) const {
    if (m_text.starts_with('-')) {
        int number = 0;
        const char* end = m_text.data() + m_text.size();
        const auto [stop, failure] = std::from_chars(m_text.data(), end, number);
        return failure == std::errc{} && stop == end ? number : otherwise;
    }
    const auto number = toUnsigned();
    if (!number || *number > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
        return otherwise;
    }
    return static_cast<int>(*number);
}

const Value& Record::operator[](std::string_view resultName) const {
    for (const Value& result : results) {
        if (result.name() == resultName) {
            return result;
        }
    }
    return Value::null();
}

} // namespace stopline::mi
