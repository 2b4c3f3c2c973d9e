#!/usr/bin/env python3
"""Makes what exists once for each traced function from functions.def.

usage: generate_entries.py functions.def entries.cpp trampolines.S

entries.cpp: the C entry points MPI_X and PMPI_X. trampolines.S: the Fortran entry points, which note their caller
and jump to the next definition.
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
    ("recvcounts", "const int*"): "recvcounts",
    ("sendtypes", "const MPI_Datatype*"): "sendtypes",
    ("recvtypes", "const MPI_Datatype*"): "recvtypes",
}
for plain in ("count", "dest", "source", "tag", "sendcount", "sendtag", "recvcount", "recvtag", "root", "errorcode",
              "target_rank", "origin_count", "result_count", "lock_type", "assertion", "amode"):
    ROLES[(plain, "int")] = plain
for plain in ("datatype", "sendtype", "recvtype", "origin_datatype", "result_datatype"):
    ROLES[(plain, "MPI_Datatype")] = plain
# Passed by value where the class wants to see it as all others: through a pointer.
BY_VALUE = {("request", "MPI_Request"): "request"}


class Row:
    def __init__(self, name, call_class, arguments):
        self.name = name
        self.call_class = call_class
        self.arguments = arguments  # (type, name)

    def prototype(self):
        return ", ".join(f"{kind} {name}" for kind, name in self.arguments) or "void"


def read_rows(path):
    text = re.sub(r"//.*", "", open(path, encoding="utf-8").read())
    rows = []
    for body in re.findall(r"STOPLINE_FUNCTION\(([^)]*)\)", text):
        fields = [re.sub(r"\s+", " ", field).strip() for field in body.split(",")]
        arguments = []
        for field in fields[2:]:
            match = re.fullmatch(r"(.*\S)\s+(\w+)", field)
            if match is None:
                sys.exit(f"{path}: {fields[0]}: argument '{field}' is not 'type name'")
            arguments.append((match.group(1), match.group(2)))
        rows.append(Row(fields[0], fields[1], arguments))
    if len({row.name for row in rows}) != len(rows):
        sys.exit(f"{path}: a function is there twice")
    return rows


def roles_of(row):
    """Members of Args that a row fills, with what."""
    roles = {}
    for kind, name in row.arguments:
        if (name, kind) in ROLES:
            roles[ROLES[(name, kind)]] = name
        elif (name, kind) in BY_VALUE:
            roles[BY_VALUE[(name, kind)]] = f"&{name}"
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
    lines.append(f"        return real.{row.name}({plain});")
    lines.append("    }")
    lines.append("    Args a;")
    roles = roles_of(row)
    for member in sorted(class_roles):
        lines.append(f"    a.{member} = {roles.get(member, '{}')};")
    inner = ", ".join("statusPlace" if name == status else name for _, name in row.arguments)
    head = "[&](MPI_Status* statusPlace)" if status else "[&]"
    lines.append(f"    return traced{row.call_class}<FunctionId::{row.name}>(a, STOPLINE_SITE, "
                 f"{head} {{ return real.{row.name}({inner}); }});")
    lines.append("}")
    lines.append(f'STOPLINE_EXPORT int PMPI_{row.name}({row.prototype()}) __attribute__((alias("MPI_{row.name}")));')
    return "\n".join(lines)


def write_entries(rows, path):
    with open(path, "w", encoding="utf-8") as out:
        out.write("// Made by generate_entries.py from functions.def.\n")
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


def fortran_names(name):
    low = name.lower()
    for prefix in ("mpi_", "pmpi_"):
        yield from (f"{prefix}{low}", f"{prefix}{low}_", f"{prefix}{low}__", f"{prefix}{low}_f08_",
                    f"{prefix}{low}".upper())


def write_trampolines(rows, path):
    names = [n for row in rows for n in fortran_names(row.name)]
    # Upper case of a name that is all capitals already would be the C name: no such function is traced.
    taken = {f"{p}{row.name}" for row in rows for p in ("MPI_", "PMPI_")}
    names = [n for n in names if n not in taken]
    with open(path, "w", encoding="utf-8") as out:
        out.write("// Made by generate_entries.py from functions.def.\n#ifdef __x86_64__\n")
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
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    rows = read_rows(sys.argv[1])
    write_entries(rows, sys.argv[2])
    write_trampolines(rows, sys.argv[3])


if __name__ == "__main__":
    main()
