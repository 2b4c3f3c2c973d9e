#!/usr/bin/env python3
"""Makes what cannot be run from a program that can: not executable, of another architecture, without symbols.

usage: make_bad_programs.py PROGRAM FOLDER
"""
import os
import shutil
import subprocess
import sys

program, folder = sys.argv[1:3]
os.makedirs(folder, exist_ok=True)


def copy(name):
    path = os.path.join(folder, name)
    shutil.copy(program, path)
    return path


os.chmod(copy("not_executable"), 0o644)
with open(copy("other_architecture"), "r+b") as f:
    f.seek(18)  # e_machine
    f.write(b"\xb7\x00")  # AArch64
subprocess.run(["strip", copy("without_symbols")], check=True)
with open(os.path.join(folder, "script.sh"), "w") as f:
    f.write('#!/bin/sh\nexec "$@"\n')
os.chmod(f.name, 0o755)
