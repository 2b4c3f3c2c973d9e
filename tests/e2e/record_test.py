#!/usr/bin/env python3
"""Records jobs with `stopline record` and looks at the files with everything that reads them.

usage: record_test.py --stopline BIN --demo DIRECTORY --programs DIRECTORY --scripts DIRECTORY CASE

Each case works in a directory of its own and ends by looking for what is left behind: processes by a variable in their
environment, shared-memory files and session directories by their names.
"""
import argparse
import json
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from record_again import (again, again_addresses, again_clocks, again_data, again_ended, again_input, again_rebuilt,  # noqa: E402
                          again_seeds, again_threads, until_fail, until_fail_interrupted, until_fail_well)
from record_ended import interrupt, kill_agent, kill_mpirun, kill_rank, kill_recorder, terminate  # noqa: E402
from record_races import (races_freed, races_guarded, races_limits, races_online, races_replayed, races_seeds, races_seeds_long,  # noqa: E402
                          races_threads, races_unfinished)
from record_support import FILE, Case, chunks, without_sites  # noqa: E402


# --- Cases ---
def ring(case):
    program = os.path.join(case.demo, "ring")
    plain = case.run(["mpirun", "-n", "4", program, "2"])
    found = case.record("mpirun", "-n", "4", program, "2")
    case.equal("exit code, stdout, stderr", found, plain)
    case.equal("files", sorted(os.listdir(case.folder)), [FILE])
    case.compare("info", case.tidy_info(case.info()), "record_ring_info.expected")
    case.equal("info again", case.info(), case.info())
    case.batch("""ranks
where all
events 0
events 3
messages
point 1 7 before
frontier past
frontier future
-continue
-run
-undo
-rollback
-go
-pause
""", "record_ring.expected")
    # The other form of launching, and the same file name again.
    case.equal("exit code", case.record("-n", "2", program, "1")[0], 0)
    case.holds("info", case.info(), r"^Recording of 2 ranks$")


def halo(case):
    case.equal("exit code", case.record("-n", "4", os.path.join(case.demo, "halo"), "10")[0], 0)
    case.compare("info", case.tidy_info(case.info()), "record_halo_info.expected")
    case.batch("events 1 1 12\nmessages\npoint 0 5 after\nfrontier future\n", "record_halo.expected")


def heat(case):
    case.equal("exit code", case.record("-n", "4", os.path.join(case.demo, "heat"), "4", "2")[0], 0)
    out, _ = case.batch("ranks\nevents 0 1 6\n")
    case.holds("Fortran call sites", out, r"heat\.f90:\d+")


def segv(case):
    program = os.path.join(case.programs, "segv")
    plain = case.run(["mpirun", "-n", "4", program])
    found = case.record("mpirun", "-n", "4", program)
    case.equal("exit code", found[0], plain[0])
    case.holds("the launcher's own words", found[2], r"exited on signal 11 \(Segmentation fault\)")
    text = case.info()
    case.holds("info", text, r"^  1  6 events, 3 calls, killed by SIGSEGV \(Segmentation fault\), after event 5 MPI_Sendrecv to 2 tag 1 4 B from 0 tag 1  segv\.c:19$")
    case.holds("info", text, r"^exit code  139$")
    out, _ = case.batch("ranks\nevents 1\n")
    case.holds("rank 1", out, r"^\[1\] killed by SIGSEGV \(Segmentation fault\)  after 6 MPI_Sendrecv  segv\.c:19 main$")
    case.holds("its last event", out, r"^\[1\] 6 end   MPI_Sendrecv from 0 tag 1 4 B$")
    # The others wait for it in the barrier until the launcher ends them, agents included.
    case.holds("rank 0", out, r"^\[0\] (killed by SIG.*|ended when its agent was killed .*)  inside 7 MPI_Barrier  segv\.c:26 main$")


def abort(case):
    plain = case.run(["mpirun", "-n", "4", os.path.join(case.programs, "abort")])
    found = case.record("mpirun", "-n", "4", os.path.join(case.programs, "abort"))
    case.equal("exit code", found[0], plain[0])
    out, _ = case.batch("events 2\n")
    case.holds("the call of the victim", out, r"^\[2\] 9 begin MPI_Abort  abort\.c:17$")
    case.holds("info", case.info(), r"^  2  9 events, 5 calls, exited with code 7, inside event 9 MPI_Abort  abort\.c:17$")
    case.record("mpirun", "-n", "4", os.path.join(case.programs, "exitnofinalize"))
    case.holds("info of a rank that exits without MPI_Finalize", case.info(),
               r"^  1  4 events, 2 calls, exited with code 3, after event 3 MPI_Bcast root 0  exitnofinalize\.c:\d+$")


def random(case):
    """Every message of a long run is matched, every request is had back: of all kinds, and many more than are open at once."""
    found = case.record("mpirun", "-n", "4", os.path.join(case.programs, "random_mpi"), "1", "4000")
    case.equal("exit code and output", found[:2], (0, "seed 1, 4000 steps, checksum fad3d9ab51beb7ae\n"))
    case.holds("info", case.info(), r"^Unmatched messages\n  none\n\nOpen requests\n  none$")


def mpmd(case):
    program = os.path.join(case.programs, "barrier")
    found = case.record("mpirun", "-n", "2", program, "2", ":", "-n", "2", program, "2")
    case.equal("exit code and output", found[:2], (0, "total = 822\n"))
    case.holds("info", case.info(), r"^  MPI_Barrier +8  2 on ranks 0-3$")


def stdin(case):
    found = case.record("mpirun", "-n", "2", os.path.join(case.programs, "stdin"), input=b"one\nthree\n")
    case.equal("exit code and output", found[:2],
               (0, "line 1 has 3 letters\nline 2 has 5 letters\n2 lines, 16 letters on 2 ranks\n"))


def exits(case):
    """Exit codes and mistakes."""
    code, _, err = case.record("-n", "2", case.path("missing"))
    case.equal("exit code of a program that is missing", code != 0, True)
    case.holds("what is said of it", err, r'^stopline: .*missing" does not exist')
    os.path.exists(case.path(FILE)) and os.unlink(case.path(FILE))
    case.equal("exit code", case.record("-n", "2", os.path.join(case.demo, "ring"))[0], 0)
    with open(case.path(FILE), "rb") as f:
        before = f.read()
    code, _, err = case.record("-n", "2", case.path("missing"))
    case.equal("exit code of a program that is missing, again", code != 0, True)
    case.holds("what is said of the recording there", err,
               r"No rank has called MPI: nothing is recorded, and run\.stopline stays as it was\.$")
    with open(case.path(FILE), "rb") as f:
        case.equal("the recording there is as it was", f.read() == before, True)
    code, _, err = case.record("--until-fail", "3", "-n", "2", case.path("missing"))
    case.equal("exit code of a program that is missing, until it fails", code != 0, True)
    case.holds("what is said of the recording there", err,
               r"Run 1: no rank has called MPI: nothing is recorded, and run\.stopline stays as it was\.$")
    with open(case.path(FILE), "rb") as f:
        case.equal("the recording there is as it still was", f.read() == before, True)
    os.unlink(case.path(FILE))
    code, _, err = case.run([case.stopline, "record", "-o", "no/such/folder", "-n", "2", os.path.join(case.demo, "ring")])
    case.equal("exit code where no file can be", code, 2)
    case.holds("what is said of it", err, r"cannot be written: .*No such file or directory.*-o")
    code, _, err = case.record("--launcher", "/nonexistent/mpirun", "-n", "2", os.path.join(case.demo, "ring"))
    case.equal("exit code without a launcher", code, 2)
    case.equal("files", [name for name in os.listdir(case.folder) if name != "script"], [])
    code, out, err = case.run([case.stopline, "info", "/etc/passwd"])
    case.equal("info of something else", (code, err), (1, "stopline: /etc/passwd cannot be opened: it is no recording of "
                                                          "Stopline's.\n"))


def full_disk(case):
    folder = case.path("disk")
    os.mkdir(folder)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", folder], stderr=subprocess.DEVNULL).returncode:
        print("mounting is not allowed here")
        sys.exit(77)
    try:
        # 256 KiB of it are kept back for the end where there are as many; else less.
        for filler, fits in ((100, True), (330, False)):
            with open(os.path.join(folder, "filler"), "wb") as f:
                f.write(b"x" * filler * 1024)
            code, out, err = case.run([case.stopline, "record", "-o", os.path.join(folder, FILE), "mpirun", "-n", "4",
                                       os.path.join(case.programs, "random_mpi"), "1", "4000"], timeout=200)
            if code != 0 or not out.startswith("seed 1, 4000 steps, checksum "):
                case.fail(f"exit code {code}: the job is to go on\n{out}{err}")
            case.holds("what is said", err, r"No space left on device. The job goes on")
            result, text, _ = case.run([case.stopline, "info", os.path.join(folder, FILE)])
            case.equal("exit code of info", result, 0)
            if fits:
                case.holds("info", text, r"^whole      yes$")
                case.equal("said at the end", "is not whole" in err, False)
            else:
                case.holds("said at the end", err, r"is not whole: No space left on device. What is in it can be opened")
                case.holds("info", text, r"it could not be written in full: No space left on device")
                case.holds("info", text, r"^whole      no, see Problems$")
                case.holds("info", text, r"^  0  \d+ events, \d+ calls, exited with code 0$")
            os.unlink(os.path.join(folder, FILE))
    finally:
        subprocess.run(["umount", folder], check=True)


def window(case):
    """The file in the real window, without a display."""
    case.equal("exit code", case.record("-n", "4", os.path.join(case.demo, "halo"), "10")[0], 0)
    with open(case.path("script"), "w") as f:
        f.write("ranks\nselect 1 7\npoint 1 7 before\nscreenshot opened\n-run\n-continue\n")
    code, out, err = case.run([case.stopline, "--session-script", "script", "--screenshots", "pictures", "open", FILE])
    case.equal("exit code", code, 0)
    case.holds("ranks", out, r"^\[3\] exited with code 0  after \d+ MPI_Finalize$")
    case.holds("run", err, r"line 5: run: run\.stopline is a recording, shown without its job; Replay run executes it again, a new launch starts another")
    case.holds("continue", err, r"line 6: continue: run\.stopline is a recording: there is no job to control")
    with open(case.path("pictures/opened.png"), "rb") as f:
        head = f.read(24)
    case.equal("picture", (head[:8], struct.unpack(">II", head[16:])), (b"\x89PNG\r\n\x1a\n", (1440, 900)))


def rebuilt(case):
    """The program is built anew after it has been recorded."""
    source = case.path("app.c")
    shutil.copy(os.path.join(os.path.dirname(case.scripts), "..", "..", "resources", "demo", "ring.c"), source)
    build = ["mpicc", "-g", "-O0", "-o", "app", "app.c"]
    case.equal("mpicc", case.run(build)[0], 0)
    case.equal("exit code", case.record("-n", "2", "./app", "1")[0], 0)
    out, err = case.batch("events 0 3 3\n")
    case.holds("a call's line", out, r"^\[0\] 3 begin MPI_Send to 1 tag 0 8 B  app\.c:21$")
    case.equal("nothing is said", err, "")
    without_sites(case.path(FILE), case.path("bare.stopline"))
    out, err = case.batch("events 0 3 3\n", file="bare.stopline")
    case.holds("the line, from debug information", out, r"MPI_Send to 1 tag 0 8 B  app\.c:21$")
    with open(source) as f:
        text = f.read()
    with open(source, "w") as f:
        f.write("/* more\n * lines */\n" + text)
    case.equal("mpicc", case.run(build)[0], 0)
    out, err = case.batch("events 0 3 3\n")
    case.holds("the recorded line", out, r"MPI_Send to 1 tag 0 8 B  app\.c:21$")
    case.holds("what is said", err, r"/app has been built anew since the recording \(build [0-9a-f]{12}, now [0-9a-f]{12}\): "
                                    r"lines are those of the recorded build")
    out, err = case.batch("events 0 3 3\n", file="bare.stopline")
    case.holds("no line is guessed", out, r"^\[0\] 3 begin MPI_Send to 1 tag 0 8 B$")
    case.holds("what is said", err, r"calls whose lines are not in the recording have none")
    os.unlink(case.path("app"))
    out, err = case.batch("events 0 3 3\n", file="bare.stopline")
    case.holds("what is said of a program that is gone", err, r"/app is not there any more")


def chrome(case):
    case.equal("exit code", case.record("-n", "4", os.path.join(case.demo, "halo"), "10")[0], 0)
    case.tool("export", "--format", "chrome", "-o", "out.json", FILE)
    with open(case.path("out.json")) as f:
        trace = json.load(f)
    case.equal("time unit", trace["displayTimeUnit"], "ns")
    events = trace["traceEvents"]
    slices = [e for e in events if e["ph"] == "X"]
    info = case.info()
    calls = {m[1]: int(m[2]) for m in re.finditer(r"^  (MPI_\w+) +(\d+)  ", info, re.MULTILINE)}
    counted = {}
    for e in slices:
        counted[e["name"]] = counted.get(e["name"], 0) + 1
    case.equal("slices by name", counted, calls)
    case.equal("ranks", {e["pid"] for e in slices}, {0, 1, 2, 3})
    case.equal("names of ranks", [e["args"]["name"].split(" (")[0] for e in events if e["name"] == "process_name"],
               [f"rank {i}" for i in range(4)])
    for e in slices:
        if e["ts"] < 0 or e["dur"] < 0 or e["args"]["file"].split("/")[-1] != "halo.c" or e["args"]["line"] <= 0:
            case.fail(f"slice {e}")
    # Slices of a thread lie behind each other.
    for rank in range(4):
        own = sorted((e["ts"], e["ts"] + e["dur"]) for e in slices if e["pid"] == rank and e["tid"] == 0)
        for a, b in zip(own, own[1:]):
            if b[0] < a[1] - 1e-6:
                case.fail(f"slices of rank {rank} overlap: {a} {b}")
    begins = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    case.equal("every arrow has two ends", sorted(begins), sorted(ends))
    sends = sum(count for name, count in calls.items() if name in ("MPI_Send", "MPI_Isend", "MPI_Sendrecv"))
    case.equal("arrows", len(begins), sends)

    def slice_at(flow):
        return [e for e in slices if e["pid"] == flow["pid"] and e["tid"] == flow["tid"] and
                e["ts"] <= flow["ts"] <= e["ts"] + e["dur"]]

    for number, begin in begins.items():
        end = ends[number]
        case.equal("an arrow binds to the slice around it", end.get("bp"), "e")
        if not any(e["name"] in ("MPI_Send", "MPI_Isend", "MPI_Sendrecv") for e in slice_at(begin)) or not slice_at(end):
            case.fail(f"arrow {begin} {end}")


def otf2(case):
    case.equal("exit code", case.record("-n", "4", os.path.join(case.demo, "halo"), "10")[0], 0)
    code, _, err = case.run([case.stopline, "export", "--format", "otf2", "-o", "archive", FILE])
    if "built without OTF2" in err or not shutil.which("otf2-print"):
        print("no OTF2 here: " + err)
        sys.exit(77)
    case.equal("exit code and what is said", (code, err), (0, ""))
    code, definitions, err = case.run(["otf2-print", "-G", "archive/traces.otf2"])
    case.equal("otf2-print of the definitions", (code, err), (0, ""))
    for pattern in (r"^CLOCK_PROPERTIES .*1000000000", r'^REGION .*"MPI_Isend"', r'^LOCATION_GROUP .*"MPI rank 3"',
                    r'^COMM .*"MPI_COMM_WORLD"', r"^LOCATION .*CPU_THREAD", r'^ATTRIBUTE .*"call site: line"'):
        case.holds("definitions", definitions, pattern)
    code, events, err = case.run(["otf2-print", "archive/traces.otf2"])
    case.equal("otf2-print of the events", (code, err), (0, ""))
    counted = {}
    for line in events.splitlines():
        words = line.split()
        if len(words) > 2 and words[1].isdigit():
            counted[words[0]] = counted.get(words[0], 0) + 1
    calls = {m[1]: int(m[2]) for m in re.finditer(r"^  (MPI_\w+) +(\d+)  ", case.info(), re.MULTILINE)}
    case.equal("ENTER", counted.get("ENTER"), sum(calls.values()))
    case.equal("LEAVE", counted.get("LEAVE"), sum(calls.values()))
    case.equal("MPI_ISEND", counted.get("MPI_ISEND"), calls["MPI_Isend"])
    case.equal("MPI_ISEND_COMPLETE", counted.get("MPI_ISEND_COMPLETE"), calls["MPI_Isend"])
    case.equal("MPI_IRECV_REQUEST", counted.get("MPI_IRECV_REQUEST"), calls["MPI_Irecv"])
    case.equal("MPI_IRECV", counted.get("MPI_IRECV"), calls["MPI_Irecv"])
    collectives = sum(count for name, count in calls.items() if re.fullmatch(r"MPI_(Allreduce|Barrier|Bcast|Comm_split|Comm_free)", name))
    case.equal("MPI_COLLECTIVE_END", counted.get("MPI_COLLECTIVE_END"), collectives)
    code, _, err = case.run([case.stopline, "export", "--format", "otf2", "-o", "archive", FILE])
    case.equal("a directory that exists", (code, "exists already" in err), (1, True))


def damaged(case):
    case.equal("exit code", case.record("-n", "4", os.path.join(case.demo, "ring"), "2")[0], 0)
    with open(case.path(FILE), "rb") as f:
        data = bytearray(f.read())
    kind, rank, begin, end = next(c for c in chunks(case.path(FILE)) if c[0] == 6 and c[1] == 2)
    number = chunks(case.path(FILE)).index((kind, rank, begin, end)) + 1
    data[begin + 45] ^= 4
    with open(case.path(FILE), "wb") as f:
        f.write(data)
    out, err = case.batch("ranks\n")
    case.holds("what is said", err, rf"run\.stopline: rank 2, chunk {number} \(dictionary, byte {begin}\): its checksum is wrong; "
                                    r"what rank 2 did from there on is missing")
    case.holds("the others", out, r"^\[3\] exited with code 0  after \d+ MPI_Finalize$")
    with open(case.path(FILE), "wb") as f:
        f.write(data[:begin])
    out, err = case.batch("ranks\n")
    case.holds("what is said", err, r"run\.stopline: the file does not have its last chunk")
    data[8] = 9
    with open(case.path(FILE), "wb") as f:
        f.write(data)
    code, out, err = case.run([case.stopline, "--batch", "script", "open", FILE])
    case.equal("exit code", code, 1)
    case.holds("what is said", err, r"it has format version 9; this Stopline reads version 1")


CASES = {f.__name__: f for f in (ring, halo, heat, segv, abort, random, mpmd, stdin, exits, kill_rank, kill_agent,
                                 kill_mpirun, kill_recorder, interrupt, terminate, full_disk, window, rebuilt, chrome,
                                 otf2, damaged, again, again_addresses, again_clocks, again_data,
                                 again_ended, again_input, again_rebuilt, again_seeds, again_threads, until_fail, until_fail_interrupted, until_fail_well,
                                 races_freed, races_guarded, races_limits, races_online, races_replayed, races_seeds,
                                 races_seeds_long, races_threads, races_unfinished)}


def main():
    parser = argparse.ArgumentParser()
    for name in ("stopline", "demo", "programs", "scripts"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--launcher", default="mpirun")
    parser.add_argument("case", choices=sorted(CASES))
    options = parser.parse_args()
    case = Case(options)
    try:
        CASES[options.case](case)
    except (RuntimeError, subprocess.TimeoutExpired, KeyError, StopIteration) as error:
        case.fail(f"{type(error).__name__}: {error}")
    finally:
        case.nothing_left()
        shutil.rmtree(case.folder)
    for text in case.failures:
        print("FAILED: " + text)
    return 1 if case.failures else 0


if __name__ == "__main__":
    sys.exit(main())
