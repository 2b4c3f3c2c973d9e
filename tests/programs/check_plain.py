#!/usr/bin/env python3
"""Runs the test and demo programs plainly under mpirun and compares exit code and output with what the tests rely on.

Usage: check_plain.py [--mpich] <folder of test programs> <folder of demo programs> [name part ...]
--mpich: started by MPICH's launcher.
A program that is to hang is one that is still silent after HANG_SECONDS; every other has GRACE_SECONDS. Programs that were
not built because their compiler is missing are named and skipped.
"""
import os
import re
import shutil
import signal
import subprocess
import sys

HANG_SECONDS = 2
GRACE_SECONDS = 120
HANGS = "hangs"

TESTS = [
    # program and arguments, exit code or HANGS, pattern that the output must hold
    ("abort", 7, "MPI_ABORT was invoked on rank 2"),
    ("segv", 139, "Segmentation fault"),
    ("exitnofinalize", 3, ""),
    ("exitnofinalize return", 3, ""),
    ("exitnofinalize _exit", 3, ""),
    ("exitnofinalize zero", 1, "without calling \"finalize\""),
    ("mpierror", 6, "MPI_ERR_RANK"),
    ("deadlock", HANGS, ""),
    ("wildcard", 0, r"^order:( [123]){12}$"),
    ("wildcard 5 7", 0, r"^order:( [123]){15}$"),
    ("barrier", 0, "^total = 3252$"),
    ("ftn", 0, "value = 18, from left = 3"),
    ("ftn08", 0, "total = 10"),
    ("cxx", 0, "total = 300.0, token = 0"),
    ("nompi", 0, "(no MPI here\n){4}"),
    ("nocalls", 0, "(no MPI call made\n){4}"),
    ("neverinit", HANGS, ""),
    ("neverinit 1", 4, ""),
    ("blocksigint", HANGS, ""),
    ("blocksigint 1", 0, "^spun$"),
    ("stdin", 0, "2 lines, 52 letters on 4 ranks"),
    ("output", 0, "rank 3 isatty"),
    ("longrun 1000 1000", 0, "1000 rounds, sum = 4.735759"),
    ("onesided", 0, "sum = 62, tickets = 6, count = 8"),
    ("overwrite", 0, "rank 1: sum = 30"),
    ("threads", 0, "total = 1760"),
    ("comms", 0, "checksum = 2369"),
    ("collectives", 0, "^0 wrong results$"),
    ("p2p", 0, "checksum = 490"),
    ("persistent", 0, "total = 97056"),
    ("probe", 0, "total = 422"),
    ("tasks", 0, r"^order:( [123]){40}\n1229 primes below 10000$"),
    ("particles", 0, "^60 particles absorbed, visits right$"),
    ("search", 0, "^92 ways to put 8 queens$"),
    ("search 9", 0, "^352 ways to put 9 queens$"),
    ("table", 0, r"^first:( [0-3]){24}\n24 keys, 0 wrong$"),
    ("table1/det", 0, "^determinant of 100 rows: 484935, right$"),
    ("table1/line", 0, "^1000 segments cross 426 times, right$"),
    ("table1/mesh", 0, "^mesh of 300 rows after 100 steps: right$"),
    ("table1/mult", 0, "^product of 100 rows: right$"),
    ("table1/sys", 0, "^300 equations: right$"),
    ("table1/tycho", 0, "^200 caches: right$"),
    ("racing 1 10", 0, r"^(seed ([1-9]|10) rank [0-3]: \d+ messages, \d+ failed polls, checksum [0-9a-f]{16}\n){40}$"),
]
DEMOS = [
    ("rows", HANGS, ""),
    ("rows 8 8", HANGS, ""),
    ("rows 8 65536", HANGS, ""),
    ("ring", 0, "token = 30 after 5 rounds"),
    ("halo", 0, "40 steps, kinetic energy 1.217213e-06, of it 6.086064e-07 in the first half"),
    ("heat", 0, "heat after 50 steps:    10000.000"),
    ("heat 1000", HANGS, ""),
]
# What MPICH and its launcher do otherwise: exit codes, one of which it must be (the launcher ends the other ranks, and
# gives the code of one of them), and the pattern.
MPICH = {
    "abort": ((7,), r"application called MPI_Abort\(MPI_COMM_WORLD, 7\) - process 2"),
    "segv": ((11, 139), "Segmentation fault"),
    "exitnofinalize": ((3, 9), ""),
    "exitnofinalize return": ((3, 9), ""),
    "exitnofinalize _exit": ((3, 9), ""),
    "exitnofinalize zero": ((0, 9), ""),
    "mpierror": ((6,), "Invalid rank has value 7 but must be nonnegative and less than 4"),
    "neverinit 1": (HANGS, ""),
}
RANDOM_SEEDS = [1, 2, 3, 4]
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader,tcp",
    "OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo",
}


# Open MPI 4.1 now and then loses the text of an error on its way to mpirun; that is not what is looked at here.
# Nor are other faults of a launcher that do not come again: a program may do otherwise once, but not twice in a row, and no
# more than so many of them.
MOST_ODDITIES = 2
LOST_TEXT = re.compile(r"ORTE_ERROR_LOG: .* in file .*show_help\.c")


def run(launcher, command, seconds, words):
    """Exit code (None: still running when the time was up, then ended) and output of a job of 4 ranks."""
    environment = {**os.environ, **{k: v for k, v in OPEN_MPI.items() if k not in os.environ}}
    job = subprocess.Popen([launcher, "-n", "4", *command],
                           stdin=subprocess.DEVNULL if words is None else subprocess.PIPE,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, start_new_session=True)
    try:
        output, _ = job.communicate(words, timeout=seconds)
        return job.returncode, output.decode(errors="replace")
    except subprocess.TimeoutExpired:
        job.terminate()
        try:
            output, _ = job.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            output, _ = job.communicate()
        return None, output.decode(errors="replace")


def main():
    mpich = sys.argv[1:2] == ["--mpich"]
    launcher = "mpirun.mpich" if mpich else "mpirun.openmpi" if shutil.which("mpirun.openmpi") else "mpirun"
    test_folder, demo_folder, *parts = sys.argv[2 if mpich else 1:]
    failures, done, oddities, skipped = 0, 0, 0, set()
    jobs = [(test_folder, *test) for test in TESTS] + [(demo_folder, *demo) for demo in DEMOS]
    jobs += [(test_folder, f"random_mpi {seed}", 0, f"^seed {seed}, 60 steps, checksum [0-9a-f]{{16}}$")
             for seed in RANDOM_SEEDS for _ in range(2)]
    checksums = {}
    for folder, text, expected, pattern in jobs:
        if parts and not any(part in text for part in parts):
            continue
        if mpich and text in MPICH:
            expected, pattern = MPICH[text]
        name, *arguments = text.split()
        program = os.path.join(folder, name)
        if not os.path.exists(program):
            skipped.add(name)
            continue
        # MPICH's launcher ends with a signal when nobody reads what it is given.
        words = b"ab\nlonger line\n" if name == "stdin" or not mpich else None
        done += 1
        for attempt in range(2):
            code, output = run(launcher, [program, *arguments], HANG_SECONDS if expected == HANGS else GRACE_SECONDS, words)
            ok = (code is None) if expected == HANGS else code in expected if isinstance(expected, tuple) else code == expected
            ok = ok and (re.search(pattern, output, re.MULTILINE) is not None or LOST_TEXT.search(output) is not None)
            if name == "random_mpi":
                ok = ok and checksums.setdefault(text, output) == output
            if ok:
                break
            print(f"FAILED {text}: exit {'none' if code is None else code}, expected {expected} and /{pattern}/; it wrote:\n"
                  f"{output}")
            oddities += 1
            if oddities > MOST_ODDITIES:
                break
        if not ok:
            failures += 1
    if skipped:
        print("not built, skipped:", ", ".join(sorted(skipped)))
    print(f"{done - failures} of {done} runs as expected, {oddities} times another outcome")
    return 1 if failures or done == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
