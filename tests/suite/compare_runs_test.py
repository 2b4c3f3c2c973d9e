#!/usr/bin/env python3
"""Whether compare_runs.py tells equal programs from different ones.

usage: compare_runs_test.py BIN FOLDER     FOLDER: its folders `same` and `other` hold the programs
"""

import os
import re
import subprocess
import sys

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compare_runs.py")


def compare(folder, *arguments):
    done = subprocess.run([sys.executable, SCRIPT, "--bin", BIN, *arguments, folder], capture_output=True, text=True,
                          timeout=250)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def expect(what, there):
    if not there:
        sys.exit(f"failed: {what}")


def main():
    same = os.path.join(FOLDER, "same")
    code, said = compare(same, "--ranks", "2")
    expect(said, code == 0)
    expect(said, re.search(r"^2 runs compared, 0 different, 0 baseline failures, 0 differ from run to run, "
                           r"0 recorded nothing, \d+ events; 0 listed programs are not built$", said, re.MULTILINE))

    other = os.path.join(FOLDER, "other")
    with open(os.path.join(other, "testlist"), "w", encoding="utf-8") as tests:
        tests.write("# a comment\ndiffers 2\ndiffers 2 arg=code timeLimit=30\ndiffers 3 arg=line\ndiffers 2 arg=fails\n"
                    "differs 2 env=MPIR_CVAR_NOTHING=1\nmissing 2\n")
    code, said = compare(other, "--repeats", "1")
    expect(said, code == 1)
    expect(said, re.search(r"^4 runs compared, 2 different, 1 baseline failures, .*; 1 listed programs are not built$", said,
                           re.MULTILINE))
    found = re.findall(r"^DIFFERENT .*/differs (\w+) \((\d) ranks\)$", said, re.MULTILINE)
    expect(said, found == [("code", "2"), ("line", "3")])
    expect(said, "  | something is loaded\n" in said and "  exit code 3\n" in said)
    expect(said, re.search(r"^baseline failure: .*/differs fails \(2 ranks\): exit code 5$", said, re.MULTILINE))

    code, said = compare(other, "--only", "nosuch")
    expect(said, code == 2)


BIN, FOLDER = sys.argv[1:]
main()
