#include "dwarf_lines.h"

#include "function_names.h"

#include <QDir>

#include <dwarf.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

namespace stopline::replay {

namespace {

constexpr int kDeepest =
    64; // nesting of functions, blocks and inlined calls; beyond that the input is damaged

constexpr int kFortran18 = 0x2d; // DW_LANG_Fortran18, which older versions of dwarf.h lack

bool isSystemFile(const QString& file) {
    return file.startsWith(QLatin1StringView("/usr/include/")) ||
           file.startsWith(QLatin1StringView("/usr/lib/"));
}

QString pathFrom(const char* text) {
    return text == nullptr ? QString() : QDir::cleanPath(QString::fromLocal8Bit(text));
}

bool isC(Dwarf_Die* unit) {
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
        return true;
    default:
        return false;
    }
}

bool isFortran(Dwarf_Die* unit) {
    switch (dwarf_srclang(unit)) {
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
    case kFortran18:
        return true;
    default:
        return false;
    }
}

const char* stringOf(Dwarf_Die* die, unsigned attribute) {
    Dwarf_Attribute found;
    return dwarf_formstring(dwarf_attr_integrate(die, attribute, &found));
}

/// What has to stand before the name of a function that is declared at `die`: "outer::(anonymous
/// namespace)::" for C++, "heat::" for a module procedure of Fortran, "simulate::" for one contained in
/// another.
std::string scopeOf(Dwarf_Die* die) {
    Dwarf_Die unit;
    if (dwarf_diecu(die, &unit, nullptr, nullptr) == nullptr || isC(&unit)) {
        return {};
    }
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes_die(die, &scopes);
    const std::unique_ptr<Dwarf_Die, void (*)(void*)> owner(scopes, std::free);
    const bool fortran = isFortran(&unit);
    std::string result;
    for (int i = 1; i < count; ++i) {
        const char* name = dwarf_diename(&scopes[i]);
        switch (dwarf_tag(&scopes[i])) {
        case DW_TAG_namespace:
            result.insert(0, std::string(name == nullptr ? "(anonymous namespace)" : name) + "::");
            break;
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_module:
            result.insert(0, name == nullptr ? std::string() : std::string(name) + "::");
            break;
        case DW_TAG_subprogram:
            result.insert(0, !fortran || name == nullptr ? std::string() : std::string(name) + "::");
            break;
        default:
            break;
        }
    }
    return result;
}

/// The line table's entry for an address. Code that the compiler made up has line 0: then the line before it.
SourceLine lineAt(Dwarf_Die* unit, std::uint64_t address) {
    SourceLine result;
    Dwarf_Line* line = dwarf_getsrc_die(unit, address);
    int number = 0;
    if (line == nullptr || dwarf_lineno(line, &number) != 0) {
        return result;
    }
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    if (number == 0 && dwarf_getsrclines(unit, &lines, &count) == 0) {
        Dwarf_Line* before = nullptr;
        for (std::size_t i = 0; i < count; ++i) {
            Dwarf_Line* entry = dwarf_onesrcline(lines, i);
            Dwarf_Addr start = 0;
            bool ends = false;
            if (dwarf_lineaddr(entry, &start) != 0 || start > address) {
                break;
            }
            if (dwarf_lineendsequence(entry, &ends) == 0 && ends) {
                before = nullptr;
            } else if (dwarf_lineno(entry, &number) == 0 && number > 0) {
                before = entry;
            }
        }
        number = 0;
        if (before != nullptr) {
            line = before;
            dwarf_lineno(line, &number);
        }
    }
    result.file = pathFrom(dwarf_linesrc(line, nullptr, nullptr));
    result.line = number;
    return result;
}

} // namespace

DwarfLines::DwarfLines(Dwarf* dwarf) {
    Dwarf_CU* unit = nullptr;
    Dwarf_Half version = 0;
    std::uint8_t type = 0;
    Dwarf_Die root;
    Dwarf_Die split;
    while (dwarf_get_units(dwarf, unit, &unit, &version, &type, &root, &split) == 0) {
        if (type == DW_UT_compile) {
            addUnit(root, root);
        } else if (type == DW_UT_skeleton) {
            addUnit(root, split.addr != nullptr ? split : root);
        }
    }
    std::sort(m_ranges.begin(), m_ranges.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
}

// The ranges of the units themselves are used, not .debug_aranges: some compilers do not write that section.
void DwarfLines::addUnit(Dwarf_Die root, Dwarf_Die content) {
    const std::size_t number = m_units.size();
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    std::ptrdiff_t offset = 0;
    bool any = false;
    while ((offset = dwarf_ranges(&root, offset, &base, &begin, &end)) > 0) {
        if (begin < end) {
            m_ranges.push_back({begin, end, number});
            any = true;
        }
    }
    if (any) {
        m_units.push_back({root, content});
    }
}

std::optional<SourceLine> DwarfLines::at(std::uint64_t address) {
    auto range = std::upper_bound(m_ranges.begin(), m_ranges.end(), address,
                                  [](std::uint64_t value, const Range& r) { return value < r.begin; });
    if (range == m_ranges.begin() || (--range)->end <= address) {
        return std::nullopt;
    }
    const std::size_t number = range->unit;
    if (!m_units[number].indexed) {
        indexFunctions(number);
    }
    SourceLine found = lineAt(&m_units[number].root, address);
    const Function* function = functionAt(address, number);
    if (function == nullptr) {
        return found;
    }
    std::vector<Scope> scopes = scopesAt(*function, address);
    // From the innermost outwards; the function itself, the first of them, is taken whatever its file is.
    while (scopes.size() > 1 && isSystemFile(found.file) && scopes.back().callLine > 0) {
        found.file = scopes.back().callFile;
        found.line = scopes.back().callLine;
        scopes.pop_back();
    }
    found.function = nameOf(&scopes.back().die);
    return found;
}

void DwarfLines::indexFunctions(std::size_t unit) {
    m_units[unit].indexed = true;
    Dwarf_Die root = m_units[unit].content;
    indexChildren(unit, &root, 0);
    // Small units are the rule; sorting all again at each new unit keeps the search simple.
    std::sort(m_functions.begin(), m_functions.end(),
              [](const Function& a, const Function& b) { return a.begin < b.begin; });
}

void DwarfLines::indexChildren(std::size_t unit, Dwarf_Die* parent, int depth) {
    Dwarf_Die child;
    if (depth > kDeepest || dwarf_child(parent, &child) != 0) {
        return;
    }
    do {
        const int tag = dwarf_tag(&child);
        if (tag == DW_TAG_subprogram) {
            Dwarf_Addr base = 0;
            Dwarf_Addr begin = 0;
            Dwarf_Addr end = 0;
            std::ptrdiff_t offset = 0;
            while ((offset = dwarf_ranges(&child, offset, &base, &begin, &end)) > 0) {
                if (begin < end) {
                    m_functions.push_back({begin, end, unit, child});
                }
            }
        }
        // Functions live in these; a procedure that is contained in another one is a child of it.
        if (tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_subprogram ||
            tag == DW_TAG_lexical_block) {
            indexChildren(unit, &child, depth + 1);
        }
    } while (dwarf_siblingof(&child, &child) == 0);
}

const DwarfLines::Function* DwarfLines::functionAt(std::uint64_t address, std::size_t unit) const {
    auto next = std::upper_bound(m_functions.begin(), m_functions.end(), address,
                                 [](std::uint64_t value, const Function& f) { return value < f.begin; });
    // Ranges of functions do not overlap, except where the linker discarded some and left them at low
    // addresses.
    for (int tries = 0; next != m_functions.begin() && tries < kDeepest; ++tries) {
        --next;
        if (address < next->end && next->unit == unit) {
            return &*next;
        }
    }
    return nullptr;
}

std::vector<DwarfLines::Scope> DwarfLines::scopesAt(const Function& function, std::uint64_t address) {
    std::vector<Scope> scopes{{function.die, {}, 0}};
    Dwarf_Die parent = function.die;
    Dwarf_Die unit;
    Dwarf_Files* files = nullptr;
    if (dwarf_diecu(&parent, &unit, nullptr, nullptr) != nullptr) {
        std::size_t count = 0;
        if (dwarf_getsrcfiles(&unit, &files, &count) != 0) {
            files = nullptr;
        }
    }
    for (int depth = 0; depth < kDeepest; ++depth) {
        Dwarf_Die child;
        bool found = false;
        if (dwarf_child(&parent, &child) != 0) {
            break;
        }
        do {
            const int tag = dwarf_tag(&child);
            if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) ||
                dwarf_haspc(&child, address) <= 0) {
                continue;
            }
            if (tag == DW_TAG_inlined_subroutine) {
                Dwarf_Attribute attribute;
                Dwarf_Word file = 0;
                Dwarf_Word line = 0;
                Scope scope{child, {}, 0};
                if (files != nullptr &&
                    dwarf_formudata(dwarf_attr(&child, DW_AT_call_file, &attribute), &file) == 0 &&
                    dwarf_formudata(dwarf_attr(&child, DW_AT_call_line, &attribute), &line) == 0) {
                    scope.callFile = pathFrom(dwarf_filesrc(files, file, nullptr, nullptr));
                    scope.callLine = static_cast<int>(line);
                }
                scopes.push_back(scope);
            }
            parent = child;
            found = true;
            break;
        } while (dwarf_siblingof(&child, &child) == 0);
        if (!found) {
            break;
        }
    }
    return scopes;
}

QString DwarfLines::nameOf(Dwarf_Die* die) {
    // Linkage names are missing where nothing outside the file may link: then the enclosing scopes give the
    // name.
    const char* linkage = stringOf(die, DW_AT_linkage_name);
    if (linkage == nullptr) {
        linkage = stringOf(die, DW_AT_MIPS_linkage_name);
    }
    if (linkage != nullptr && linkage[0] == '_' && linkage[1] == 'Z') {
        return QString::fromStdString(readableFunctionName(linkage));
    }
    const char* name = stringOf(die, DW_AT_name);
    if (name == nullptr) {
        return linkage == nullptr ? QString() : QString::fromStdString(readableFunctionName(linkage));
    }
    Dwarf_Die declaration = *die;
    for (const unsigned reference : {DW_AT_abstract_origin, DW_AT_specification}) {
        Dwarf_Attribute attribute;
        Dwarf_Die target;
        if (dwarf_formref_die(dwarf_attr(&declaration, reference, &attribute), &target) != nullptr) {
            declaration = target;
        }
    }
    return QString::fromStdString(scopeOf(&declaration)) + QString::fromUtf8(name);
}

} // namespace stopline::replay
