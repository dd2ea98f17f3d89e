"""Looks whether a command left anything behind: tasks, files, cgroups, mounts, namespaces; with patience."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

PATIENCE_S = 20
_MARK = "CLONOMETER_TEST_MARK"
# In the environment of a test beside which others may make and leave namespaces: theirs would be counted too.
OTHERS = "CLONOMETER_TEST_OTHERS"
_SHARED = (Path("/dev/shm"), Path("/tmp"), Path("/var/tmp"))
# Slabs of the kernel's that hold one object a namespace, and one a mount; the counts are of whole slabs.
_SLABS = ("net_namespace", "pid_namespace", "user_namespace", "uts_namespace", "mnt_cache")


@dataclass(frozen=True)
class Trace:
    """What a command under watch is given: its environment, by which its tasks are known, and a folder of its own."""

    mark: str
    folder: Path

    @property
    def environ(self) -> dict[str, str]:
        return {_MARK: self.mark, "TMPDIR": str(self.folder)}


@contextlib.contextmanager
def nothing_left(folder: Path) -> Iterator[Trace]:
    """Watch what is started with the trace's environment; afterwards nothing of it may remain.

    Every task inherits the environment, whatever it execs. ``folder`` must not exist; it is where the command finds
    its place for temporary files.
    """
    trace = Trace(uuid4().hex, folder)
    folder.mkdir()
    folder.chmod(0o1777)
    before = {look: look(trace) for look in _LOOKS}
    counted = {} if OTHERS in os.environ else _namespaces()
    yield trace

    def left(look: Callable[[Trace], set[str]]) -> set[str]:
        return look(trace) - before[look]

    for look in before:
        assert gone(partial(left, look)), f"left behind after {PATIENCE_S} s: {look.__doc__}: {sorted(left(look))}"
    assert gone(lambda: _more(counted)), f"namespaces or mounts left behind: {_more(counted)}"


def gone(left: Callable[[], object]) -> bool:
    """Whether nothing is left in the end."""
    limit_s = time.monotonic() + PATIENCE_S
    while left():
        if time.monotonic() > limit_s:
            return False
        time.sleep(0.05)
    return True


def tasks(trace: Trace) -> set[str]:
    """tasks"""
    living = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if trace.mark.encode() in (entry / "environ").read_bytes():
                living.add(f"{entry.name} {(entry / 'cmdline').read_bytes()[:200]!r}")
    return living


def temporary_files(trace: Trace) -> set[str]:
    """temporary files"""
    return set(os.listdir(trace.folder))


def shared_files(trace: Trace) -> set[str]:
    """files by our name where everybody may write"""
    # Those of other runs on this machine, which go on, have another process's number in their names or come and go.
    return {
        str(path)
        for place in _SHARED
        if place.is_dir() and os.access(place, os.R_OK)
        for path in place.iterdir()
        if re.match(r"clonometer|probe[-.]", path.name)
    }


def cgroups(trace: Trace) -> set[str]:
    """cgroups of ours whose process has gone"""
    groups = set()
    for place, folders, _ in os.walk("/sys/fs/cgroup"):
        for name in folders:
            pid = re.fullmatch(r"clonometer\.([0-9]+)", name)
            if pid and not Path(f"/proc/{pid[1]}").exists():
                groups.add(f"{place}/{name}")
    return groups


def mounts(trace: Trace) -> set[str]:
    """mounts by our name"""
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except FileNotFoundError:  # without /proc nobody can tell
        return set()
    return {line for line in lines if "clonometer" in line or trace.folder.parent.name in line}


_LOOKS: tuple[Callable[[Trace], set[str]], ...] = (tasks, temporary_files, shared_files, cgroups, mounts)


def _namespaces() -> dict[str, tuple[int, int]]:
    """Objects of each kind, and how many more tell nothing: what CPUs keep in half-used slabs. Root alone sees it."""
    try:
        lines = Path("/proc/slabinfo").read_text().splitlines()
    except OSError:
        return {}
    namespaces = {}
    for line in lines:
        name, *numbers = line.split(":", 1)[0].split()
        if name in _SLABS:
            active, _, _, each = (int(number) for number in numbers[:4])
            namespaces[name] = (active, 3 * each * (os.cpu_count() or 1))
    return namespaces


def _more(before: dict[str, tuple[int, int]]) -> dict[str, int]:
    now = _namespaces()
    return {
        name: now[name][0] - active
        for name, (active, slack) in before.items()
        if name in now and now[name][0] > active + slack
    }
