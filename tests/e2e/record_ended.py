"""Cases of record_test.py: whatever of a recorded job is ended from outside, the recording is whole up to there."""
import fcntl
import os
import signal
import subprocess
import termios

from record_support import FILE, check_killed, mapped


def kill_rank(case):
    process = case.start_longrun()
    victim = case.processes(r"\S*longrun ")[-1]
    os.kill(victim, signal.SIGKILL)
    process.communicate(timeout=60)
    case.equal("exit code", process.returncode, 137)
    text = check_killed(case, 3)
    case.holds("info", text, r"killed by SIGKILL \(Killed\)")


def kill_agent(case):
    process = case.start_longrun()
    victim = case.processes(r"\S*stopline-agent .*longrun")[1]
    os.kill(victim, signal.SIGKILL)
    process.communicate(timeout=60)
    # The recording of the rank that went with its agent is as whole as that of the others.
    text = check_killed(case, 1)
    case.holds("how it ended", text, r"^  1  \d+ events, \d+ calls, ended when its agent was killed \(launchers do so to end a job\)")


def kill_mpirun(case):
    process = case.start_longrun()
    os.kill(case.processes(r"\S*mpirun ")[0], signal.SIGKILL)
    process.communicate(timeout=60)
    case.equal("exit code", process.returncode, 137)
    for rank in range(4):
        check_killed(case, rank)


def kill_recorder(case):
    process = case.start_longrun()
    process.kill()
    process.communicate(timeout=60)
    case.nothing_left()
    os.rename(case.path(FILE + ".part"), case.path(FILE))
    text = check_killed(case, 0, whole=False)
    case.holds("what is said of it", text, r"the file does not have its last chunk: the recording was cut off")
    out, err = case.batch("ranks\n")
    case.holds("the ranks", out, r"^\[0\] not known how it ended  (after|inside) \d+ MPI_")
    case.holds("what is said when it is opened", err, r"does not have its last chunk")


def interrupt(case):
    """Ctrl+C: the terminal sends SIGINT to everybody in the foreground."""
    def with_terminal(start):
        leader, follower = os.openpty()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(follower, termios.TIOCSCTTY, 0)

        process = start(preexec_fn=take_terminal)
        os.write(leader, b"\x03")
        process.communicate(timeout=60)
        os.close(leader)
        os.close(follower)
        return process.returncode

    def plain(**more):
        process = case.start(["mpirun", "-n", "4", os.path.join(case.programs, "longrun"), "100000000"],
                             stdin=subprocess.DEVNULL, **more)
        # Under way, not only started: the shared memory of all ranks is there.
        case.wait_for("four ranks", lambda: sum(mapped(pid) for pid in case.processes(r"\S*longrun ")) == 4)
        return process

    code = with_terminal(plain)
    case.equal("exit code", with_terminal(case.start_longrun), code)
    for rank in range(4):
        check_killed(case, rank)


def terminate(case):
    """SIGTERM to the recorder alone is passed on."""
    process = case.start_longrun()
    process.terminate()
    process.communicate(timeout=60)
    case.equal("the job did not end well", process.returncode != 0, True)
    for rank in range(4):
        check_killed(case, rank)
