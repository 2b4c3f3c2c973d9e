// One row of the Variables panel with what hangs below it. Inside of VariablesModel.
#pragma once

#include "../gdbmi/gdb_session.h"

#include <QString>

#include <memory>
#include <vector>

namespace stopline::app {

struct VariableNode {
    enum class Kind {
        Root,
        Watch,    ///< an expression of the user's
        Variable, ///< argument or local variable
        Part,     ///< member or element of the row above
        More,     ///< "more…": the rest of a long list is fetched on demand
        Note,     ///< why there are no parts
        Add,      ///< the empty row to type an expression into
    };
    enum class Fetch { None, Asked, Done };

    Kind kind = Kind::Root;
    QString name; ///< as shown; of a part with its index's brackets
    QString value;
    QString type;
    bool argument = false;
    bool changed = false; ///< since the stop before
    bool error = false;
    bool expandable = false;
    bool openableTold = false; ///< whether views were last told that the row can be opened
    bool wanted = false; ///< somebody has opened it: its parts are fetched again when they have been lost
    Fetch fetch = Fetch::None;
    QString handle; ///< of the value that gdb keeps; empty: not opened yet
    quint64 id = 0;
    VariableNode* parent = nullptr;
    std::vector<std::unique_ptr<VariableNode>> children;

    [[nodiscard]] int row() const;
    /// Children that are parts, without "more…".
    [[nodiscard]] int partCount() const;
    [[nodiscard]] VariableNode* find(const QString& wantedHandle);
    /// Names from the top, to find it again in another stop: "grid/(:,2)".
    [[nodiscard]] QString path() const;
};

/// The name of a part as the program writes it: "[3]", "(2,3)" for Fortran, whose arrays gdb takes apart from the
/// last index on ("(:,3)" is a column), or the member's name.
[[nodiscard]] QString partName(const VariableNode& whole, const QString& name);
/// Whether a value without parts of its own points at something that can be looked into.
[[nodiscard]] bool pointsAtSomething(const QString& type, const QString& value);
/// The same for an expression, of which only the value is known.
[[nodiscard]] bool mayHaveParts(const QString& value);
/// The same for a variable.
[[nodiscard]] bool mayHaveParts(const mi::Variable& variable);
/// A type of C++ as people write it: "std::vector<std::string>" for what gdb spells with allocators, traits and
/// inline namespaces; "real(8)" for Fortran's "real(kind=8)". Other types come back as they are.
[[nodiscard]] QString shortType(const QString& type);

} // namespace stopline::app
