"""What this machine lets a run take: memory and tasks, and the limit that binds first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# include/linux/threads.h: the largest pid_max of a 64-bit kernel.
_MOST_TASKS = 4 * 1024 * 1024


@dataclass(frozen=True)
class Bounded:
    """How much may be taken, and by which limit.

    Attributes
    ----------
    room
        What may still be taken: bytes, or tasks.
    name
        The limit that binds, in words.
    limit
        Its value, or None where it has none (memory that is merely free).
    used
        What is used of it, or None where that is not known.
    """

    room: int
    name: str
    limit: int | None
    used: int | None


def available_memory_bytes(facts: Mapping[str, object]) -> Bounded | None:
    """Find how much memory a run may take: the least of MemAvailable, control group and address space.

    Parameters
    ----------
    facts
        Host facts, as `clonometer.host.facts.collect` returns them.

    Returns
    -------
    Bounded or None
        ``room`` in bytes; None where nothing is known.

    Examples
    --------
    >>> facts = {"memory.available_bytes": 8 << 30, "cgroup.memory_max_bytes": 1 << 30}
    >>> available_memory_bytes(facts).name
    'memory limit of the control group'
    """
    bounds = []
    available = _integer(facts, "memory.available_bytes")
    if available is not None:
        bounds.append(Bounded(available, "MemAvailable", None, None))
    bounds += _bounded(
        facts, "memory limit of the control group", "cgroup.memory_max_bytes", "cgroup.memory_used_bytes"
    )
    bounds += _bounded(facts, "RLIMIT_AS", "limit.as_bytes", None)
    return min(bounds, key=lambda bound: bound.room, default=None)


def task_limit(facts: Mapping[str, object]) -> Bounded:
    """Find how many tasks a run may start at once, and which limit says so.

    The least room of RLIMIT_NPROC (which does not bind root, CAP_SYS_RESOURCE or CAP_SYS_ADMIN of the first
    user namespace), the pids control group, kernel.pid_max and kernel.threads-max; the last two are shared
    with all tasks of the machine.

    Examples
    --------
    >>> task_limit({"limit.nproc": 4096, "kernel.pid_max": 32768, "load.tasks": 300}).name
    'RLIMIT_NPROC'
    """
    bounds = [Bounded(_MOST_TASKS, "the most a kernel allows", _MOST_TASKS, None)]
    if not _nproc_is_waived(facts):
        bounds += _bounded(facts, "RLIMIT_NPROC", "limit.nproc", None)
    bounds += _bounded(facts, "pids limit of the control group", "cgroup.pids_max", "cgroup.pids_used")
    bounds += _bounded(facts, "kernel.pid_max", "kernel.pid_max", "load.tasks")
    bounds += _bounded(facts, "kernel.threads-max", "kernel.threads_max", "load.tasks")
    return min(bounds, key=lambda bound: bound.room)


def _nproc_is_waived(facts: Mapping[str, object]) -> bool:
    # kernel/fork.c: copy_process lets the initial user and these capabilities pass, those of the first user
    # namespace only: root of a rootless container is bound.
    if facts.get("namespace.user") is not False:
        return False
    capabilities = facts.get("user.capabilities")
    held = capabilities if isinstance(capabilities, list) else []
    return "sys_resource" in held or "sys_admin" in held or facts.get("user.root") is True


def _bounded(facts: Mapping[str, object], name: str, limit_key: str, used_key: str | None) -> list[Bounded]:
    limit = _integer(facts, limit_key)
    if limit is None:
        return []
    used = None if used_key is None else _integer(facts, used_key)
    return [Bounded(max(limit - (used or 0), 0), name, limit, used)]


def _integer(facts: Mapping[str, object], key: str) -> int | None:
    value = facts.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
