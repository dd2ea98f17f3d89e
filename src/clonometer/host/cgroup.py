"""Facts of the control groups, v1 and v2: a limit is the tightest of all levels up to the visible root."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from clonometer.host.registry import register
from clonometer.host.source import FactUnavailable, Source

# v1 writes "no limit" as the largest multiple of a page below 2^63; nothing near that limits anybody.
_V1_UNLIMITED = 1 << 60


@dataclass(frozen=True)
class Bound:
    """A limit and what is used of it, at one level of the hierarchy."""

    limit: int
    used: int | None

    @property
    def left(self) -> int:
        """What is left, as far as is known."""
        return max(self.limit - (self.used or 0), 0)


class CgroupMount(NamedTuple):
    """Where a hierarchy is mounted: ``root`` is which part of it, ``options`` has the controllers of version 1."""

    is_v2: bool
    options: list[str]
    root: str
    point: str


def membership_lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Number of the hierarchy, its controllers with commas between, and the path, from a ``/proc/PID/cgroup``."""
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, colon, path = rest.partition(":")
        if number.isdigit() and colon:
            yield int(number), controllers, path


def memberships(source: Source, process: str = "self") -> dict[str, str]:
    """Controller -> path, from a process's ``/proc/PROCESS/cgroup``; the v2 hierarchy has the key ``""``."""
    paths: dict[str, str] = {}
    for _, controllers, path in membership_lines(source.text(f"/proc/{process}/cgroup")):
        paths.update(dict.fromkeys(controllers.split(","), path))
    if not paths:
        raise FactUnavailable(f"/proc/{process}/cgroup is empty")
    return paths


def cgroup_mounts(source: Source) -> Iterator[CgroupMount]:
    """The mounted hierarchies of control groups, in the order of mountinfo."""
    for line in source.text_or("/proc/self/mountinfo", "").splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split()
        kind, *rest = after.split() or [""]
        if dash and kind in ("cgroup", "cgroup2") and len(fields) >= 5:
            options = rest[-1].split(",") if rest else []
            yield CgroupMount(kind == "cgroup2", options, fields[3], _unescaped(fields[4]))


def _unescaped(path: str) -> str:
    r"""A path of mountinfo, where a space is ``\040``."""
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), path)


def _mount(source: Source, controller: str) -> tuple[str, str] | None:
    """Mount point of a hierarchy and the path within it that is mounted; None where it is not mounted."""
    for mount in cgroup_mounts(source):
        if mount.is_v2 if controller == "" else controller in mount.options:
            return mount.point, mount.root
    standard = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] if controller == "" else [f"/sys/fs/cgroup/{controller}"]
    marker = "cgroup.controllers" if controller == "" else "cgroup.procs"
    return next(((folder, "/") for folder in standard if source.exists(f"{folder}/{marker}")), None)


def _levels(source: Source, controller: str, process: str = "self") -> Iterator[str]:
    """Folders of a process's group and of its ancestors, as far as they are mounted; innermost first."""
    path = memberships(source, process).get(controller)
    mount = _mount(source, controller)
    if path is None or mount is None:
        return
    point, inside = mount
    # In a container without a cgroup namespace the path is the host's, and only its end is mounted here.
    relative = PurePosixPath("/", path.removeprefix(inside) if inside != "/" else path).relative_to("/")
    folder = PurePosixPath(point)
    if source.exists(str(folder / relative)):
        yield from (str(folder / step) for step in (relative, *relative.parents))
    else:
        yield str(folder)


def _controller(source: Source, name: str, process: str = "self") -> tuple[str, bool]:
    """Name of the hierarchy that has a controller (``""``: v2), and whether it is v2."""
    return (name, False) if name in memberships(source, process) else ("", True)


def _v2_number(source: Source, path: str) -> int | None:
    text = source.text_or(path, "max").split()[0]
    return None if text == "max" else int(text)


def _v1_number(source: Source, path: str) -> int | None:
    text = source.text_or(path, "-1")
    number = -1 if text == "max" else int(text)
    return None if number < 0 or number >= _V1_UNLIMITED else number


def _reclaimable_bytes(source: Source, folder: str, name: str) -> int:
    """Pages of files that the kernel gives up before it refuses memory."""
    for line in source.text_or(f"{folder}/memory.stat", "").splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == name:
            return int(words[1])
    return 0


def _memory_used(source: Source, folder: str, *, v2: bool) -> int | None:
    with suppress(FactUnavailable):
        current = source.integer(f"{folder}/{'memory.current' if v2 else 'memory.usage_in_bytes'}")
        return max(current - _reclaimable_bytes(source, folder, "inactive_file" if v2 else "total_inactive_file"), 0)
    return None


def memory_bound(source: Source, process: str = "self") -> Bound | None:
    """The level that leaves the least memory, or None: no limit."""
    controller, v2 = _controller(source, "memory", process)
    bounds = []
    for folder in _levels(source, controller, process):
        if v2:
            limit = _v2_number(source, f"{folder}/memory.max")
        else:
            limit = _v1_number(source, f"{folder}/memory.limit_in_bytes")
        if limit is not None:
            bounds.append(Bound(limit, _memory_used(source, folder, v2=v2)))
    return min(bounds, key=lambda bound: bound.left, default=None)


def memory_kills_file(source: Source) -> str:
    """File whose line ``oom_kill`` counts the tasks that the kernel has killed for lack of memory.

    Those of this task's group, which are counted there whatever limit was met; where the group has no such file, as the
    root of version 2, those of the machine.
    """
    with suppress(FactUnavailable):
        controller, v2 = _controller(source, "memory")
        path = f"{next(_levels(source, controller), '')}/{'memory.events' if v2 else 'memory.oom_control'}"
        if source.exists(path):
            return path
    return "/proc/vmstat"


def pids_bound(source: Source, process: str = "self") -> Bound | None:
    """The level that leaves the fewest tasks, or None: no limit."""
    controller, _ = _controller(source, "pids", process)
    bounds = []
    for folder in _levels(source, controller, process):
        limit = _v2_number(source, f"{folder}/pids.max")
        if limit is not None:
            used = source.text_or(f"{folder}/pids.current", "")
            bounds.append(Bound(limit, int(used) if used.isdigit() else None))
    return min(bounds, key=lambda bound: bound.left, default=None)


@register("cgroup.version", "text", "v1, v2 or hybrid")
def _version(source: Source) -> str:
    names = set(memberships(source))
    if names == {""}:
        return "v2"
    return "hybrid" if "" in names else "v1"


@register("cgroup.path", "text", "this task's group: in v2, else that of the memory controller")
def _path(source: Source) -> str:
    paths = memberships(source)
    for controller in ("memory", "", "pids"):
        if controller in paths:
            return paths[controller]
    return next(iter(paths.values()))


@register("cgroup.cpu_quota_cpus", "float", "CPU time per time", unit="cpu", null="no limit")
def _cpu_quota(source: Source) -> float | None:
    controller, v2 = _controller(source, "cpu")
    quotas = []
    for folder in _levels(source, controller):
        if v2:
            quota, period, *_ = [*source.text_or(f"{folder}/cpu.max", "max").split(), "100000"]
        else:
            quota = source.text_or(f"{folder}/cpu.cfs_quota_us", "-1")
            period = source.text_or(f"{folder}/cpu.cfs_period_us", "100000")
        if quota not in ("max", "-1"):
            quotas.append(int(quota) / int(period))
    return min(quotas, default=None)


def _register_bound(
    bound_of: Callable[[Source], Bound | None], limit_key: str, summary: str, used_key: str, unit: str
) -> None:
    @register(limit_key, "int", summary, unit=unit, null="no limit")
    def limit(source: Source) -> int | None:
        bound = bound_of(source)
        return None if bound is None else bound.limit

    @register(used_key, "int", "what counts against it", unit=unit, null="no limit, or not told")
    def used(source: Source) -> int | None:
        bound = bound_of(source)
        return None if bound is None else bound.used


_register_bound(memory_bound, "cgroup.memory_max_bytes", "memory limit", "cgroup.memory_used_bytes", "bytes")
_register_bound(pids_bound, "cgroup.pids_max", "limit of tasks", "cgroup.pids_used", "count")
