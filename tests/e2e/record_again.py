"""Cases of record_test.py in which a recording is executed again."""
import os
import re
import shutil
import signal

from record_support import FILE


def recordings(case):
    return sorted(name for name in os.listdir(case.folder) if "stopline" in name)


def again(case):
    """Whoever comes first is the same in every execution, and what is printed too."""
    order = case.record("mpirun", "-n", "4", os.path.join(case.programs, "wildcard"))[1].strip()
    case.holds("the order", order, r"^order:( [123]){12}$")
    for _ in range(2):
        out, _err = case.batch("replay\nwait exited\ncompared\noutput 0\npoint 0 15 after\nstopline past\ngo\n"
                               "expect place 0 after 16\nexpect print i rank 0 = 5\nshow 0\nrollback\n"
                               "expect place 0 before 15\nexpect where 0 wildcard.c:30\ncompared\ncontinue\n"
                               "wait exited\noutput 0\n")
        case.equal("orders printed", re.findall(r"\[0\] (order.*)", out), [order, order])
        for rank, event in ((0, 30), (1, 14), (0, 15)):
            case.holds("comparison", out, rf"^\[{rank}\] identical through event {event}$")


def again_ended(case):
    """A crash is the same crash, with the program stopped in it; from there one call back."""
    case.record("mpirun", "-n", "4", os.path.join(case.programs, "segv"))
    out, _ = case.batch("replay\nwait stopped\nexpect state 1 stopped by signal\nexpect where 1 segv.c:7\n"
                        "expect place 1 after 6\ncompared\nshow 1\nrollback\nexpect place 1 before 5\n"
                        "expect where 1 segv.c:19\n")
    case.holds("comparison", out, r"^\[1\] identical through event 6$")


def again_rebuilt(case):
    """Another program under the same name is not taken for the recorded one, unless the user says so twice."""
    program = case.path("program")
    shutil.copy(os.path.join(case.programs, "wildcard"), program)
    case.record("mpirun", "-n", "4", program)
    shutil.copy(os.path.join(case.programs, "barrier"), program)
    out, err = case.batch("- replay\nranks\nreplay\nwait stopped\n")
    case.holds("refusal", err, r"program has been built anew since the run was recorded")
    case.holds("nothing started", out, r"^\[0\] exited with code 0  after 30 MPI_Finalize$")
    case.holds("departure", err, r"departs from the recording: rank \d, event \d+.* — " + re.escape(program) +
               r" has been built anew since the run was recorded, which may be all there is to it: Restart records the new program\.")


def again_clocks(case):
    """Times and random bytes are those of the recording: the same messages, and the same text."""
    printed = sorted(case.record("mpirun", "-n", "4", os.path.join(case.programs, "clocks"))[1].splitlines())
    case.equal("lines printed", len(printed), 4)
    for _ in range(2):
        out, _err = case.batch("replay\nwait exited\noutput\ncompared\n")
        case.equal("printed again", sorted(re.findall(r"^\[\d\] (rank .*)$", out, re.MULTILINE)), printed)
        case.equal("ranks identical", len(re.findall(r"^\[\d\] identical through event", out, re.MULTILINE)), 4)


def again_seeds(case):
    """Random numbers from libc, libstdc++ and the devices, and the number of the process where that is asked for."""
    for more, words in (((), ()), (("--values", "getpid"), ("pid",))):
        printed = sorted(case.record(*more, "mpirun", "-n", "3", os.path.join(case.programs, "seeds"), *words)[1].splitlines())
        case.equal("lines printed", len(printed), 3)
        out, _err = case.batch("replay\nwait exited\noutput\ncompared\n")
        case.equal("printed again", sorted(re.findall(r"^\[\d\] (rank .*)$", out, re.MULTILINE)), printed)
        case.equal("ranks identical", len(re.findall(r"^\[\d\] identical through event", out, re.MULTILINE)), 3)
        os.remove(case.path(FILE))


def again_input(case):
    """What came from standard input comes again, to its end: from a pipe, from a file, and nothing from /dev/null."""
    given = "".join(f"line {i}{'.' * (i % 50)}\n" for i in range(100)).encode()  # mpirun itself breaks now and then with more
    program = os.path.join(case.programs, "stdin")
    with open(case.path("given"), "wb") as f:
        f.write(given)
    with open(case.path("given"), "rb") as f:
        ways = (({"input": given}, ()), ({"stdin": f}, ()), ({}, ("--input", case.path("given"))), ({"input": b""}, ()), ({}, ()))
        for more, options in ways:
            if "stdin" in more:
                process = case.start([case.stopline, "record", "-o", FILE, *options, "mpirun", "-n", "2", program], **more)
                printed = process.communicate(timeout=240)[0].decode().splitlines()
            else:
                printed = case.record(*options, "mpirun", "-n", "2", program, **more)[1].splitlines()
            lines, letters = (0, 0) if "stdin" not in more and not options and not more.get("input") else (100, 2 * (len(given) - 100))
            case.equal("last line", printed[-1:], [f"{lines} lines, {letters} letters on 2 ranks"])
            out, _err = case.batch("replay\nwait exited\noutput 0\ncompared\n")
            case.equal("printed again", re.findall(r"^\[0\] (line .*|\d+ lines.*)$", out, re.MULTILINE), printed)
            case.equal("ranks identical", len(re.findall(r"^\[\d\] identical through event", out, re.MULTILINE)), 2)
            os.remove(case.path(FILE))


def again_data(case):
    """Data that are not the recorded ones stop the replay of a recording; without --check-data nobody looks."""
    program = os.path.join(case.programs, "payload")
    case.record("--check-data", "mpirun", "-n", "2", program, "10000", "5000")
    _out, err = case.batch("replay\nwait stopped\nexpect state 0 stopped: departs from the recording\nexpect place 0 after 16406\n")
    case.holds("difference", err, r"What rank 0 sends is not what it sent in the recording: it differs at event 16405 \(payload\.c:\d+\); "
               r"up to event 8205 it was the same")
    os.remove(case.path(FILE))
    case.record("--check-data", "mpirun", "-n", "2", program, "100", "50")  # compared at the end at the latest
    _out, err = case.batch("replay\nwait stopped\nexpect state 0 stopped: departs from the recording\nexpect where 0 payload.c:53\n")
    case.holds("difference", err, r"What rank 0 sends is not what it sent in the recording: it differs at event 211 \(payload\.c:\d+\); ")
    os.remove(case.path(FILE))
    case.record("mpirun", "-n", "2", program, "10000", "5000")
    out, _err = case.batch("replay\nwait exited\ncompared\n")
    case.equal("ranks identical", len(re.findall(r"^\[\d\] identical through event", out, re.MULTILINE)), 2)


def again_addresses(case):
    """The system chose the addresses of the recording; those of its replay are others, and so is the order that they decide."""
    number = case.path("number")

    def write(text):
        with open(number, "w", encoding="utf-8") as file:
            file.write(text)

    write("1000")
    case.record("mpirun", "-n", "2", os.path.join(case.programs, "byaddress"), number, "shown")
    write("41943040")
    _out, err = case.batch("replay\nwait stopped\n")
    moved = (r"; the heap is not where it was: the buffer of event 3 was at 0x5[0-9a-f]{11} in the recording and is at "
             r"0x7[0-9a-f]{11} now")
    case.holds("text", err, r"^error: The re-execution departs from the recording: rank 1, event 7 \(byaddress\.c:\d+\): recorded "
               r"MPI_Send to 0 tag 1 4 B, now MPI_Send to 0 tag 2 4 B" + moved + r" — What MPI decides was replayed: so an address that "
               r"malloc gave \(all are others than in the recording, as the system has chosen them\), a file, a time or number from "
               r"elsewhere, the order of threads or of one-sided accesses decides there\. Numbers of one's own instead of addresses are "
               r"the same each time; in a run that is recorded with --fixed-addresses most addresses are, too\. The diagram now shows this execution; you can go on from here\.$")
    case.holds("departure", err, r"^departure: rank 1 event 7: recorded MPI_Send to 0 tag 1 4 B, executed MPI_Send to 0 tag 2 4 B at "
               r"byaddress\.c:\d+" + moved + "$")
    # At fixed addresses nothing moves by itself: what the file asks for does.
    write("1000")
    case.record("--fixed-addresses", "mpirun", "-n", "2", os.path.join(case.programs, "byaddress"), number, "shown")
    out, _err = case.batch("replay\nwait exited\ncompared\n")
    case.equal("ranks identical", len(re.findall(r"^\[\d\] identical through event", out, re.MULTILINE)), 2)
    write("41943040")
    _out, err = case.batch("replay\nwait stopped\n")
    case.holds("fixed", err, r"^departure: rank 1 event 7: .*; the heap is not where it was: the buffer of event 3 was at "
               r"0x55555[0-9a-f]{7} in the recording and is at 0x7fff[0-9a-f]{8} now$")
    case.holds("not by the system", err, r"so an address that malloc gave \(where the program sorts or hashes by address")


def again_threads(case):
    """A program that may call MPI from several threads is replayed until it does."""
    late = case.path("late")
    for rank in ("1", "2"):
        with open(late, "w", encoding="utf-8") as file:
            file.write(rank)
        if rank == "1":
            case.record("mpirun", "-n", "3", os.path.join(case.programs, "latethread"), late)
    case.holds("info", case.info(), r"^  but a replay does not repeat all from event 7 of rank 0 on \(latethread\.c:\d+\): several "
               r"threads call MPI, and in which order they do is not replayed$")
    out, err = case.batch("replay\nwait stopped\ncompared\n")
    case.holds("compared", out, r"^\[0\] equal through event 11, as far as compared before the departure$")
    case.holds("departure", err, r"^error: The re-execution departs from the recording: rank 0, event 12 \(latethread\.c:22\): recorded "
               r"MPI_Recv got source 2 tag 2 4 B, now MPI_Recv got source 1 tag 2 4 B — What MPI decides was not all replayed, from "
               r"MPI_Sendrecv of rank 0 \(event 7\) on: several threads call MPI, and in which order they do is not replayed\.")


def until_fail(case):
    """Runs that go well leave nothing; the one that fails is kept, and fails again when it is executed again."""
    code, out, err = case.record("--until-fail", "100", "--jitter", "7", "mpirun", "-n", "3",
                                 os.path.join(case.programs, "rare"))
    case.equal("exit code", code, 3)
    case.holds("what is said", err, r"Run \d+ of 100 failed \(--jitter \d+\): rank 0 ")
    case.holds("output", out, r"^round \d+: rank 2 came first$")
    case.equal("files", recordings(case), [FILE])
    case.batch("replay\nwait stopped\nexpect state 0 stopped before the job ends\nexpect where 0 rare.c:32\n"
               "expect print first rank 0 = 2\n")


def until_fail_well(case):
    """Nothing fails: nothing is kept. A rank that hangs is a failure."""
    code, _, err = case.record("--until-fail", "2", "mpirun", "-n", "2", os.path.join(case.programs, "barrier"))
    case.equal("exit code", code, 0)
    case.holds("what is said", err, r"2 runs, and none of them failed")
    case.equal("files", recordings(case), [])
    code, _, err = case.record("--until-fail", "2", "--hang", "2", "mpirun", "-n", "2",
                               os.path.join(case.programs, "deadlock"))
    case.holds("what is said", err, r"Run 1 of 2 failed: no rank has begun or ended an MPI call for 2 s")
    case.equal("a run that hangs is a success", code == 0, False)
    case.equal("files", recordings(case), [FILE])
    # Of agents that the launcher killed before they could tell how their ranks ended as well.
    case.equal("how the ranks ended", re.findall(r"^  \d  .* calls, (.*), inside event", case.info(), re.MULTILINE),
               ["killed by stopline after 2 s without a new call"] * 2)
    case.holds("who waits for whom", case.info(), r"^  rank 0 waits in MPI_Recv \(deadlock\.c:9\) for rank 1, which waits in MPI_Recv "
                                                  r"\(deadlock\.c:9\) for rank 0: a deadlock$")
    out, _ = case.batch("ranks\n")
    case.equal("ranks", len(re.findall(r"^\[\d\] killed by stopline after 2 s without a new call  inside ", out, re.MULTILINE)), 2)


def until_fail_interrupted(case):
    """Whoever interrupts wants to see the run that does not end: it is kept, and that is said."""
    process = case.start_longrun(options=("--until-fail", "3", "--jitter", "5"), part=FILE + ".trial.part")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    case.holds("what is said", err.decode(), r"^stopline: Interrupted in run 1 of 3 \(--jitter 5\): its recording is kept\. "
                                    r"stopline open run\.stopline shows how far it was\.$")
    case.equal("files", recordings(case), [FILE])
    case.equal("how the ranks ended", set(re.findall(r"^  \d  .* calls, (killed[^,]*)", case.info(), re.MULTILINE)),
               {"killed when stopline was interrupted by signal 2 (Interrupt)"})
