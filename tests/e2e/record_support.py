"""What the cases of record_test.py have in common: running Stopline, and chunks of its files."""
import os
import re
import signal
import struct
import subprocess
import tempfile
import time
import uuid
import zlib

from run_script import left_behind, marked, matches, shared_files, states

FILE = "run.stopline"


class Case:
    def __init__(self, options):
        self.stopline = options.stopline
        self.demo = options.demo
        self.programs = options.programs
        self.scripts = options.scripts
        self.launcher = options.launcher
        self.folder = tempfile.mkdtemp(prefix="stopline-record-")
        self.mark = uuid.uuid4().hex
        self.failures = []
        self.environment = dict(os.environ, STOPLINE_TEST_MARK=self.mark, LC_ALL="C.UTF-8", QT_QPA_PLATFORM="offscreen")
        for name, value in (("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
                            ("OMPI_MCA_rmaps_base_oversubscribe", "1"), ("OMPI_MCA_mpi_yield_when_idle", "1"),
                            ("OMPI_MCA_hwloc_base_binding_policy", "none")):
            self.environment.setdefault(name, value)
        self.before = shared_files()

    # --- Checks ---
    def fail(self, text):
        self.failures.append(text)

    def equal(self, what, found, wanted):
        if found != wanted:
            self.fail(f"{what}: {found!r}, expected {wanted!r}")

    def holds(self, what, text, pattern):
        if not re.search(pattern, text, re.MULTILINE):
            self.fail(f"{what}: no match for {pattern!r} in:\n{text}")

    def compare(self, what, text, expected):
        with open(os.path.join(self.scripts, expected)) as f:
            wanted = [line.rstrip("\n") for line in f if not line.startswith("#")]
        if not matches(wanted, text.splitlines()):
            self.fail(f"{what} differs from {expected}:\n{text}")

    # --- Running ---
    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, words, **more):
        return subprocess.Popen(words, env=dict(self.environment, **more.pop("env", {})), cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def run(self, words, input=None, timeout=240, **more):
        process = self.start(words, stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL, **more)
        out, err = process.communicate(input, timeout=timeout)
        return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")

    def record(self, *words, **more):
        return self.run([self.stopline, "record", "-o", FILE, *words], **more)

    def tool(self, *words, code=0):
        result, out, err = self.run([self.stopline, *words])
        self.equal(f"exit code of {' '.join(words[:1])}", result, code)
        return out, err

    def info(self):
        return self.tool("info", FILE)[0]

    def tidy_info(self, text):
        """What differs from run to run and from machine to machine, out of the text."""
        text = re.sub(r"^(directory|started|took)( +).*$", r"\1\2…", text, flags=re.MULTILINE)
        text = re.sub(r"^(versions +Stopline) [0-9.]+,", r"\1 …,", text, flags=re.MULTILINE)
        text = re.sub(r"^(command +).*", r"\1…", text, flags=re.MULTILINE)
        text = re.sub(r"\nHosts\n  \S+  ", r"\nHosts\n  …  ", text)
        text = re.sub(r"  build [0-9a-f]{40}", "  build …", text)
        text = re.sub(r"^  (\S*/)(\S+)  build", r"  \2  build", text, flags=re.MULTILINE)
        text = re.sub(r"libmpi\.so\.[0-9.]+", "libmpi.so…", text)
        return re.sub(r"(\nBytes of the recording.*\n)(  .*\n)+", r"\1  …\n", text)

    def batch(self, script, expected=None, file=FILE, code=0, options=()):
        with open(self.path("script"), "w") as f:
            f.write(script)
        result, out, err = self.run([self.stopline, *options, "--batch", "script", "open", file])
        self.equal("exit code of the script", result, code)
        if result != code:
            self.fail(out + err)
        if expected:
            self.compare("the script's output", out, expected)
        return out, err

    def wait_for(self, what, condition, seconds=120):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = condition()
            if found:
                return found
            time.sleep(0.02)
        raise RuntimeError(f"{what}: not so after {seconds} s")

    def processes(self, pattern):
        return sorted(pid for pid, command in marked(self.mark) if re.match(pattern, command))

    def start_longrun(self, words=("mpirun", "-n", "4"), options=(), part=FILE + ".part", **more):
        """A job that is under way: all ranks have been fetched from at least once."""
        process = self.start([self.stopline, "record", "-o", FILE, *options, *words, os.path.join(self.programs, "longrun"),
                              "100000000"], stdin=subprocess.DEVNULL, **more)
        part = self.path(part)
        self.wait_for("four ranks", lambda: len(self.processes(r"\S*longrun ")) == 4)
        self.wait_for("blocks of all ranks", lambda: os.path.exists(part) and chunk_types(part)[9] >= {0, 1, 2, 3})
        return process

    def nothing_left(self):
        self.failures += left_behind(self.mark, self.before)


def chunks(path):
    """(type, rank, begin, end) of each chunk of a file, by what recording_file.h says; stops at what is no chunk."""
    with open(path, "rb") as f:
        data = f.read()
    at = 16
    found = []
    while at + 40 <= len(data):
        magic, kind, rank, codec, raw, stored, position, content_sum, header_sum = struct.unpack_from("<IIiIIIQII", data, at)
        if magic != 0x4B434C53 or at + 40 + stored > len(data):
            break
        assert zlib.crc32(data[at:at + 36]) == header_sum and zlib.crc32(data[at + 40:at + 40 + stored]) == content_sum
        found.append((kind, rank, at, at + 40 + stored))
        at += 40 + stored
    return found


def mapped(pid):
    """True when a process has mapped Open MPI's shared memory."""
    try:
        with open(f"/proc/{pid}/maps") as f:
            return "vader_segment" in f.read()
    except OSError:
        return False


def chunk_types(path):
    """Ranks by type of chunk."""
    ranks = {kind: set() for kind in range(1, 13)}
    for kind, rank, _, _ in chunks(path):
        ranks.setdefault(kind, set()).add(rank)
    return ranks


def without_sites(path, to):
    with open(path, "rb") as f:
        data = f.read()
    with open(to, "wb") as f:
        f.write(data[:16] + b"".join(data[a:b] for kind, _, a, b in chunks(path) if kind != 11))


def check_killed(case, rank, whole=True):
    text = case.info()
    found = re.search(rf"^  {rank}  (\d+) events, (\d+) calls, ", text, re.MULTILINE)
    if not found or int(found.group(1)) < 1000:
        case.fail(f"events of rank {rank}: {text}")
    case.equal("the recording is whole", "whole      yes" in text, whole)
    return text
