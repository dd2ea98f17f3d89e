"""A place for one trial: folders and groups of its own, what is started there, and what must hold afterwards."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

COMMAND = (sys.executable, "-m", "clonometer.cli.start")
BOUND_S = 90.0
# What an ordinary command holds is some 100 MB; what works an answer out for a long run, some 300.
MOST_RSS_BYTES = 1 << 30
PATIENCE_S = 15.0
_PR_SET_CHILD_SUBREAPER = 36
# Processes of this program's own, which go on from trial to trial.
HELPERS: set[int] = set()
_CONTROLLERS = ("cgroup2", "memory", "pids")


class NotPossibleError(Exception):
    """Why this machine or this user cannot make what a trial needs."""


@dataclass(frozen=True)
class Ended:
    """How a command ended; ``hung`` where it had to be killed."""

    words: tuple[str, ...]
    status: int
    out: str
    err: str
    seconds: float
    rss_bytes: int
    hung: bool


def become_subreaper(wanted: bool = True) -> None:
    """Let orphans of what we start come to us: so their like is known without looking at anybody else's."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)


def children_of(pid: int) -> list[int]:
    """The children of all threads of a process; none where it has gone."""
    children: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (task / "children").read_text().split())
    return children


def descendants(pid: int) -> list[int]:
    """All below a process, helpers of our own aside."""
    below = [child for child in children_of(pid) if child not in HELPERS]
    return [*below, *(deeper for child in below for deeper in descendants(child))]


def stat_of(pid: int) -> tuple[str, str, int]:
    """A process's name, state and session; empty where it has gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "", "", 0
    head, _, tail = text.rpartition(")")
    fields = tail.split()
    return head.partition("(")[2], fields[0], int(fields[3])


def most_resident(pid: int) -> int:
    """The most bytes that a process has had in memory so far."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def reap() -> None:
    """Take the ends of orphans that have come to us; what we started ourselves is left to its own waiting."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def hierarchies() -> dict[str, Path]:
    """Our own group in the hierarchies that matter, by the name of the controller or ``cgroup2``."""
    groups = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        number, names, path = line.split(":", 2)
        groups["cgroup2" if number == "0" else names] = path.rstrip("/")
    folders = {}
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        for name in _CONTROLLERS:
            if (kind == name == "cgroup2" or (kind == "cgroup" and name in options.split(","))) and name in groups:
                folders[name] = Path(f"{where}{groups[name]}")
    return folders


@dataclass
class Sandbox:
    """One trial's place."""

    root: Path
    groups: dict[str, Path] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    _began_s: float = field(default_factory=time.monotonic)

    @property
    def folder(self) -> Path:
        """Where commands work."""
        return self.root / "work"

    @property
    def temporary(self) -> Path:
        """What commands take for $TMPDIR."""
        return self.root / "tmp"

    def note(self, words: str) -> None:
        """Keep what was done, for whoever does it again by hand."""
        self.done.append(f"{time.monotonic() - self._began_s:.3f} s: {words}")

    def start(
        self,
        *words: str,
        before: Callable[[], object] | None = None,
        command: Sequence[str] = COMMAND,
        environment: Mapping[str, str] | None = None,
    ) -> Command:
        """Start a command in the sandbox, after ``before`` in the new process."""
        self.note(f"clonometer {shlex.join(words)}")
        return Command(self, (*command, *words), before, environment or {})

    def run(
        self,
        *words: str,
        before: Callable[[], object] | None = None,
        bound_s: float = BOUND_S,
        command: Sequence[str] = COMMAND,
        environment: Mapping[str, str] | None = None,
    ) -> Ended:
        """Start a command and wait for its end."""
        return self.start(*words, before=before, command=command, environment=environment).wait(bound_s)

    def enter_groups(self) -> None:
        """Called in a new process: move it into the trial's own groups."""
        for group in self.groups.values():
            (group / "cgroup.procs").write_text("0")

    def left(self) -> list[str]:
        """What is still there of the trial: tasks, temporary files, control groups."""
        reap()
        remains = []
        for pid in descendants(os.getpid()):
            name, state, _ = stat_of(pid)
            if name:
                remains.append(f"task {pid} ({name}, {state})")
        remains += [f"temporary file {path.name}" for path in self.temporary.iterdir()]
        for group in self.groups.values():
            remains += [f"control group {path}" for path in group.iterdir() if path.is_dir()]
        return remains

    def leftovers(self) -> list[str]:
        """What is left after some patience; it is removed then, so that the next trial has its peace."""
        end_s = time.monotonic() + PATIENCE_S
        while (remains := self.left()) and time.monotonic() < end_s:
            time.sleep(0.01)
        if remains:
            for pid in descendants(os.getpid()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)
            reap()
        return [f"left behind: {remnant}" for remnant in remains]


class Command:
    """A command that runs in a sandbox, in a session of its own as a shell's job is in a group of its own."""

    def __init__(
        self,
        sandbox: Sandbox,
        words: tuple[str, ...],
        before: Callable[[], object] | None,
        more: Mapping[str, str],
    ) -> None:
        self.words = words
        self.sandbox = sandbox
        self._out = (sandbox.root / "out").open("w+b")
        self._err = (sandbox.root / "err").open("w+b")

        def prepare() -> None:
            sandbox.enter_groups()
            if before is not None:
                before()

        # What a command keeps for next time is the trial's, not the user's.
        kept = {"TMPDIR": str(sandbox.temporary), "XDG_DATA_HOME": str(sandbox.root / "data"), "COLUMNS": "80"}
        environment = {**os.environ, **kept, **more}
        self._began_s = time.monotonic()
        self._process = subprocess.Popen(
            words,
            cwd=sandbox.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._err,
            start_new_session=True,
            preexec_fn=prepare,  # noqa: PLW1509 (this program has one thread)
        )
        self.pid = self._process.pid

    def running(self) -> bool:
        """Whether it has not ended yet; it is not reaped by asking."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def drivers(self) -> list[int]:
        """Its children that lead sessions of their own: drivers."""
        return [pid for pid in children_of(self.pid) if stat_of(pid)[2] == pid]

    def seconds(self) -> float:
        """How long it has run."""
        return time.monotonic() - self._began_s

    def wait(self, bound_s: float = BOUND_S) -> Ended:
        """Wait for its end; kill it and all below where that takes longer than the bound."""
        hung = False
        most_bytes = 0
        while self.running():
            # The usage that wait gives is the largest of the command and of all drivers that it has waited for.
            most_bytes = max(most_bytes, most_resident(self.pid))
            if self.seconds() > bound_s:
                hung = True
                for pid in [self.pid, *descendants(self.pid)]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                break
            time.sleep(0.02)
        _, status = os.waitpid(self.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for stream in (self._out, self._err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
            stream.close()
        self.sandbox.note(f"it ended with {self._process.returncode}")
        return Ended(self.words, self._process.returncode, texts[0], texts[1], self.seconds(), most_bytes, hung)


def judge(ended: Ended, allowed: Collection[int], traceback: bool = False) -> list[str]:
    """What does not hold of a command's end: its status, tracebacks, a hang, its memory."""
    faults = []
    if ended.hung:
        return [f"no end within {ended.seconds:.0f} s: {shlex.join(ended.words[len(COMMAND) :])}"]
    last = ended.err.strip().splitlines()[-1:] or [""]
    if ended.status not in allowed:
        faults.append(f"exit status {ended.status}, not one of {sorted(allowed)}: {last[0][:200]}")
    if "Traceback" in ended.err + ended.out and not traceback:
        faults.append(f"a traceback: {last[0][:200]}")
    if ended.rss_bytes > MOST_RSS_BYTES:
        faults.append(f"{ended.rss_bytes >> 20} MiB in memory")
    return faults


def sound_files(sandbox: Sandbox, killed: bool) -> list[str]:
    """What does not hold of the files of a run ``o.parquet``: readable, or to be recovered, and nothing beside."""
    faults = []
    names = {path.name for path in sandbox.folder.iterdir()}
    raw, out = sandbox.folder / "o.raw", sandbox.folder / "o.parquet"
    # A killed command cannot remove its temporary file, nor one that has no room the samples it saved.
    if not killed and (strange := {name for name in names if name.startswith(".")}):
        faults.append(f"left behind in the folder: {sorted(strange)}")
    if raw.exists() and not out.exists():
        recovered = sandbox.run("recover", "o.raw")
        if recovered.status == 4 and re.search("no room on disk|may grow no further", recovered.err):
            # As the message says: where there is room, and it must still be possible.
            out = sandbox.root / "saved.parquet"
            recovered = sandbox.run("recover", "o.raw", "--out", str(out))
        # A run that was killed before its first sample has none to recover.
        faults += [f"recover: {fault}" for fault in judge(recovered, {0, 2})]
        if recovered.status == 2 and not re.search(r"no sample|nothing|damaged|cut", recovered.err):
            faults.append(f"recover: {recovered.err.strip()[:200]}")
    if out.exists():
        faults += [f"show: {fault}" for fault in judge(sandbox.run("show", str(out)), {0})]
    return faults


@contextlib.contextmanager
def sandbox(base: Path) -> Iterator[Sandbox]:
    """Make a sandbox below ``base`` and remove it in the end."""
    root = base / f"trial-{time.monotonic_ns()}"
    for folder in (root / "work", root / "tmp"):
        folder.mkdir(parents=True)
        folder.chmod(0o1777)
    root.chmod(0o755)
    made = Sandbox(root)
    for name, folder in hierarchies().items():
        group = folder / f"torture-{os.getpid()}"
        with contextlib.suppress(OSError):
            group.mkdir(exist_ok=True)
            made.groups[name] = group
    try:
        yield made
    finally:
        for group in made.groups.values():
            _remove_group(group)
        shutil.rmtree(root, ignore_errors=True)


def _remove_group(group: Path) -> None:
    for below in [path for path in group.iterdir() if path.is_dir()]:
        _remove_group(below)
    with contextlib.suppress(OSError):
        group.rmdir()
