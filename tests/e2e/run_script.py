#!/usr/bin/env python3
"""Runs one batch script through the real program and compares what it prints.

usage: run_script.py --stopline BIN --script FILE [--expected FILE] [--exit N] [--env NAME=VALUE] [--timeout S]
                     [--stdin FILE] -- LAUNCH ARGUMENTS OF STOPLINE

Expected text is compared line by line; a line in the expected file that begins with "~" is a Python regular expression,
and a single line "..." stands for any number of lines. What differs from run to run and must be the same within one is
named where it comes first and asked for where it comes again: "~order (?P<order>.*)", then "~order (?P=order)". After the run nothing that was started may be left: processes
are recognised by a variable in their environment, shared-memory files and session directories by their names.
"""
import argparse
import difflib
import os
import re
import signal
import subprocess
import sys
import time
import uuid

LEFTOVER_SECONDS = 5.0


def marked(mark):
    """Processes, zombies excepted, whose environment holds the mark."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as f:
                if mark.encode() not in f.read():
                    continue
            with open(f"/proc/{entry}/cmdline", "rb") as f:
                found.append((int(entry), f.read().replace(b"\0", b" ").decode(errors="replace").strip()))
        except OSError:
            continue
    return found


def shared_files():
    files = {f"/dev/shm/{n}" for n in os.listdir("/dev/shm") if "vader" in n or "stopline" in n or "mpich" in n}
    for name in os.listdir("/tmp"):
        if name.startswith("ompi."):
            try:
                files |= {f"/tmp/{name}/{n}" for n in os.listdir(f"/tmp/{name}")}
            except OSError:
                pass
    return files


def ownerless(files):
    """Those of the files that no living job uses: others may run on this machine meanwhile."""
    left = set()
    for path in files:
        name = os.path.basename(path)
        if name.startswith("pid."):
            if not os.path.exists("/proc/" + name[4:]):
                left.add(path)
            continue
        used = False
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open(f"/proc/{entry}/maps") as f:
                        used = path in f.read()
                except OSError:
                    continue
                if used:
                    break
        if not used and os.path.exists(path):
            left.add(path)
    return left


def states(pids):
    for pid, command in pids:
        try:
            with open(f"/proc/{pid}/status") as f:
                state = next((line.strip() for line in f if line.startswith("State")), "?")
        except OSError:
            state = "gone"
        print(f"    {pid} {state} {command[:150]}")


def matches_named(expected, actual):
    """As matches(), for expected lines that refer to what other lines have matched: all of it as one expression."""
    parts = ["(?:.*\\n)*?" if line == "..." else (line[1:] if line.startswith("~") else re.escape(line)) + "\\n"
             for line in expected]
    return re.fullmatch("".join(parts), "".join(line + "\n" for line in actual)) is not None


def matches(expected, actual):
    """Dynamic matching with "..." as any number of lines."""
    if any(line.startswith("~") and "(?P<" in line for line in expected):
        return matches_named(expected, actual)
    e, a = len(expected), len(actual)
    reach = [[False] * (a + 1) for _ in range(e + 1)]
    reach[0][0] = True
    for i in range(e):
        for j in range(a + 1):
            if not reach[i][j]:
                continue
            if expected[i] == "...":
                for k in range(j, a + 1):
                    reach[i + 1][k] = True
            elif j < a:
                line = expected[i]
                ok = re.fullmatch(line[1:], actual[j]) if line.startswith("~") else line == actual[j]
                if ok:
                    reach[i + 1][j + 1] = True
    return reach[e][a]


def left_behind(mark, before):
    """What is wrong, if anything: after LEFTOVER_SECONDS there are still processes with the mark, or files that were not
    there before. The processes are ended."""
    deadline = time.monotonic() + LEFTOVER_SECONDS
    while True:
        left = marked(mark)
        files = ownerless(shared_files() - before)
        if not (left or files) or time.monotonic() > deadline:
            break
        time.sleep(0.05)
    wrong = []
    if left:
        wrong.append(f"{len(left)} processes are left")
        states(left)
        for pid, _ in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
    if files:
        wrong.append(f"files are left: {sorted(files)}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stopline", required=True)
    parser.add_argument("--script", required=True)
    parser.add_argument("--expected")
    parser.add_argument("--errors", action="append", default=[], help="regular expression that stderr must hold")
    parser.add_argument("--exit", type=int, default=0)
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--timeout", type=float, default=240)
    parser.add_argument("--cwd")
    parser.add_argument("launch", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    launch = options.launch[1:] if options.launch[:1] == ["--"] else options.launch

    mark = "STOPLINE_TEST_MARK=" + uuid.uuid4().hex
    environment = dict(os.environ)
    environment.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    environment.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    environment.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    environment.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    environment.setdefault("OMPI_MCA_hwloc_base_binding_policy", "none")
    environment["QT_QPA_PLATFORM"] = "offscreen"
    environment["LC_ALL"] = "C.UTF-8"
    for pair in options.env + [mark]:
        name, value = pair.split("=", 1)
        if value:
            environment[name] = value
        else:
            environment.pop(name, None)
    before = shared_files()
    process = subprocess.Popen([options.stopline, "--batch", options.script, *launch], env=environment, cwd=options.cwd,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)
    late = False
    try:
        out, err = process.communicate(timeout=options.timeout)
    except subprocess.TimeoutExpired:
        late = True
        print(f"the script did not end within {options.timeout} s; alive:")
        states(marked(mark.split("=")[1]))
        process.send_signal(signal.SIGTERM)
        try:
            out, err = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
    out, err = out.decode(errors="replace"), err.decode(errors="replace")
    failures = []
    if late:
        failures.append("time-out")
    elif process.returncode != options.exit:
        failures.append(f"exit code {process.returncode}, expected {options.exit}")
    if options.expected:
        with open(options.expected) as f:
            expected = [line.rstrip("\n") for line in f if not line.startswith("#")]
        actual = out.splitlines()
        if not matches(expected, actual):
            failures.append("output differs")
            print("\n".join(difflib.unified_diff(expected, actual, "expected", "printed", lineterm="")))
    for pattern in options.errors:
        if not re.search(pattern, err):
            failures.append(f"no match for {pattern!r} in stderr")

    failures += left_behind(mark.split("=")[1], before)
    if failures:
        print("--- stdout\n" + out + "--- stderr\n" + err)
        print("FAILED: " + "; ".join(failures))
        return 1
    print(out, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
