#!/usr/bin/env python3
"""Makes what exists once for each traced function from functions.def and the files beside it.

usage: generate_entries.py openmpi|mpich TABLE.def... entries.cpp trampolines.S

entries.cpp: the C entry points MPI_X and PMPI_X. trampolines.S: the Fortran entry points under the names that this MPI
gives them; they note their caller and jump to the next definition.
"""

import re
import sys

# Role of an argument (its name) and the type it must have to be one: the member of Args it goes to.
ROLES = {
    ("buf", "const void*"): "buf",
    ("buf", "void*"): "buf",
    ("sendbuf", "const void*"): "sendbuf",
    ("recvbuf", "void*"): "recvbuf",
    ("recvbuf", "const void*"): "recvbuf",
    ("comm", "MPI_Comm*"): "commPointer",
    ("comm", "MPI_Comm"): "comm",
    ("newcomm", "MPI_Comm*"): "newcomm",
    ("win", "MPI_Win"): "win",
    ("win", "MPI_Win*"): "winPointer",
    ("group", "MPI_Group"): "group",
    ("fh", "MPI_File"): "fh",
    ("fh", "MPI_File*"): "fhPointer",
    ("request", "MPI_Request*"): "request",
    ("requests", "MPI_Request*"): "requests",
    ("status", "MPI_Status*"): "status",
    ("statuses", "MPI_Status*"): "statuses",
    ("message", "MPI_Message*"): "message",
    ("flag", "int*"): "flag",
    ("index", "int*"): "index",
    ("outcount", "int*"): "outcount",
    ("indices", "int*"): "indices",
    ("sendcounts", "const int*"): "sendcounts",
    ("sendcounts", "const MPI_Count*"): "sendcounts",
    ("recvcounts", "const int*"): "recvcounts",
    ("recvcounts", "const MPI_Count*"): "recvcounts",
    ("sendtypes", "const MPI_Datatype*"): "sendtypes",
    ("recvtypes", "const MPI_Datatype*"): "recvtypes",
    ("array_of_commands", "char**"): "commands",
    ("array_of_argv", "char***"): "argvs",
    ("array_of_info", "const MPI_Info*"): "infos",
}
for plain in ("count", "dest", "source", "tag", "sendcount", "sendtag", "recvcount", "recvtag", "root", "errorcode",
              "target_rank", "origin_count", "result_count", "lock_type", "assertion", "amode", "partitions"):
    ROLES[(plain, "int")] = plain
    if plain.endswith("count"):
        ROLES[(plain, "MPI_Count")] = plain
for plain in ("datatype", "sendtype", "recvtype", "origin_datatype", "result_datatype"):
    ROLES[(plain, "MPI_Datatype")] = plain
# Classes whose source may be any: a re-execution puts there the one that it has to be.
FORCED_SOURCE = {"Recv", "Irecv", "Sendrecv", "Isendrecv", "Probe", "Iprobe", "Mprobe", "Improbe"}
# Classes whose message may travel on the twin of its communicator.
MARKED = {"Send", "Isend", "Recv", "Irecv", "Sendrecv", "Probe", "Iprobe", "Mprobe", "Improbe"}
# Passed by value where the class wants to see it as all others: through a pointer.
BY_VALUE = {
    ("request", "MPI_Request"): "request",
    ("command", "const char*"): "commands",
    ("argv", "char**"): "argvs",
    ("info", "MPI_Info"): "infos",
}
# What the wrapper puts in the place of these, for the call alone.
REPLACED = {"command": "spawn.commands[0]", "argv": "spawn.argvs[0]",
            "array_of_commands": "spawn.commands", "array_of_argv": "spawn.argvs"}


class Row:
    def __init__(self, name, call_class, arguments):
        self.name = name
        self.call_class = call_class
        self.arguments = arguments  # (type, name)

    def prototype(self):
        return ", ".join(f"{kind} {name}" for kind, name in self.arguments) or "void"


def read_row(path, body):
    fields = [re.sub(r"\s+", " ", field).strip() for field in body.split(",")]
    arguments = []
    for field in fields[2:]:
        match = re.fullmatch(r"(.*\S)\s+(\w+)", field)
        if match is None:
            sys.exit(f"{path}: {fields[0]}: argument '{field}' is not 'type name'")
        arguments.append((match.group(1), match.group(2)))
    return Row(fields[0], fields[1], arguments)


def persistent(row, call_class):
    return Row(row.name + "_init", call_class,
               row.arguments + [("MPI_Info", "info"), ("MPI_Request*", "request")])


# Integers that MPI 4.0 left as they are in its functions for large counts.
SMALL = {"dest", "source", "tag", "sendtag", "recvtag", "root", "target_rank"}


def large(row, call_class):
    arguments = []
    for kind, name in row.arguments:
        if name not in SMALL:
            wide = "MPI_Aint" if name.endswith("displs") or name == "disp_unit" else "MPI_Count"
            kind = re.sub(r"\bint\b", wide, kind)
        arguments.append((kind, name))
    return Row(row.name + "_c", call_class, arguments)


def read_rows(paths):
    rows = {}
    derived = {"PERSISTENT": persistent, "LARGE": large}
    for path in paths:
        text = re.sub(r"//.*|^#.*|^\s+#.*", "", open(path, encoding="utf-8").read(), flags=re.MULTILINE)
        for macro, body in re.findall(r"STOPLINE_(FUNCTION|PERSISTENT|LARGE)\(([^)]*)\)", text):
            if macro == "FUNCTION":
                row = read_row(path, body)
            else:
                base, call_class = [field.strip() for field in body.split(",")]
                if base not in rows:
                    sys.exit(f"{path}: {base} is no row before {body}")
                row = derived[macro](rows[base], call_class)
            if row.name in rows:
                sys.exit(f"{path}: {row.name} is there twice")
            rows[row.name] = row
    return list(rows.values())


def roles_of(row):
    """Members of Args that a row fills, with what."""
    roles = {}
    for kind, name in row.arguments:
        if (name, kind) in ROLES:
            roles[ROLES[(name, kind)]] = name
        elif (name, kind) in BY_VALUE:
            roles[BY_VALUE[(name, kind)]] = f"&{name}"
        if (name, kind) == ("source", "int") and row.call_class in FORCED_SOURCE:
            roles["sourcePlace"] = "&source"
        if (name, kind) == ("comm", "MPI_Comm") and row.call_class in MARKED:
            roles["commPlace"] = "&comm"
    return roles


def roles_of_classes(rows):
    """For each class, the members of Args that some function of it fills: the others may be left alone."""
    result = {}
    for row in rows:
        result.setdefault(row.call_class, set()).update(roles_of(row))
    return result


def entry(row, class_roles):
    status = next((name for _, name in row.arguments if name in ("status", "statuses")), None)
    lines = [f"STOPLINE_EXPORT int MPI_{row.name}({row.prototype()}) {{"]
    plain = ", ".join(name for _, name in row.arguments)
    lines.append(f"    STOPLINE_NEED({row.name})")
    if row.call_class == "Init":
        lines.append("    if (thread.depth != 0 || !startRecording()) {")
    else:
        lines.append("    if (passesThrough()) {")
        if row.call_class == "SessionEnd":
            lines.append("        noteSession();")
    lines.append(f"        return real.{row.name}({plain});")
    lines.append("    }")
    lines.append("    Args a;")
    roles = roles_of(row)
    for member in sorted(class_roles):
        lines.append(f"    a.{member} = {roles.get(member, '{}')};")
    spawns = row.name.startswith("Comm_spawn")
    inner = ", ".join("statusPlace" if name == status else REPLACED.get(name, name) if spawns else name
                      for _, name in row.arguments)
    head = "[&](MPI_Status* statusPlace)" if status else "[&](const SpawnWords& spawn)" if spawns else "[&]"
    lines.append(f"    return traced{row.call_class}<FunctionId::{row.name}>(a, STOPLINE_SITE, "
                 f"{head} {{ return real.{row.name}({inner}); }});")
    lines.append("}")
    lines.append(f'STOPLINE_EXPORT int PMPI_{row.name}({row.prototype()}) __attribute__((alias("MPI_{row.name}")));')
    return "\n".join(lines)


def write_entries(rows, path):
    with open(path, "w", encoding="utf-8") as out:
        out.write("// Made by generate_entries.py from functions.def and the files beside it.\n")
        out.write('#include "wrappers.h"\n\n')
        out.write('#define STOPLINE_EXPORT extern "C" __attribute__((visibility("default")))\n')
        out.write("#define STOPLINE_SITE callSite(__builtin_return_address(0))\n")
        out.write("#define STOPLINE_NEED(name)                                             \\\n"
                  "    if (real.name == nullptr && (findReal(), real.name == nullptr)) {   \\\n"
                  "        return MPI_ERR_UNSUPPORTED_OPERATION;                           \\\n"
                  "    }\n\n")
        out.write("using namespace stopline::preload;\n\n")
        class_roles = roles_of_classes(rows)
        out.write("\n\n".join(entry(row, class_roles[row.call_class]) for row in rows) + "\n")


# What follows the lower-case name of a function in the Fortran layers, by prefix.
PLAIN = ("", "_", "__")
F08 = ("_f08_", "_f08_large_", "_f08ts_", "_f08ts_large_")
FORTRAN = {
    "openmpi": {"mpi_": PLAIN + ("_f08_",), "pmpi_": PLAIN + ("_f08_",)},
    "mpich": {"mpi_": PLAIN + F08, "pmpi_": PLAIN, "pmpir_": F08},
}


def fortran_names(dialect, name):
    low = name.lower()
    for prefix, suffixes in FORTRAN[dialect].items():
        yield from (prefix + low + suffix for suffix in suffixes)
        if "" in suffixes:
            yield (prefix + low).upper()


def write_trampolines(rows, dialect, path):
    # Functions for large counts have no names of their own in Fortran.
    names = [n for row in rows if not row.name.endswith("_c") for n in fortran_names(dialect, row.name)]
    # Upper case of a name that is all capitals already would be the C name: no such function is traced.
    taken = {f"{p}{row.name}" for row in rows for p in ("MPI_", "PMPI_")}
    names = [n for n in names if n not in taken]
    with open(path, "w", encoding="utf-8") as out:
        out.write("// Made by generate_entries.py from functions.def and the files beside it.\n#ifdef __x86_64__\n")
        out.write('#include "trampoline_x86_64.inc"\n\n')
        for number, name in enumerate(names):
            out.write(f"    STOPLINE_TRAMPOLINE {name} {number}\n")
        out.write("\n    .data\n    .balign 8\n    .globl stoplineTrampolineNext\n    .hidden stoplineTrampolineNext\n")
        out.write("    .type stoplineTrampolineNext, @object\n")
        out.write(f"    .size stoplineTrampolineNext, {8 * len(names)}\nstoplineTrampolineNext:\n")
        for number in range(len(names)):
            out.write(f"    .quad .Lresolve{number}\n")
        out.write("\n    .section .data.rel.ro, \"aw\"\n    .balign 8\n    .globl stoplineTrampolineName\n"
                  "    .hidden stoplineTrampolineName\n    .type stoplineTrampolineName, @object\n")
        out.write(f"    .size stoplineTrampolineName, {8 * len(names)}\nstoplineTrampolineName:\n")
        for number in range(len(names)):
            out.write(f"    .quad .Lname{number}\n")
        out.write("\n    .section .rodata.str1.1, \"aMS\", @progbits, 1\n")
        for number, name in enumerate(names):
            out.write(f'.Lname{number}: .string "{name}"\n')
        out.write("#endif\n    .section .note.GNU-stack, \"\", @progbits\n")


def main():
    if len(sys.argv) < 5 or sys.argv[1] not in FORTRAN:
        sys.exit(__doc__)
    dialect, *tables, entries, trampolines = sys.argv[1:]
    rows = read_rows(tables)
    write_entries(rows, entries)
    write_trampolines(rows, dialect, trampolines)


if __name__ == "__main__":
    main()
