"""Cases of record_test.py in which races are found while the job runs (--order=racing)."""
import os
import re

from record_support import FILE

# Programs and what they are given; all of them come to their end, and none meets a limit of the search.
PROGRAMS = ["wildcard", "wildcard 5 7", "tasks", "particles", "search 9", "table", "probe", "p2p", "comms", "collectives", "unordered",
            "table1/det", "table1/line", "table1/mesh 100 50", "table1/mult", "table1/sys", "table1/tycho"]
RACING = {"wildcard", "tasks", "table1/sys", "table1/tycho"}  # whatever the order is
LIMITS = [("onesided", "it uses one-sided communication"), ("threads", "several threads of a rank called MPI"),
          ("spawn", "it exchanges messages with another job")]
RANDOM_PROGRAM = "random_mpi {}"
RACING_PROGRAM = "racing {} 1"
FOUND = re.compile(r"(\d+) windows, (\d+) raced, (\d+) of (\d+) messages traced")


def record_racing(case, text, *options):
    """What was printed, and what the comparison of the two ways to find races says."""
    name, *arguments = text.split()
    code, out, err = case.record("--order=racing", *options, case.launcher, "-n", "4", os.path.join(case.programs, name), *arguments)
    if code != 0:
        case.fail(f"{text}: exit code {code}\n{err}")
    code, said, _ = case.run([os.path.join(os.path.dirname(case.stopline), "race_oracle"), FILE])
    if code != 0:
        case.fail(f"{text}: the two differ:\n{said}")
    return out, said


def delay(case, seed):
    """Other delays for `racing`, in the same environment."""
    with open(case.path("jitter"), "w") as f:
        f.write(str(seed))


def told(case):
    """Bytes of order that a replay is told, and those that it would be told with all receives."""
    found = re.search(r"^  order that a replay is told: (\d+) bytes; with that of all receives it would be (\d+)$", case.info(), re.MULTILINE)
    return int(found[1]), int(found[2])


def replay_once(case, text, printed, said):
    """A replay that is told of the racing messages alone makes all recorded events, and prints the same."""
    out, err = case.batch("replay\nwait exited\noutput\ncompared\n", options=("--verbose",))
    case.equal(f"{text}: printed again", sorted(re.findall(r"^\[\d\] (?!identical)(.*)$", out, re.MULTILINE)), sorted(printed.splitlines()))
    case.equal(f"{text}: ranks identical", len(re.findall(r"^\[\d\] identical through event", out, re.MULTILINE)), 4)
    case.holds(text, err, rf"which receives and probes raced \({FOUND.search(said)[2]}\): replays are told of the messages of those alone")


def races_online(case):
    """What the ranks find is what the analysis of the recording finds, and the other way round."""
    raced = set()
    for number, text in enumerate(PROGRAMS):
        _, said = record_racing(case, text, "--jitter", str(number + 1))
        print(f"{text}: {said}", end="")
        found = FOUND.search(said)
        if found is None:
            case.fail(f"{text}: the ranks have not found all races:\n{said}")
        elif found[2] != "0":
            raced.add(text.split()[0])
    case.equal("programs that raced", RACING - raced, set())


def seeds(case, first, count, replays, programs=(RANDOM_PROGRAM, RACING_PROGRAM)):
    """Random programs: the two agree, and replays that are told of the racing messages alone come out equal, whatever the delays
    (receives that are freed among them)."""
    case.environment["RACING_JITTER"] = case.path("jitter")
    raced = least = whole = 0
    for seed in range(first, first + count):
        for program in programs:
            text = program.format(seed)
            delay(case, seed * 100)
            printed, said = record_racing(case, text, "--jitter", str(seed))
            print(f"{text}: {said}", end="")
            found = FOUND.search(said)
            if found is None and not re.search("given up: (a call failed|a send was cancelled)$", said, re.MULTILINE):
                case.fail(f"{text}: the ranks have not found all races:\n{said}")
            if found is None or found[1] == "0" or case.failures:
                continue  # without windows there is no source to be left out
            raced += int(found[2])
            less, more = told(case)
            least += less
            whole += more
            for replay in range(replays):
                delay(case, seed * 100 + replay + 1)
                replay_once(case, text, printed, said)
    print(f"{raced} receives and probes raced, {least} bytes of order told, {whole} with that of all receives")
    case.equal("some raced", raced > 0, True)
    case.equal("less is told", least < whole, True)


def races_seeds(case):
    # Of MPICH's sends those that are complete at once share a handle, whatever is forced: which of them a call names differs from
    # run to run, so not every replay of a random program is equal there.
    seeds(case, 1, 8, 1 if case.launcher == "mpirun" else 0)


def races_threads(case):
    """As long as one thread calls MPI it does not matter that others may."""
    case.environment["RACING_THREADS"] = "1"
    seeds(case, 1, 3, 1, [RACING_PROGRAM])


def races_seeds_long(case):
    seeds(case, 100, 60, 3)


def races_limits(case):
    """Where they cannot be found the reason is told, and a replay is told of all messages."""
    for text, reason in LIMITS:
        if text == "spawn" and case.launcher != "mpirun":
            continue  # MPICH's launcher may refuse to start processes later
        _, said = record_racing(case, text)
        case.holds(text, said, rf"given up: {reason}$")
        case.holds(text, case.info(), rf"^  races could not be found while the job ran: {reason}$")


def races_freed(case):
    """Nothing waits for a receive that was freed while it was active, so it races with more: and those alone are told."""
    case.environment["RACING_JITTER"] = case.path("jitter")
    delay(case, 1)
    printed, said = record_racing(case, "racing 3075 2", "--jitter", "7")
    case.holds("a receive was freed", case.info(), r"Request_free")
    for replay in range(3):
        delay(case, replay + 2)
        replay_once(case, "racing 3075 2", printed, said)


def races_guarded(case):
    """A receive that did not race, but only as an older one was open that has its own source in a replay: it is told, too."""
    case.environment["DELAYED"] = case.path("delayed")
    with open(case.path("delayed"), "w") as f:
        f.write("2")
    printed, said = record_racing(case, "guarded")
    with open(case.path("delayed"), "w") as f:
        f.write("3")
    replay_once(case, "guarded", printed, said)


def races_unfinished(case):
    """A rank that crashes has not found all: the replay is told of all messages, and is the same crash."""
    case.record("--order=racing", case.launcher, "-n", "4", os.path.join(case.programs, "segv"))
    case.holds("info", case.info(), r"^  races could not be found while the job ran: a rank did not come to its end$")
    _, err = case.batch("replay\nwait stopped\nexpect state 1 stopped by signal\nexpect where 1 segv.c:7\n", options=("--verbose",))
    case.holds("what is said", err, r"which receives raced \(a rank did not come to its end\): replays are told of the messages of all")


def races_replayed(case):
    """Programs with known answers, replayed under other delays than they were recorded with."""
    for text in ("wildcard", "tasks", "table", "table1/tycho 100"):
        printed, said = record_racing(case, text, "--jitter", "3")
        case.holds(text, said, r"\d+ windows, [1-9]\d* raced")
        for _ in range(3):
            replay_once(case, text, printed, said)
