#include "function_names.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace stopline::replay {

namespace {

constexpr std::string_view kOperator = "operator";

/// Position of the bracket that opens the group closed at `close`; npos if there is none.
std::size_t openingOf(std::string_view text, std::size_t close) {
    int depth = 0;
    for (std::size_t i = close + 1; i-- > 0;) {
        if (text[i] == ')') {
            ++depth;
        } else if (text[i] == '(' && --depth == 0) {
            return i;
        }
    }
    return std::string_view::npos;
}

bool isNameCharacter(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '$';
}

/// Position of the last keyword `operator` that is a whole word; npos if there is none.
std::size_t lastOperator(std::string_view text) {
    for (std::size_t at = text.rfind(kOperator); at != std::string_view::npos;
         at = text.rfind(kOperator, at - 1)) {
        const std::size_t end = at + kOperator.size();
        const bool starts = at == 0 || !isNameCharacter(text[at - 1]);
        const bool ends = end == text.size() || !isNameCharacter(text[end]);
        if (starts && ends) {
            return at;
        }
        if (at == 0) {
            break;
        }
    }
    return std::string_view::npos;
}

/// Cuts off what stands before the name and is separated from it by a space outside all brackets.
std::string_view withoutReturnType(std::string_view name) {
    // Brackets in an operator's own name are not balanced: look only at what comes before it.
    const std::size_t operatorAt = lastOperator(name);
    int depth = 0;
    for (std::size_t i = operatorAt == std::string_view::npos ? name.size() : operatorAt; i-- > 0;) {
        switch (name[i]) {
        case ')':
        case '>':
        case '}':
            ++depth;
            break;
        case '(':
        case '<':
        case '{':
            --depth;
            break;
        case ' ':
            if (depth == 0) {
                return name.substr(i + 1);
            }
            break;
        default:
            break;
        }
    }
    return name;
}

} // namespace

std::string withoutParameters(std::string_view demangled) {
    std::size_t end = demangled.size();
    // "[clone .constprop.0]" and qualifiers follow the parameters.
    if (const std::size_t clone = demangled.find(" [clone"); clone != std::string_view::npos) {
        end = clone;
    }
    const std::size_t close = demangled.substr(0, end).rfind(')');
    if (close == std::string_view::npos) {
        return std::string(demangled);
    }
    const std::string_view after = demangled.substr(close + 1, end - close - 1);
    if (!after.empty() && after.front() != ' ' && after.front() != '&') {
        return std::string(
            demangled); // the bracket belongs to the name, as in "(anonymous namespace)::value"
    }
    const std::size_t open = openingOf(demangled, close);
    if (open == std::string_view::npos || open == 0) {
        return std::string(demangled);
    }
    if (demangled[open - 1] == ')') {
        // A function that returns a pointer to a function: too rare to be worth taking apart, unless it is
        // operator().
        const std::size_t inner = openingOf(demangled, open - 1);
        if (inner == std::string_view::npos || inner < kOperator.size() ||
            demangled.substr(inner - kOperator.size(), kOperator.size()) != kOperator) {
            return std::string(demangled);
        }
    }
    return std::string(withoutReturnType(demangled.substr(0, open)));
}

std::string readableFunctionName(std::string_view linkageName) {
    if (linkageName.starts_with("_Z")) {
        int status = 0;
        const std::string terminated(linkageName);
        const std::unique_ptr<char, void (*)(void*)> text(
            abi::__cxa_demangle(terminated.c_str(), nullptr, nullptr, &status), std::free);
        if (status == 0 && text != nullptr) {
            return withoutParameters(text.get());
        }
        return terminated;
    }
    constexpr std::string_view kModule = "_MOD_"; // in capitals, which gfortran's names otherwise never have
    const std::size_t at = linkageName.find(kModule);
    if (linkageName.starts_with("__") && at != std::string_view::npos && at > 2 &&
        at + kModule.size() < linkageName.size()) {
        return std::string(linkageName.substr(2, at - 2)) +
               "::" + std::string(linkageName.substr(at + kModule.size()));
    }
    return std::string(linkageName);
}

} // namespace stopline::replay
