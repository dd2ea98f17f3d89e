"""Which control group a service's tasks are in: of a systemd unit, or of a path, in version 1 or 2."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from clonometer.errors import UsageError
from clonometer.host.cgroup import cgroup_mounts, membership_lines
from clonometer.host.source import FactUnavailable, Source

_MOST_PROCESSES = 4000
_MOST_FOLDERS = 100_000
_V2, _SYSTEMD = "", "name=systemd"
_HINT = "--service NAME.service, or the path of a control group, as 'systemd-cgls' and /proc/PID/cgroup show them"


@dataclass(frozen=True)
class WatchedGroups:
    """Control groups of one hierarchy: that of a path, and all below it; ``/``: all that there are.

    ``hierarchy`` is numbered as in ``/proc/PID/cgroup``, where version 2 is 0. ``name`` is what the user called it.
    """

    hierarchy: int
    path: str
    name: str


@dataclass(frozen=True)
class _Mount:
    hierarchy: int
    #: The controllers of version 1, or one of `_V2` and `_SYSTEMD`.
    controller: str
    #: Which part of the hierarchy is mounted where.
    root: str
    point: str


def find_service(source: Source, word: str) -> WatchedGroups:
    """Find the control group of a systemd unit, or of a path.

    ``word`` is ``nginx`` or ``nginx.service`` (any kind of unit), a path as ``/proc/PID/cgroup`` has it, or a folder
    below /sys/fs/cgroup.

    Raises
    ------
    UsageError
        If there is none, or several have this name.
    """
    mounts = _mounts(source)
    if not mounts:
        raise UsageError("no control groups are mounted here, so a service's tasks cannot be recognized", _HINT)
    if word.startswith("/"):
        return _at(source, mounts, word)
    names = {word, f"{word}.service"}
    for mount in mounts:
        paths = [path for path in _folders(source, mount) if PurePosixPath(path).name in names]
        # A unit's groups within it may have its name as well.
        outermost = [path for path in paths if not any(path.startswith(f"{other}/") for other in paths)]
        if len(outermost) > 1:
            listed = ", ".join(sorted(outermost)[:5])
            raise UsageError(f"several control groups are named {word}: {listed}", "give the path of one of them")
        if outermost:
            return WatchedGroups(mount.hierarchy, outermost[0], PurePosixPath(outermost[0]).name)
    raise UsageError(f"there is no service {word} here: no control group has this name", _HINT)


def whole_machine(source: Source) -> WatchedGroups:
    """All control groups, of the hierarchy that divides this machine's processes most; of equal ones version 2."""
    paths: dict[str, set[str]] = {}
    numbers: dict[str, int] = {}
    for number, controller, path in _memberships(source):
        numbers[controller] = number
        paths.setdefault(controller, set()).add(path)
    preferred = (_V2, _SYSTEMD)
    order = sorted(
        paths,
        key=lambda name: (-len(paths[name]), preferred.index(name) if name in preferred else len(preferred), name),
    )
    if not order:
        raise UsageError("this kernel has no control groups, by which services are distinguished")
    return WatchedGroups(numbers[order[0]], "/", "This machine")


def _memberships(source: Source) -> Iterator[tuple[int, str, str]]:
    """Hierarchy, its controllers and path, of every process."""
    processes = [entry.name for entry in source.path("/proc").iterdir() if entry.name.isdigit()]
    for process in processes[:_MOST_PROCESSES]:
        try:
            text = source.bytes(f"/proc/{process}/cgroup").decode("utf-8", "surrogateescape")
        except FactUnavailable:
            continue
        yield from membership_lines(text)


def _mounts(source: Source) -> list[_Mount]:
    """Where hierarchies are mounted: version 2 first, then systemd's own."""
    numbers = {}
    for number, controllers, _ in membership_lines(source.text_or("/proc/self/cgroup", "")):
        numbers.update(dict.fromkeys(controllers.split(","), number))
    mounts = []
    for mount in cgroup_mounts(source):
        names = [_V2] if mount.is_v2 else [name for name in mount.options if name in numbers]
        if names and names[0] in numbers:
            mounts.append(_Mount(numbers[names[0]], names[0], mount.root, mount.point))
    rank = {_V2: 0, _SYSTEMD: 1}
    return sorted(mounts, key=lambda mount: rank.get(mount.controller, 2))


def _within(mount: _Mount, relative: str) -> str:
    return str(PurePosixPath("/", mount.root.lstrip("/"), relative.lstrip("/")))


def _folders(source: Source, mount: _Mount) -> Iterator[str]:
    """The control groups of a hierarchy, as /proc names them."""
    point = source.path(mount.point)
    for count, (folder, _, _) in enumerate(os.walk(point)):
        if count >= _MOST_FOLDERS:
            return
        yield _within(mount, str(Path(folder).relative_to(point)))


def _at(source: Source, mounts: list[_Mount], word: str) -> WatchedGroups:
    """The group of a path: of a folder, where one is mounted there, else as /proc names it."""
    path = word.rstrip("/") or "/"
    inside = [mount for mount in mounts if path == mount.point or path.startswith(f"{mount.point}/")]
    if inside:
        mount = max(inside, key=lambda each: len(each.point))
        within = _within(mount, path.removeprefix(mount.point))
        if not source.path(path).is_dir():
            raise UsageError(f"there is no control group {path}", _HINT)
        return WatchedGroups(mount.hierarchy, within, within)
    for mount in mounts:
        beyond_root = mount.root.rstrip("/")
        if path.startswith(f"{beyond_root}/") and source.path(mount.point + path.removeprefix(beyond_root)).is_dir():
            return WatchedGroups(mount.hierarchy, path, path)
    raise UsageError(f"there is no control group {path} here", _HINT)
