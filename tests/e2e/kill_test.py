#!/usr/bin/env python3
"""Kills one part of a running session with SIGKILL and looks at what is left after five seconds: nothing.

usage: kill_test.py --stopline BIN --program LONGRUN --victim window|agent|gdb|mpirun|rank [--stopped] [--launcher MPIRUN]
       kill_test.py --stopline BIN --program LONGRUN --victim agent|mpirun|job --last [--launcher MPIRUN]
       kill_test.py --stopline BIN --program LONGRUN --victim window --starting SECONDS

For a rank the session must go on: the rank is shown as killed, the others stay as they were. With --starting the window
gets a SIGTERM that long after its start, wherever the job is then, and must end with 143. With --last the ranks have come
far since anybody looked at them; all that they have done must be there afterwards, and come again in a replay.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from run_script import marked, ownerless, shared_files, states  # noqa: E402

LIMIT = 5.0
ROUNDS = 1000


def until(seconds, condition):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stopline", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--victim", required=True, choices=["window", "agent", "gdb", "mpirun", "rank", "job"])
    parser.add_argument("--stopped", action="store_true")
    parser.add_argument("--starting", type=float)
    parser.add_argument("--last", action="store_true")
    parser.add_argument("--launcher", help="other than the usual one")
    options = parser.parse_args()

    mark = uuid.uuid4().hex
    environment = dict(os.environ, STOPLINE_TEST_MARK=mark, QT_QPA_PLATFORM="offscreen")
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe",
                 "OMPI_MCA_mpi_yield_when_idle"):
        environment.setdefault(name, "1")
    before = shared_files()
    lines = ["run", "wait events 0 10", "wait events 3 10"]
    if options.stopped:
        lines.append("pause")
    if options.last:
        stays = [f"expect output {rank} contains rank {rank} stays within 100" for rank in range(4)]
        outputs = [f"output {rank}" for rank in range(4)]
        lines += stays
    lines += ["echo READY"]
    arguments = ["100000000"]
    if options.last:
        lines += ["kill" if options.victim == "job" else "wait exited", f"events 0 {6 * ROUNDS + 2}", "ranks", *outputs]
        lines += ["replay", *stays, *outputs, "quit"]
        arguments = [str(ROUNDS), "1000", "stay"]
    else:
        lines += ["sleep 3", "ranks", "quit"]
    with tempfile.NamedTemporaryFile("w", suffix=".script", delete=False) as f:
        f.write("\n".join(lines) + "\n")
    launcher = ["--launcher", options.launcher] if options.launcher else []
    process = subprocess.Popen([options.stopline, "--batch", f.name, *launcher, "-n", "4", options.program, *arguments],
                               env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = []
    ready = threading.Event()

    def read():
        for line in process.stdout:
            output.append(line.rstrip("\n"))
            if line.strip() == "READY":
                ready.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    if options.starting is not None:
        time.sleep(options.starting)
    elif not until(120, lambda: ready.is_set() or process.poll() is not None) or not ready.is_set():
        print("the job did not start:", *output, sep="\n")
        states(marked(mark))
        for pid, _ in marked(mark):
            os.kill(pid, signal.SIGKILL)
        return 1
    running = marked(mark)
    patterns = {
        "agent": r"\S*stopline-agent .*longrun",
        "gdb": r"\S*gdb .*--interpreter=mi3",
        "mpirun": r"\S*mpirun(\.\w+)? ",
        "rank": r"\S*longrun ",
    }
    if options.victim in ("window", "job"):
        victim = process.pid
    else:
        found = sorted(pid for pid, command in running if re.match(patterns[options.victim], command))
        if not found:
            print("no such process among", *running, sep="\n")
            return 1
        victim = found[-1]
    if options.victim != "job":
        os.kill(victim, signal.SIGKILL if options.starting is None else signal.SIGTERM)
    killed = time.monotonic()
    failures = []
    if options.starting is not None:
        # The signal itself ends a program that has not come to take it yet.
        if process.wait(60) not in (128 + signal.SIGTERM, -signal.SIGTERM):
            failures.append(f"exit code {process.returncode}, expected {128 + signal.SIGTERM}")
        killed = time.monotonic()
    if options.victim in ("rank", "gdb"):
        process.wait(60)
        reader.join(5)
        shown = [line for line in output if re.match(r"\[\d\] ", line)]
        gone = [line for line in shown if re.search(r"killed|failed|signal 9", line)]
        if options.victim == "rank" and len(gone) != 1:
            failures.append(f"{len(gone)} ranks are shown as killed, expected 1")
        if options.victim == "gdb" and len(gone) < 1:
            failures.append("no rank is shown as failed")
        killed = time.monotonic()
    elif options.victim != "window":
        process.wait(150)
        killed = time.monotonic()
    if options.last:
        reader.join(5)
        # The call before the last one has ended; the last one may not have begun when its rank says that it stays.
        places = ("after %d MPI_Wait" % (6 * ROUNDS + 2), "inside %d MPI_Recv" % (6 * ROUNDS + 3))
        shown = [line for line in output if line.endswith(places)]
        if len(shown) != 4:
            failures.append(f"{len(shown)} ranks are shown where they were, expected 4")
        # Where agents are killed, as MPICH's launcher does, there is nobody to say so until the launcher has ended too.
        asked = options.victim == "job" or (options.victim == "mpirun" and not options.launcher)
        words = (" ended with the job ",) if asked else (" ended with the job ", " lost (The agent of ")
        # A replay is told the times that the ranks had asked for, also those of their last moments.
        for rank in range(4):
            since = [line for line in output if line.startswith(f"[{rank}] rank {rank} stays since ")]
            if len(since) != 2 or since[0] != since[1]:
                failures.append(f"rank {rank} has not said the same again: {since}")
        failures += [f"shown otherwise: {line}" for line in shown if not any(one in line for one in words)]
        if not any(re.match(r"\[0\] %d end   MPI_Wait" % (6 * ROUNDS + 2), line) for line in output):
            failures.append("the last call that rank 0 has ended is not in its history")
    while time.monotonic() < killed + LIMIT:
        left = marked(mark)
        files = ownerless(shared_files() - before)
        if not left and not files:
            break
        time.sleep(0.05)
    took = time.monotonic() - killed
    if left:
        failures.append(f"{len(left)} processes are left")
        states(left)
        for pid, _ in left:
            os.kill(pid, signal.SIGKILL)
    if files:
        failures.append(f"files are left: {sorted(files)}")
    os.unlink(f.name)
    print(*output, sep="\n")
    print(f"{options.victim}: nothing left after {took:.2f} s" if not failures else "FAILED: " + "; ".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
