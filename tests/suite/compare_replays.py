#!/usr/bin/env python3
"""Records every program of a list and replays each recording: all must come out the same.

usage: compare_replays.py --bin FOLDER [options] LIST

LIST has a run in every line, "NAME RANKS PROGRAM [ARGUMENTS...]"; a line that begins with # is none. A run is recorded with
`stopline record` and replayed --replays times with `stopline --batch`. Equal is a replay in which every rank has made all
recorded calls and no others, has ended with the same code, and in which all ranks together have printed the same lines
(--ignore leaves some out); of a job that failed, the rank that failed has to come to that point again with the same calls,
the others must not depart. Files of the runs are made in a folder of their own, which goes unless --keep is given.

Prints a line a run: events, wildcard receives and probes that raced, replays that were equal of those made. Exit code: 0
all equal, 1 at least one was not, 2 the list is empty or a run could not be recorded.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

from compare_runs import OPEN_MPI

RANK = re.compile(r"^\s+(\d+)\s+(\d+) events?, \d+ calls?, (.*)$")
IDENTICAL = re.compile(r"^\[(\d+)\] identical through event (\d+)$")
STATE = re.compile(r"^\[(\d+)\] (.*?)(?:  .*)?$")
SENT_AWAY = re.compile(r"exited with code 0$|killed by SIG(?:KILL|TERM) ") # or without a fault of its own
PRINTED = re.compile(r"^\[\d+\] (.*)$")
RACING = re.compile(r"^  \S+  MPI_\w+  (\d+) times? on ranks? ")


class Failure(Exception):
    """A run that says nothing: it could not be recorded or read."""


class Case:
    def __init__(self, name, ranks, command, options):
        self.name, self.ranks, self.command, self.options = name, ranks, command, options
        self.file = f"{name}.stopline"

    def stopline(self, *arguments):
        done = subprocess.run([os.path.join(self.options.bin, "stopline"), *arguments], cwd=self.options.folder,
                              env=self.options.environment, capture_output=True, timeout=self.options.seconds * 2 + 60)
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def lines(self, text):
        ignored = self.options.ignore
        return sorted(line.rstrip() for line in text.splitlines() if line.strip() and not line.startswith("stopline: ") and
                      not (ignored and ignored.search(line)))

    def record(self):
        jitter = ["--jitter", str(self.options.jitter)] if self.options.jitter is not None else []
        _, out, err = self.stopline("record", "-o", self.file, *jitter, *shlex.split(self.options.launcher), "-n",
                                    str(self.ranks), *self.command)
        code, told, why = self.stopline("info", self.file)
        if code:
            raise Failure(f"{self.name}: {err}{why}")
        ranks = [match.groups() for match in map(RANK.match, told.splitlines()) if match]
        self.recorded = {rank: (int(events), state) for rank, events, state in ranks}
        if not sum(events for events, _ in self.recorded.values()):
            raise Failure(f"{self.name}: nothing was recorded: {err or out}")
        failing = [rank for rank, (_, state) in self.recorded.items() if "MPI_Abort" in state or not SENT_AWAY.match(state)]
        self.failed = failing[0] if failing else None
        self.racing = sum(int(match.group(1)) for match in map(RACING.match, told.splitlines()) if match)
        self.printed = self.lines(out + err)

    def script(self):
        """A job that fails stands still in the debugger before its launcher kills ranks: that is how far it is compared."""
        end = f"wait {f'stopped {self.failed}' if self.failed else 'exited'} within {self.options.seconds}"
        return f"open {self.file}\nreplay within 60\n{end}\necho COMPARED\ncompared\necho RANKS\nranks\necho OUTPUT\noutput\n"

    def replay(self):
        """What is not as it was recorded."""
        script = os.path.join(self.options.folder, f"{self.name}.script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(self.script())
        code, out, err = self.stopline("--batch", script)
        parts = re.split(r"^(?:COMPARED|RANKS|OUTPUT)$\n", out, flags=re.MULTILINE)
        if code or len(parts) < 4:
            return [f"exit code {code}", *err.splitlines()[-4:], *out.splitlines()[-4:]]
        compared, states, output = parts[1:4]
        same = {m.group(1): int(m.group(2)) for m in map(IDENTICAL.match, compared.splitlines()) if m}
        state = {m.group(1): m.group(2) for m in map(STATE.match, states.splitlines()) if m}
        wrong = []
        for rank, (events, ended) in self.recorded.items():
            least = events if not self.failed else events - ("MPI_Abort" in ended) if rank == self.failed else 0
            if not least <= same.get(rank, -1) <= events:
                wrong.append(f"rank {rank}: {events} events were recorded, identical through {same.get(rank)}")
            if not self.failed and state.get(rank) != ended:
                wrong.append(f"rank {rank}: recorded: {ended}; replayed: {state.get(rank)}")
        if self.failed:
            return wrong
        printed = self.lines("\n".join(m.group(1) if m else line for line, m in
                                       ((line, PRINTED.match(line)) for line in output.splitlines()) if line[:1] != ">"))
        if printed != self.printed:
            wrong += [f"- {line}" for line in self.printed if line not in printed][:5]
            wrong += [f"+ {line}" for line in printed if line not in self.printed][:5]
            wrong.append(f"{len(self.printed)} lines were printed when it was recorded, {len(printed)} in the replay")
        return wrong


def compare(case):
    case.record()
    equal = 0
    for _ in range(case.options.replays):
        wrong = case.replay()
        equal += not wrong
        for line in wrong:
            print(f"  {case.name}: {line}", flush=True)
    events = sum(events for events, _ in case.recorded.values())
    print(f"{case.name}: {events} events, {case.racing} receives and probes raced, {equal} of {case.options.replays} replays equal",
          flush=True)
    return equal == case.options.replays


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list")
    parser.add_argument("--bin", required=True, help="folder with stopline")
    parser.add_argument("--replays", type=int, default=3, help="of each recording (3)")
    parser.add_argument("--jitter", type=int, help="seed of the delays when recording; none by default")
    parser.add_argument("--seconds", type=int, default=60, help="that a replay may take (60)")
    parser.add_argument("--launcher", default="mpirun")
    parser.add_argument("--ignore", type=re.compile, help="regular expression: lines of output to leave out")
    parser.add_argument("--only", type=re.compile, help="regular expression: names of the runs to make")
    parser.add_argument("--keep", metavar="FOLDER", help="where files of the runs are kept")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    options.environment = {**OPEN_MPI, "QT_QPA_PLATFORM": "offscreen", **os.environ}
    with open(options.list, encoding="utf-8") as file:
        runs = [shlex.split(line, comments=True) for line in file]
    runs = [run for run in runs if run and (not options.only or options.only.search(run[0]))]
    with tempfile.TemporaryDirectory(prefix="compare-replays-") as temporary:
        options.folder = os.path.abspath(options.keep or temporary)
        os.makedirs(options.folder, exist_ok=True)
        try:
            equal = [compare(Case(run[0], int(run[1]), run[2:], options)) for run in runs]
        except Failure as failure:
            print(failure, file=sys.stderr)
            return 2
    print(f"{sum(equal)} of {len(equal)} runs came out the same in every replay")
    return 2 if not equal else 0 if all(equal) else 1


if __name__ == "__main__":
    sys.exit(main())
