#!/usr/bin/env python3
"""Cost of a traced call: plain and traced runs in alternating pairs, each figure beside its plain one.

usage: traced_call.py BIN [PAIRS]     BIN: folder with bench_calls and map_run

Each run is the smallest of many repeats; the difference is that of the smallest runs, and of the smallest pair beside it.
Processor time is what counts where the machine is shared; wall time is printed beside it. Polls are ones that fail.
Sizes depend on tick (1 ns), tolerance and deflate level (6): they are printed with the bytes.
"""

import os
import subprocess
import sys
import tempfile


def run(ranks, command):
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks), *command], env=env, text=True,
                          capture_output=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    cpu, wall = done.stdout.split()[:2]
    return float(cpu), float(wall)


def sizes(dump):
    """Bytes of the recording and calls, from the facts that map_run writes."""
    facts = {}
    with open(dump, encoding="utf-8") as lines:
        for line in lines:
            name, _, value = line.partition(" ")
            if name in ("count", "blocks", "staged", "dictionary"):
                facts[name] = int(value)
            if line.startswith("1 B"):
                break
    stored = facts["blocks"] + facts["staged"]
    return stored, facts["dictionary"], facts["count"] / 2


def measure(folder, what, ranks, calls, repeats, pairs):
    plain, traced = [], []
    with tempfile.TemporaryDirectory() as temporary:
        dump = os.path.join(temporary, "rank")
        program = [os.path.join(folder, "bench_calls"), what, str(calls), str(repeats)]
        for _ in range(pairs):
            plain.append(run(ranks, program))
            traced.append(run(ranks, [os.path.join(folder, "map_run"), "--facts-only", "--dump", dump, *program]))
        stored, dictionary, made = sizes(dump + ".0")
    for number, clock in enumerate(("cpu", "wall")):
        before = min(p[number] for p in plain)
        after = min(t[number] for t in traced)
        pair = min(t[number] - p[number] for p, t in zip(plain, traced))
        print(f"{what:9} {clock:4}  plain {before:9.1f} ns a call   traced {after:9.1f} ns   "
              f"added {after - before:8.1f} ns (smallest pair {pair:8.1f})")
    if what in ("null", "pingpong"):
        tolerance = os.environ.get("STOPLINE_TIME_TOLERANCE_NS", "10000")
        print(f"{what:9} size  {stored / made:.4f} byte a call (tick 1 ns, tolerance {tolerance} ns, level 6), "
              f"dictionary {dictionary} bytes, {made:.0f} calls")


def main():
    folder = sys.argv[1]
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    measure(folder, "null", 1, 100_000, 20, pairs)
    measure(folder, "pingpong", 2, 20_000, 30, pairs)
    measure(folder, "iprobe", 1, 50_000, 20, pairs)
    measure(folder, "test", 1, 50_000, 20, pairs)


if __name__ == "__main__":
    main()
