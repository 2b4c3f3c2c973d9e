#!/usr/bin/env python3
"""Whether compare_replays.py tells replays that came out the same from others.

usage: compare_replays_test.py BIN PROGRAMS LATER     PROGRAMS: folder with wildcard and segv; LATER: the program of later.c
"""

import os
import re
import subprocess
import sys
import tempfile

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compare_replays.py")


def compare(folder, text, *arguments):
    path = os.path.join(folder, "list")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([sys.executable, SCRIPT, "--bin", BIN, *arguments, path], capture_output=True, text=True, timeout=400)
    return done.returncode, done.stdout + done.stderr


def expect(what, there):
    if not there:
        sys.exit(f"failed: {what}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        code, said = compare(folder, f"# a comment\nracing 4 {PROGRAMS}/wildcard\nfailing 4 {PROGRAMS}/segv\n", "--replays", "2")
        expect(said, code == 0)
        expect(said, re.search(r"^racing: 72 events, \d+ receives and probes raced, 2 of 2 replays equal$", said, re.MULTILINE))
        expect(said, re.search(r"^failing: .*, 0 receives and probes raced, 2 of 2 replays equal$", said, re.MULTILINE))
        expect(said, said.endswith("2 of 2 runs came out the same in every replay\n"))

        runs = "".join(f"{how} 2 {LATER} {folder}/{how}.made {how}\n" for how in ("calls", "line", "code", "nothing"))
        code, said = compare(folder, runs, "--replays", "1", "--seconds", "8")
        expect(said, code == 1)
        expect(said, re.findall(r"^(\w+): .* (\d) of 1 replays equal$", said, re.MULTILINE) ==
               [("calls", "0"), ("line", "0"), ("code", "0"), ("nothing", "1")])
        expect(said, re.search(r"^  line: \+ rank 1 of a program that runs later$", said, re.MULTILINE))
        expect(said, "1 of 4 runs came out the same in every replay\n" in said)

        code, said = compare(folder, "# nothing\n")
        expect(said, code == 2)
        code, said = compare(folder, "no 2 ./there-is-no-such-program\n")
        expect(said, code == 2)


BIN, PROGRAMS, LATER = sys.argv[1:]
main()
