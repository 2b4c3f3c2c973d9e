#!/usr/bin/env python3
"""Runs every built MPI program of a folder with and without the recording library and compares what a user would see.

usage: compare_runs.py [options] FOLDER...

A folder's programs are those of the file `testlist` in it ("name ranks [arg=A] [env=N=V] [timeLimit=S] ...", one a line,
as MPICH's test suite has them; further words are not looked at), or, where there is none, every executable in it. Folders
in it are looked into as well. Each program runs in its own folder.

Compared are the exit code and the lines of the output, in whatever order the ranks' lines came and without what differs in
every run (process ids, addresses, file names of the runtime). A program whose runs differ is run again, both ways: it
counts as different when the runs with the library never are like one of those without; of a program whose runs without it
all differ from each other, only the exit code is compared, and it is listed. Every recording is read, too: one that cannot
be read is a difference. Programs that fail without the library are listed as baseline failures.

Exit code: 0 no difference, 1 at least one, 2 nothing was run.
"""

import argparse
import collections
import concurrent.futures
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
}
# What is different in every run, or names the process in between.
VARYING = [
    (re.compile(r"run_recorded"), "PROGRAM"),
    (re.compile(r"\[\[\d+,\d+\],\d+\]|\[\d+,\d+\]"), "[JOB]"),
    (re.compile(r"\[[\w.-]+:\d+(:\d+:\d+)?\]"), "[HOST]"),
    (re.compile(r"0x[0-9a-f]+"), "0xADDRESS"),
    (re.compile(r"\(nil\)"), "0xADDRESS"),
    (re.compile(r"\b(PID|pid|tid)[: =]+\d+", re.IGNORECASE), r"\1 N"),
    (re.compile(r"(/tmp|/dev/shm)/\S+"), "FILE"),
    (re.compile(r"Abort\(\d+\)"), "Abort(N)"),
]
# Open MPI 4.1 now and then loses the text of an error on its way to mpirun; hydra names the child that it lost.
LOST_TEXT = re.compile(r"ORTE_ERROR_LOG: .* in file .*show_help\.c")

Test = collections.namedtuple("Test", "folder name ranks arguments environment seconds")
Run = collections.namedtuple("Run", "code lines faults")


def text_of(test):
    words = [os.path.join(test.folder, test.name), *test.arguments]
    return " ".join([*(f"{k}={v}" for k, v in test.environment), *words]) + f" ({test.ranks} ranks)"


def read_list(path, folder, options):
    """Tests of a testlist whose program is there; how many are not."""
    tests, missing = [], 0
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if not words or "@" in words[0]:
                continue
            if not is_program(os.path.join(folder, words[0])):
                missing += 0 if os.path.isdir(os.path.join(folder, words[0])) else 1
                continue
            numbers = [int(word) for word in words[1:] if word.isdigit()]
            values = [word.split("=", 1) for word in words[1:] if "=" in word]
            arguments = tuple(value for key, value in values if key == "arg")
            # Variables of another MPI than the one at hand change nothing.
            environment = tuple(tuple(value.split("=", 1)) for key, value in values if key == "env" and "=" in value and
                                not (value.startswith("MPIR_CVAR") and options.mpi != "mpich"))
            limit = max([options.seconds] + [int(value) for key, value in values if key == "timeLimit" and value.isdigit()])
            test = Test(folder, words[0], numbers[0] if numbers else options.ranks, arguments, environment,
                        min(limit, options.longest))
            if test not in tests:
                tests.append(test)
    return tests, missing


def is_program(path):
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        return False
    with open(path, "rb") as file:
        head = file.read(20)
    return head[:4] == b"\x7fELF" and head[16] in (2, 3)


def tests_of(top, options):
    tests, missing = [], 0
    for folder, folders, files in sorted(os.walk(top)):
        folders[:] = [f for f in folders if not f.startswith(".")]
        lists = [os.path.join(folder, "testlist")]
        if options.lists:
            lists.append(os.path.join(options.lists, os.path.relpath(folder, options.lists_of or top), "testlist"))
        found = next((path for path in lists if os.path.isfile(path)), None)
        if found:
            more, gone = read_list(found, folder, options)
            tests += more
            missing += gone
        else:
            tests += [Test(folder, name, options.ranks, (), (), options.seconds) for name in sorted(files)
                      if is_program(os.path.join(folder, name)) and not name.endswith(".so")]
    wanted = re.compile(options.only) if options.only else None
    unwanted = re.compile(options.without) if options.without else None
    return [t for t in tests if (not wanted or wanted.search(text_of(t))) and
            not (unwanted and unwanted.search(text_of(t)))], missing


def normal_lines(output, ignored):
    lines = []
    for line in output.decode(errors="replace").splitlines():
        for pattern, place in VARYING:
            line = pattern.sub(place, line)
        if line.strip() and not (ignored and ignored.search(line)):
            lines.append(line.rstrip())
    return tuple(sorted(lines))


def recording_faults(recorder, folder):
    files = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    if not files:
        return (), 0
    said = subprocess.run([recorder, "--read", *files], capture_output=True, text=True, timeout=600).stdout.splitlines()
    events = sum(int(line.split()[0]) for line in said if line.split()[0].isdigit())
    return tuple(line for line in said if not line.isdigit()), events


def run(test, options, recorded):
    environment = {**os.environ, **dict(test.environment)}
    if options.mpi == "openmpi":
        environment = {**{k: v for k, v in OPEN_MPI.items() if k not in environment}, **environment}
    launcher = [*shlex.split(options.launcher), "-n", str(test.ranks)]
    for name, _ in test.environment:
        launcher += ["-x", name] if options.mpi == "openmpi" else []
    program = [os.path.join(".", test.name), *test.arguments]
    with tempfile.TemporaryDirectory(prefix="compare-runs-") as temporary:
        recordings = os.path.join(temporary, "recordings")
        os.mkdir(recordings)
        if options.mpi == "openmpi": # launchers that end at the same time remove each other's folders otherwise
            environment["OMPI_MCA_orte_tmpdir_base"] = temporary
        if recorded:
            program = [options.recorder, "--library", options.library, "--folder", recordings, *program]
        job = subprocess.Popen([*launcher, *program], cwd=test.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, env=environment, start_new_session=True)
        try:
            output, _ = job.communicate(timeout=test.seconds)
            code = job.returncode
        except subprocess.TimeoutExpired:
            job.terminate()
            try:
                output, _ = job.communicate(timeout=15)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                output, _ = job.communicate()
            return Run(None, (), ()), 0 # what a program had said by then is a matter of chance
        faults, events = recording_faults(options.recorder, recordings) if recorded else ((), 0)
    ignored = re.compile(options.ignore) if options.ignore else None
    return Run(code, normal_lines(output, ignored), faults), (LOST_TEXT.search(output.decode(errors="replace")) is not None, events)


class Verdict:
    def __init__(self, test):
        self.test = test
        self.plain, self.traced = [], []
        self.events = 0

    def again(self, options, recorded):
        for _ in range(3):
            result, more = run(self.test, options, recorded)
            if not more or not more[0]:
                break
        (self.traced if recorded else self.plain).append(result)
        if recorded and more:
            self.events = max(self.events, more[1])

    @property
    def same(self):
        if any(t.faults for t in self.traced):
            return False
        outcomes = {(p.code, p.lines) for p in self.plain}
        if any((t.code, t.lines) in outcomes for t in self.traced):
            return True
        never_alike = len(self.plain) > 1 and len(outcomes) == len(self.plain)
        return never_alike and any(t.code in {p.code for p in self.plain} for t in self.traced)

    @property
    def unstable(self):
        return len({(r.code, r.lines) for r in self.plain}) > 1

    @property
    def fails(self):
        return self.plain[0].code != 0


def compare(test, options):
    verdict = Verdict(test)
    verdict.again(options, False)
    verdict.again(options, True)
    for _ in range(options.repeats):
        if verdict.same or any(t.faults for t in verdict.traced):
            break
        verdict.again(options, False)
        verdict.again(options, True)
    return verdict


def describe(result):
    code = "did not end in time" if result.code is None else f"exit code {result.code}"
    return [f"  {code}"] + [f"  | {line}" for line in result.lines[:12]] + \
        (["  | ..."] if len(result.lines) > 12 else []) + [f"  recording: {fault}" for fault in result.faults]


def report(verdicts, missing, out):
    different = [v for v in verdicts if not v.same]
    failing = [v for v in verdicts if v.fails]
    unstable = [v for v in verdicts if v.same and v.unstable]
    silent = [v for v in verdicts if v.same and v.events == 0 and v.plain[0].code == 0]
    for verdict in different:
        print(f"DIFFERENT {text_of(verdict.test)}", file=out)
        for name, runs in (("without", verdict.plain), ("with", verdict.traced)):
            for result in dict.fromkeys(runs):
                print(f" {name} the library:", file=out)
                print("\n".join(describe(result)), file=out)
    for title, some in (("baseline failure", failing), ("differs from run to run without the library", unstable),
                        ("nothing recorded", silent)):
        for verdict in some:
            code = verdict.plain[0].code
            print(f"{title}: {text_of(verdict.test)}: {'no end' if code is None else f'exit code {code}'}", file=out)
    print(f"{len(verdicts)} runs compared, {len(different)} different, {len(failing)} baseline failures, "
          f"{len(unstable)} differ from run to run, {len(silent)} recorded nothing, {sum(v.events for v in verdicts)} events; "
          f"{missing} listed programs are not built", file=out)
    return different


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--bin", required=True, help="folder with run_recorded and the libraries")
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="openmpi")
    parser.add_argument("--launcher", help="default: mpirun.openmpi or mpirun.mpich, else mpirun")
    parser.add_argument("--ranks", type=int, default=4, help="where no list says how many (4)")
    parser.add_argument("--seconds", type=int, default=60, help="limit of a run, unless its list allows more (60)")
    parser.add_argument("--longest", type=int, default=600, help="limit whatever the list says (600)")
    parser.add_argument("--repeats", type=int, default=3, help="further pairs of runs where the first differ (3)")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time (1); those of one folder that write files of one name disturb each other")
    parser.add_argument("--only", help="regular expression: programs to run")
    parser.add_argument("--without", help="regular expression: programs to leave out")
    parser.add_argument("--ignore", help="regular expression: lines of output to leave out")
    parser.add_argument("--lists", help="folder whose folders hold the testlists, where programs were built elsewhere")
    parser.add_argument("--lists-of", help="the folder that --lists stands for (default: the folder given)")
    parser.add_argument("--report", help="file for the report (default: standard output)")
    options = parser.parse_args()
    options.recorder = os.path.abspath(os.path.join(options.bin, "run_recorded"))
    options.library = os.path.abspath(os.path.join(options.bin, f"libstopline-mpi-{options.mpi}.so"))
    if not options.launcher:
        own = f"mpirun.{options.mpi}"
        options.launcher = own if any(os.access(os.path.join(d, own), os.X_OK) for d in os.get_exec_path()) else "mpirun"
    tests, missing = [], 0
    for folder in options.folders:
        more, gone = tests_of(os.path.abspath(folder), options)
        tests += more
        missing += gone
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        verdicts = []
        for verdict in pool.map(lambda test: compare(test, options), tests):
            verdicts.append(verdict)
            if options.report:
                state = "same" if verdict.same else "DIFFERENT"
                print(f"{len(verdicts)}/{len(tests)} {state} {text_of(verdict.test)}", flush=True)
    out = open(options.report, "w", encoding="utf-8") if options.report else sys.stdout
    different = report(verdicts, missing, out)
    if options.report:
        out.close()
    return 2 if not verdicts else 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
