#!/usr/bin/env python3
"""Bytes a call of recordings of real programs, at several tolerances, and how far reconstructed times are off.

usage: recording_size.py [--ranks N] [--seconds S] [--tolerances NS,...] BIN FOLDER PROGRAM...

BIN: folder with run_recorded, bench_recording_size and the library. FOLDER: where the programs find their input, and
where they run. Written for the parallel benchmarks SP and LU of NAS (npb.nas.nasa.gov), which are no part of this
project, with 16 ranks, SP for 4000 steps on a grid of 12x12x12 and LU for 2500 on one of 16x16x64: `inputsp.data` and
`inputlu.data` in FOLDER say so.

Each program runs once with every tolerance: those runs give the sizes. Their times differ, and so do their sizes, with the
machine's load; calls, ids and dictionaries do not. One more run has a tolerance of 0: its times are within 8.2 us of the
true ones, and its events are recorded again with every tolerance, which gives the errors, sizes of one and the same run,
and its size without times. Sizes are those of the compressed blocks, and beside it with dictionary, communicators and the
rest that was not yet in a block, deflated; over all ranks. Tick 1 ns, zlib level 6.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOLERANCES = (1_000_000, 100_000, 10_000)


def run(options, program, tolerance, folder):
    environment = dict(os.environ, STOPLINE_TIME_TOLERANCE_NS=str(tolerance), OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                       OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_hwloc_base_binding_policy="none")
    command = ["mpirun", "-n", str(options.ranks), os.path.join(options.bin, "run_recorded"), "--library",
               os.path.join(options.bin, "libstopline-mpi-openmpi.so"), "--folder", folder, program]
    begin = time.monotonic()
    job = subprocess.Popen(command, cwd=options.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, start_new_session=True)
    try:
        output, _ = job.communicate(timeout=options.seconds)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        sys.exit(f"{program}: no end after {options.seconds} s")
    if job.returncode != 0:
        sys.exit(f"{program}: exit code {job.returncode}\n{output}")
    return time.monotonic() - begin


def look(options, folder, *more):
    """The lines of bench_recording_size as dictionaries, by what they are about."""
    files = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    done = subprocess.run([os.path.join(options.bin, "bench_recording_size"), *more, *files], text=True,
                          capture_output=True, timeout=3600)
    if done.returncode != 0:
        sys.exit(done.stderr)
    lines = [line.split() for line in done.stdout.splitlines()]
    return [dict([("what", words[0])] + [word.split("=", 1) for word in words[1:]]) for words in lines]


def total(lines, name):
    return sum(int(line[name]) for line in lines)


def sizes_of_run(options, program, tolerance):
    folder = tempfile.mkdtemp(prefix="recording-size-", dir=options.folder)
    try:
        seconds = run(options, program, tolerance, folder)
        ranks = look(options, folder)
        calls = total(ranks, "calls")
        blocks = total(ranks, "blocks")
        everything = blocks + sum(total(ranks, name) for name in ("staged", "dictionary", "comms"))
        print(f"{os.path.basename(program)}: tolerance {tolerance / 1000:6.0f} us  {blocks / calls:.4f} byte a call, "
              f"{everything / calls:.4f} with dictionaries and all ({everything / 1e6:.2f} MB, {calls} calls, {seconds:.0f} s)",
              flush=True)
    finally:
        shutil.rmtree(folder)


def errors_of_run(options, program):
    folder = tempfile.mkdtemp(prefix="recording-size-", dir=options.folder)
    try:
        run(options, program, 0, folder)
        lines = look(options, folder, "--again")
    finally:
        shutil.rmtree(folder)
    ranks = [line for line in lines if line["what"] == "file"]
    name = os.path.basename(program)
    calls = total(ranks, "calls")
    print(f"{name}: {min(int(r['calls']) for r in ranks)} to {max(int(r['calls']) for r in ranks)} calls on {len(ranks)} ranks, "
          f"dictionaries of {min(int(r['entries']) for r in ranks)} to {max(int(r['entries']) for r in ranks)} entries, "
          f"{total(ranks, 'dictionary')} bytes; one run recorded again:")
    for tolerance in [str(t) for t in TOLERANCES] + ["none"]:
        again = [line for line in lines if line.get("tolerance") == tolerance]
        size = total(again, "blocks") / calls
        if tolerance == "none":
            print(f"{name}: without time          {size:.4f} byte a call")
            continue
        mean = sum(float(line["mean"]) * int(line["calls"]) for line in again) / calls
        signed = sum(float(line["signed"]) * int(line["calls"]) for line in again) / calls
        parts = [[float(part) for part in line["parts"].split(",")] for line in again]
        tenths = [sum(part) / len(parts) for part in zip(*parts)]
        print(f"{name}: tolerance {int(tolerance) / 1000:6.0f} us  {size:.4f} byte a call, times off by {mean / 1000:.1f} us in the "
              f"mean ({signed / 1000:+.1f} with their signs), {max(int(line['largest']) for line in again) / 1000:.1f} us at most; mean by tenths of the run: "
              f"{' '.join(f'{part / 1000:.1f}' for part in tenths)} us", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("folder")
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--seconds", type=int, default=900, help="limit of a run (900)")
    parser.add_argument("--tolerances", type=lambda text: [int(word) for word in text.split(",")], default=TOLERANCES,
                        help="of the runs with times, in nanoseconds (1000000,100000,10000)")
    options = parser.parse_args()
    options.bin, options.folder = os.path.abspath(options.bin), os.path.abspath(options.folder)
    for program in [os.path.abspath(path) for path in options.programs]:
        for tolerance in options.tolerances:
            sizes_of_run(options, program, tolerance)
        errors_of_run(options, program)


if __name__ == "__main__":
    main()
