#!/usr/bin/env python3
"""Table 1 of Netzer & Miller (1992) for six programs of the kinds they ran: messages, the share of them that has to be traced,
a lower bound of it, what tracing costs in run time, and how large the order log is that a replay is told.

usage: table1.py BIN PROGRAMS [RANKS [RUNS]]     BIN: folder with stopline; PROGRAMS: that of the six

The cost is the time between MPI_Init and MPI_Finalize on rank 0, in percent of a plain run; the runs take turns. Of each kind
of run the median counts, and the spread of the plain runs (fastest and slowest beside their median) tells what a difference
can mean. Where ranks share cores the times are those of the scheduler as much as of the program.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile

# Arguments that give runs of about a second.
PROGRAMS = {"det": ["500"], "line": ["8000"], "mesh": ["400", "600"], "mult": ["400"], "sys": ["500"],
            "tycho": ["3000", "300"]}


def run(command, **more):
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **more)
    done = subprocess.run(command, env=env, text=True, capture_output=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def seconds(command):
    output = run(command, TABLE1_SECONDS="1")
    return float(re.search(r"^seconds: ([\d.]+)$", output, re.MULTILINE)[1])


def needed(text):
    """(messages, to be traced, lower bound) from what `stopline info` says of races."""
    some = re.search(r"the order of (\d+) of (\d+) messages is enough \([^)]*\)(?:, at least (\d+) (?:is|are) needed)?", text)
    if some:
        return int(some[2]), int(some[1]), int(some[3] or 0)
    return int(re.search(r"the order of none of its (\d+) messages is needed", text)[1]), 0, 0


def order_bytes(text):
    """(of the messages that race, of all messages that receives of any source got) from the same."""
    found = re.search(r"order that a replay is told: (\d+) bytes; with that of all receives it would be (\d+)", text)
    return f"{found[2]:>10} {found[1]:>10}" if found else f"{'-':>10} {'-':>10}"


def percent(value):
    return f"{value * 100:.1f} %"


def main():
    folder, programs = sys.argv[1:3]
    ranks = sys.argv[3] if len(sys.argv) > 3 else "4"
    runs = int(sys.argv[4]) if len(sys.argv) > 4 else 10
    stopline = os.path.join(folder, "stopline")
    # A Stopline that cannot look for races while a job runs has no cost of that.
    orders = ("all", "racing") if "--order" in run([stopline, "record", "--help"]) else ("all",)
    print(f"{ranks} ranks, {runs} runs each, {os.cpu_count()} cores")
    print(f"{'':6} {'messages':>9} {'traced':>14} {'at least':>9} {'plain':>9} {'(spread)':>18}"
          f" {'tracing all':>12} {'racing':>9} {'log: all':>10} {'racing':>10}")
    with tempfile.TemporaryDirectory() as temporary:
        recording = os.path.join(temporary, "recording")
        for name, arguments in PROGRAMS.items():
            program = [os.path.join(programs, name), *arguments]
            kinds = {"plain": ["mpirun", "--oversubscribe", "-n", ranks, *program]}
            for order in orders:
                option = [f"--order={order}"] if "racing" in orders else []
                kinds[order] = [stopline, "record", *option, "-o", recording, "mpirun", "--oversubscribe",
                                "-n", ranks, *program]
            times = {kind: [] for kind in kinds}
            for _ in range(runs):
                for kind, command in kinds.items():
                    times[kind].append(seconds(command))
            info = run([stopline, "info", recording])
            messages, traced, least = needed(info)
            middle = {kind: statistics.median(of) for kind, of in times.items()}
            share = f"{traced} ({percent(traced / messages)})"
            spread = f"({min(times['plain']) / middle['plain'] - 1:+.0%}, {max(times['plain']) / middle['plain'] - 1:+.0%})"
            costs = [percent(middle[kind] / middle["plain"] - 1) if kind in middle else "-" for kind in ("all", "racing")]
            print(f"{name:6} {messages:9} {share:>14} {least:9} {middle['plain']:8.3f}s {spread:>18}"
                  f" {costs[0]:>12} {costs[1]:>9} {order_bytes(info)}", flush=True)


if __name__ == "__main__":
    main()
