// Source lines and function names from the DWARF debug information of one file. Not thread-safe.
#pragma once

#include "source_lines.h"

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace stopline::replay {

class DwarfLines {
  public:
    /// Does not take ownership; `dwarf` must stay valid. Finds out which unit covers which addresses, nothing
    /// more.
    explicit DwarfLines(Dwarf* dwarf);

    /// Line and function of the instruction at an address as the linker assigned it. Where functions have
    /// been inlined there, the innermost one whose source is not a system header. Nothing if no unit covers
    /// the address.
    [[nodiscard]] std::optional<SourceLine> at(std::uint64_t address);

  private:
    struct Unit {
        Dwarf_Die root;    ///< has the line table
        Dwarf_Die content; ///< has the functions; another one than the root with split debug information
        bool indexed = false;
    };
    struct Range {
        std::uint64_t begin;
        std::uint64_t end;
        std::size_t unit;
    };
    struct Function {
        std::uint64_t begin;
        std::uint64_t end;
        std::size_t unit;
        Dwarf_Die die;
    };
    /// A function body that covers the address: the function itself, or one inlined into it.
    struct Scope {
        Dwarf_Die die;
        QString callFile;
        int callLine = 0;
    };

    void addUnit(Dwarf_Die root, Dwarf_Die content);
    void indexFunctions(std::size_t unit);
    void indexChildren(std::size_t unit, Dwarf_Die* parent, int depth);
    [[nodiscard]] const Function* functionAt(std::uint64_t address, std::size_t unit) const;
    [[nodiscard]] static std::vector<Scope> scopesAt(const Function& function, std::uint64_t address);
    [[nodiscard]] static QString nameOf(Dwarf_Die* die);

    std::vector<Unit> m_units;
    std::vector<Range> m_ranges; ///< by begin
    std::vector<Function> m_functions;
};

} // namespace stopline::replay
