"""What makes a process, and all that it starts, one of another machine: poorer by one thing, or an ordinary one.

Nothing outside the process changes: mounts are those of a namespace of its own, system calls are refused by a filter.
A function raises OSError where this machine does not let it; what it needs root for is said in `tools/variants.py`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import stat
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.integration import container

PROJECT = Path(__file__).resolve().parents[1]
# Nobody's, and of no system's own: limits on a user's tasks count all that the user has.
USER = 29_999
_DETACH, _BIND_RECURSIVELY = 2, 0x5000
# What systemd and PAM give a login session (soft, hard), and variables of a desktop's terminal.
_OF_A_SESSION = {
    resource.RLIMIT_NOFILE: (1024, 524_288),
    resource.RLIMIT_MEMLOCK: (8 << 20, 8 << 20),
    resource.RLIMIT_NPROC: (63_000, 63_000),
    resource.RLIMIT_CORE: (0, resource.RLIM_INFINITY),
}
_OF_A_DESKTOP = {
    "LANG": "en_US.UTF-8",
    "DISPLAY": ":0",
    "WAYLAND_DISPLAY": "wayland-0",
    "XDG_SESSION_TYPE": "wayland",
    "XDG_CURRENT_DESKTOP": "GNOME",
    "COLORTERM": "truecolor",
    "TERM": "xterm-256color",
    "PAGER": "less",
    "LESS": "-R",
}
_libc = ctypes.CDLL(None, use_errno=True)


def _mount(source: str, place: str, kind: str | None, flags: int = 0, data: str | None = None) -> None:
    words = [None if word is None else word.encode() for word in (source, place, kind)]
    if _libc.mount(*words, flags, None if data is None else data.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"mount {place}: {os.strerror(ctypes.get_errno())}")


def _unmount(place: str) -> None:
    if _libc.umount2(place.encode(), _DETACH) != 0:
        raise OSError(ctypes.get_errno(), f"unmount {place}: {os.strerror(ctypes.get_errno())}")


def _mounted(kinds: Iterable[str]) -> list[str]:
    lines = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [place for _, place, kind, *_ in lines if kind in kinds]


def without_tracefs() -> None:
    """No tracefs, and no way to mount it."""
    container.change_mounts()
    for place in reversed(_mounted(("tracefs", "debugfs"))):
        _unmount(place)
    container.refuse(("mount", "fsopen"), errno.EPERM)


def on_an_ordinary_machine() -> None:
    """What systemd and a desktop bring: tracefs and debugfs mounted, one hierarchy of cgroups, a session's limits."""
    container.change_mounts()
    for place, kind in (("/sys/kernel/tracing", "tracefs"), ("/sys/kernel/debug", "debugfs")):
        if place not in _mounted((kind,)):
            _mount(kind, place, kind)
    # With all that is mounted below it: what is only hidden would still be listed.
    if "/sys/fs/cgroup" in _mounted(("tmpfs",)):
        _unmount("/sys/fs/cgroup")
    if "/sys/fs/cgroup" not in _mounted(("cgroup2",)):
        _mount("cgroup2", "/sys/fs/cgroup", "cgroup2")
    for limit, (soft, hard) in _OF_A_SESSION.items():
        _, most = resource.getrlimit(limit)
        unlimited = resource.RLIM_INFINITY
        highest = hard if most == unlimited else most if hard == unlimited else min(hard, most)
        resource.setrlimit(limit, (soft if highest == unlimited else min(soft, highest), highest))
    os.environ |= _OF_A_DESKTOP


def without_cgroupfs() -> None:
    """No file of any cgroup."""
    container.change_mounts()
    if Path("/sys/fs/cgroup").is_dir():
        _mount("none", "/sys/fs/cgroup", "tmpfs", data="mode=755")


def without_perf_events() -> None:
    """Neither perf events nor BPF, as in most containers."""
    container.refuse(("perf_event_open", "bpf"), errno.EPERM)


def in_an_old_container() -> None:
    """A filter from before these calls: runtimes taught theirs to say ENOSYS for clone3 alone."""
    container.refuse(("clone3",), errno.ENOSYS)
    container.refuse(("pidfd_open", "memfd_create"), errno.EPERM)


def on_an_old_kernel() -> None:
    """A kernel from before these calls."""
    container.refuse(("clone3", "pidfd_open", "memfd_create"), errno.ENOSYS)


def on_one_cpu() -> None:
    """One CPU of those that this process may use."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def with_an_empty_proc() -> None:
    """No /proc at all, as in a chroot that nobody has prepared."""
    container.change_mounts()
    _mount("none", "/proc", "tmpfs", data="mode=555")


def as_an_ordinary_user_who_sees_only_his_own_tasks() -> None:
    """/proc mounted with hidepid=2, as on shared machines; it hides nothing from root."""
    container.change_mounts()
    _mount("proc", "/proc", "proc", data="hidepid=2")
    as_an_ordinary_user()


def as_an_ordinary_user() -> None:
    """A user without any privilege, who can read the project wherever it lies."""
    _open_the_way_to(PROJECT, Path(sys.prefix), Path(sys.base_prefix))
    home = tempfile.mkdtemp(prefix="user-")
    os.chown(home, USER, USER)
    os.environ |= {"HOME": home, "TMPDIR": home, "USER": "user", "LOGNAME": "user"}
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)


def _closed(path: Path) -> Path | None:
    """The topmost folder on the way to ``path`` that other users may not enter."""
    return next((folder for folder in reversed(path.parents) if not folder.stat().st_mode & stat.S_IXOTH), None)


def _open_the_way_to(*paths: Path) -> None:
    """Put an empty folder that everybody may enter over each one that is closed, and in it only what is needed."""
    needed: dict[Path, list[Path]] = {}
    for path in sorted({path.resolve() for path in paths}):
        closed = _closed(path)
        if closed is not None:
            needed.setdefault(closed, []).append(path)
    if needed:
        container.change_mounts()
    for closed, inside in needed.items():
        opened = {path: os.open(path, os.O_PATH) for path in inside}
        _mount("none", str(closed), "tmpfs", data="mode=755")
        for path, at in opened.items():
            path.mkdir(parents=True, exist_ok=True)
            _mount(f"/proc/self/fd/{at}", str(path), None, _BIND_RECURSIVELY)
            os.close(at)
