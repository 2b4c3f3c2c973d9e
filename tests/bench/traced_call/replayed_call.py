#!/usr/bin/env python3
"""What it costs to record a program whose messages race, and to replay it: ratios to plain runs, all from one run.

usage: replayed_call.py [--pairs N] [--rempi LIBRARY] [--pilgrim LIBRARY] [--npb PROGRAM]... [--no-calls] BIN

BIN: folder with bench_calls, bench_order_log, bench_recording_size, run_recorded and stopline. Of each program N plain runs,
runs that are recorded (`stopline record`, and with --check-data) and replays of such a recording (`stopline --batch`, a gdb beside each rank) are
made in turn; ratios are of the smallest of each, and beside it the smallest ratio of runs that were made one after the
other. ReMPI's library, where it is given, records and replays in the same turns; Pilgrim's records. Programs of --npb run
with two ranks; of these the processor time of both ranks counts, less that of a program that does nothing between start and
end of MPI (printed as well: what it takes once, whatever the program does).

Then the bytes for each receive from any source: of the trace with times and without, of the order log that is made from
the trace for a replay, and of that log deflated.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

CALLS, REPEATS = 20_000, 30
KINDS = {"plain": "plain", "checked": "with data", "record": "recorded", "replay": "replayed", "rempi0": "ReMPI records", "rempi1": "ReMPI replays",
         "pilgrim": "Pilgrim records"}
CLOCK = """#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
__attribute__((destructor)) static void tell(void) {
    struct timespec t;
    char text[64];
    if (getenv("OMPI_COMM_WORLD_RANK") != NULL && getenv("BENCH_CLOCK") != NULL) {
        syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &t);
        int length = snprintf(text, sizeof text, "CLOCK %ld\\n", t.tv_sec * 1000000L + t.tv_nsec / 1000);
        write(2, text, length);
    }
}
"""


def done(command, folder, **more):
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "QT_QPA_PLATFORM": "offscreen",
                   **os.environ}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1800, **more)
    if result.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


class Turn:
    """Runs of one program, all in one folder."""

    def __init__(self, options, folder, ranks, program, figure, clock=None):
        self.options, self.folder, self.program, self.figure = options, folder, program, figure
        self.preload = [clock] if clock else []
        self.launch = ["mpirun", "--oversubscribe", "-n", str(ranks)]
        self.runs = {}
        self.less = {}

    def variables(self, libraries=(), **more):
        pairs = {**more, **({"BENCH_CLOCK": "1"} if self.preload else {})}
        if self.preload or libraries:
            pairs["LD_PRELOAD"] = ":".join([*libraries, *self.preload])
        return [word for name, value in pairs.items() for word in ("-x", f"{name}={value}")]

    def note(self, kind, text):
        self.runs.setdefault(kind, []).append(self.figure(text))

    def once(self):
        stopline = os.path.join(self.options.bin, "stopline")
        self.note("plain", done([*self.launch, *self.variables(), *self.program], self.folder))
        for kind, options in (("checked", ["--check-data"]), ("record", [])): # the last one is replayed
            self.note(kind, done([stopline, "record", "-o", "run.stopline", *options, *self.launch, *self.variables(), *self.program],
                                 self.folder))
        with open(os.path.join(self.folder, "script"), "w", encoding="utf-8") as script:
            script.write("open run.stopline\nreplay within 100\nwait exited within 600\noutput\ncompared\n")
        text = done([stopline, "--batch", "script"], self.folder)
        if "departs" in text or "identical" not in text:
            sys.exit(f"a replay is not the same:\n{text}")
        self.note("replay", re.sub(r"^\[\d+\] ", "", text, flags=re.MULTILINE))
        if self.options.rempi and not self.preload and "null" not in self.program: # its replay takes no such receive
            for mode in (0, 1):
                variables = self.variables((self.options.rempi,), REMPI_MODE=mode, REMPI_DIR="rempi")
                self.note(f"rempi{mode}", done([*self.launch, *variables, *self.program], self.folder))
        if self.options.pilgrim and not self.preload:
            self.note("pilgrim", done([*self.launch, *self.variables((self.options.pilgrim,)), *self.program], self.folder))

    def tell(self, name, unit):
        plain = [run - self.less.get("plain", 0) for run in self.runs["plain"]]
        for kind, runs in self.runs.items():
            runs = [run - self.less.get(kind, 0) for run in runs]
            ratio = min(runs) / min(plain)
            pair = min(run / before for run, before in zip(runs, plain))
            print(f"{name:12} {KINDS[kind]:15} {min(runs):10.1f} {unit}  {ratio:6.3f} times (smallest pair {pair:.3f})", flush=True)


def nanoseconds(text):
    found = re.search(r"^([\d.]+) ([\d.]+)$", text, re.MULTILINE)
    return float(found.group(2)) # wall: what a rank waits for counts


def milliseconds(text):
    found = re.findall(r"CLOCK (\d+)$", text, re.MULTILINE)
    if not found:
        sys.exit(f"no times in\n{text}")
    return sum(map(int, found)) / 1000


def size_of_logs(options, folder):
    for what, ranks in (("any", 2), ("farm", 4)):
        program = [os.path.join(options.bin, "bench_calls"), what, "50000", "4"]
        done([os.path.join(options.bin, "stopline"), "record", "-o", f"{what}.stopline", "mpirun", "--oversubscribe", "-n", str(ranks),
              *program], folder)
        told = done([os.path.join(options.bin, "bench_order_log"), f"{what}.stopline"], folder)
        log = {name: float(value) for name, value in re.findall(r"(\w+)=([\d.]+)", told)}
        receives = log["sources"]
        files = os.path.join(folder, f"{what}.files")
        os.makedirs(files)
        done(["mpirun", "--oversubscribe", "-n", str(ranks), os.path.join(options.bin, "run_recorded"), "--library",
              os.path.join(options.bin, "libstopline-mpi-openmpi.so"), "--folder", files, *program], folder)
        again = done([os.path.join(options.bin, "bench_recording_size"), "--again", *(os.path.join(files, name) for name in
                      sorted(os.listdir(files)))], folder)
        timeless = sum(int(size) for size in re.findall(r"tolerance=none calls=\d+ blocks=(\d+)", again))
        print(f"{what:12} {receives:.0f} receives from any source on {ranks} ranks: {log['trace'] / receives:.3f} byte of trace each, "
              f"{timeless / receives:.4f} without times; order log made of it: {log['log'] / receives:.3f} byte each, "
              f"{log['deflated'] / receives:.4f} deflated, made in {log['ns_an_event']:.0f} ns an event", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--rempi", type=os.path.abspath, help="librempi.so, built elsewhere")
    parser.add_argument("--pilgrim", type=os.path.abspath, help="libpilgrim.so, built elsewhere")
    parser.add_argument("--no-calls", action="store_true", help="only what --npb says")
    parser.add_argument("--npb", type=os.path.abspath, action="append", default=[], help="a program that runs some seconds with two ranks")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    with tempfile.TemporaryDirectory(prefix="replayed-call-") as folder:
        os.makedirs(os.path.join(folder, "rempi"))
        for what, ranks, doubles in () if options.no_calls else (("null", 1, 1), ("pingpong", 2, 1), ("any", 2, 1), ("pingpong", 2, 8192)):
            words = [what, str(CALLS if doubles == 1 else CALLS // 20), str(REPEATS), str(doubles)]
            turn = Turn(options, folder, ranks, [os.path.join(options.bin, "bench_calls"), *words], nanoseconds)
            for _ in range(options.pairs):
                turn.once()
            turn.tell(what if doubles == 1 else f"{what} {doubles * 8 // 1024}K", "ns a call")
        if not options.no_calls:
            size_of_logs(options, folder)
        if options.npb:
            clock = os.path.join(folder, "clock.so")
            done(["cc", "-shared", "-fPIC", "-xc", "-o", clock, "-"], folder, input=CLOCK)
        less = {}
        for program in ([os.path.join(options.bin, "bench_calls"), "null", "2", "1"], *([path] for path in options.npb if path)):
            if not options.npb:
                break
            turn = Turn(options, folder, 2, program, milliseconds, clock)
            turn.less = less
            for _ in range(options.pairs):
                turn.once()
            turn.tell(os.path.basename(program[0]), "ms      ")
            less = less or {kind: min(runs) for kind, runs in turn.runs.items()}


if __name__ == "__main__":
    main()
