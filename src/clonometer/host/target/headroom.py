"""What stands between a process and a child: promised memory, control groups, limits of tasks. Read, not judged."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from clonometer.host.cgroup import Bound, memory_bound, pids_bound
from clonometer.host.source import FactUnavailable, Source, sizes_of
from clonometer.host.target.status import ProcessStatus, statuses
from clonometer.host.task import soft_limit

_CAP_SYS_ADMIN = 1 << 21
_CAP_SYS_RESOURCE = 1 << 24
_KB = 1024


@dataclass(frozen=True)
class Headroom:
    """What the kernel asks before it makes a child; None where it cannot be read, or where nothing limits it.

    Attributes
    ----------
    overcommit
        0 heuristic, 1 always, 2 never.
    commit_limit_bytes, committed_bytes
        What may be promised where overcommit is 2, and what is.
    total_bytes, swap_bytes, available_bytes
        Memory, swap, and what may be taken without swapping.
    reserve_bytes
        What is kept from users in mode 2, and from this process's by its size.
    memory, pids
        The tightest level of its control groups.
    user_tasks
        RLIMIT_NPROC and the tasks of its user; None where the limit does not hold for it.
    machine_tasks
        The lower of pid_max and threads-max, and the tasks of the machine.
    """

    overcommit: int | None
    commit_limit_bytes: int | None
    committed_bytes: int | None
    total_bytes: int | None
    swap_bytes: int | None
    available_bytes: int | None
    reserve_bytes: int
    memory: Bound | None
    pids: Bound | None
    user_tasks: Bound | None
    machine_tasks: Bound | None


def read_headroom(source: Source, status: ProcessStatus) -> Headroom:
    """Read what a process's next fork would be asked for."""
    meminfo = sizes_of(source.fields("/proc/meminfo")) if source.exists("/proc/meminfo") else {}
    process = str(status.pid)
    return Headroom(
        _integer(source, "/proc/sys/vm/overcommit_memory"),
        meminfo.get("CommitLimit"),
        meminfo.get("Committed_AS"),
        meminfo.get("MemTotal"),
        meminfo.get("SwapTotal"),
        meminfo.get("MemAvailable"),
        _reserve(source, status),
        _bound(lambda: memory_bound(source, process)),
        _bound(lambda: pids_bound(source, process)),
        _bound(lambda: _user_tasks(source, status)),
        _bound(lambda: _machine_tasks(source)),
    )


def _bound(read: Callable[[], Bound | None]) -> Bound | None:
    # A group or a file of limits that cannot be read, or not in the form that we know, limits nobody.
    with suppress(FactUnavailable, ValueError):
        return read()
    return None


def _integer(source: Source, path: str) -> int | None:
    try:
        return source.integer(path)
    except FactUnavailable:
        return None


def _reserve(source: Source, status: ProcessStatus) -> int:
    """What __vm_enough_memory (mm/util.c) keeps back in mode 2: for root, and for the user in a large process."""
    reserve = (
        0
        if status.capabilities & _CAP_SYS_ADMIN
        else (_integer(source, "/proc/sys/vm/admin_reserve_kbytes") or 0) * _KB
    )
    for_user = (_integer(source, "/proc/sys/vm/user_reserve_kbytes") or 0) * _KB
    return reserve + min(status.counters.get("VmSize", 0) // 32, for_user)


def _user_tasks(source: Source, status: ProcessStatus) -> Bound | None:
    """RLIMIT_NPROC, which root and two capabilities are free of (kernel/fork.c, copy_process)."""
    if status.user_id == 0 or status.capabilities & (_CAP_SYS_ADMIN | _CAP_SYS_RESOURCE):
        return None
    limit = soft_limit(source, "processes", str(status.pid))
    return None if limit is None else Bound(limit, _tasks_of(source, status.user_id))


def _tasks_of(source: Source, user_id: int) -> int:
    """Count the threads of a real user's processes."""
    return sum(
        int(status.get("Threads", "1"))
        for _, status in statuses(source)
        if status.get("Uid", "").split()[:1] == [str(user_id)]
    )


def _machine_tasks(source: Source) -> Bound | None:
    limits = [_integer(source, f"/proc/sys/kernel/{name}") for name in ("pid_max", "threads-max")]
    known = [limit for limit in limits if limit is not None]
    used = source.text("/proc/loadavg").split()[3].partition("/")[2]
    return Bound(min(known), int(used)) if known else None
