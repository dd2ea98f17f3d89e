"""Limits of tasks, files and memory: of the user, the kernel and the control group."""

from __future__ import annotations

from clonometer.results.audit.items import Facts, unknown
from clonometer.results.audit.types import FINE, NOTE, WARN, AuditItem
from clonometer.units import format_bytes

_COMFORTABLE_TASKS = 4096
_SLOW_TO_CLOSE = 65536
_SMALL_STACK_BYTES = 1 << 20
_LARGE_STACK_BYTES = 64 << 20
_SMALL_MEMORY_BYTES = 2 << 30
_V2 = ("v2", None)


def check_limits(facts: Facts) -> list[AuditItem]:
    """Judge what bounds a run: the limits of the user and of the kernel."""
    tasks = (
        ("limit.nproc", "Tasks per user", "limit.nproc", "ulimit -u unlimited"),
        ("limit.pid_max", "Process numbers", "kernel.pid_max", "sudo sysctl kernel.pid_max=4194304"),
        ("limit.threads_max", "Tasks on the machine", "kernel.threads_max", "sudo sysctl kernel.threads-max=200000"),
    )
    return [*(_tasks(facts, *limit) for limit in tasks), *(check(facts) for check in (_nofile, _memlock, _stack))]


def check_cgroup(facts: Facts) -> list[AuditItem]:
    """Judge the quotas of the control group."""
    return [check(facts) for check in (_cpu_quota, _memory_quota, _pids_quota)]


def _tasks(facts: Facts, id_: str, title: str, key: str, command: str) -> AuditItem:
    limit = facts.get(key, int)
    effect = "It limits how many tasks may exist at once: concurrency, parent_threads and zombies."
    if limit is None and facts.unlimited(key):
        return AuditItem(id_, title, "unlimited", FINE, effect)
    if limit is None:
        return unknown(facts, key, id_, title, effect)
    if limit < _COMFORTABLE_TASKS:
        effect = (
            "Launches may fail with EAGAIN: the limit is low, and all other tasks of the machine or user count too."
        )
        return AuditItem(id_, title, f"{limit:,}", WARN, effect, command)
    if key == "kernel.pid_max" and limit <= 32768:
        effect = (
            "Process numbers repeat after some seconds of launching: a tool that remembers a pid may meet a "
            "different task."
        )
        return AuditItem(id_, title, f"{limit:,}", NOTE, effect, command)
    return AuditItem(id_, title, f"{limit:,}", FINE, effect)


def _nofile(facts: Facts) -> AuditItem:
    id_, title, key = "limit.nofile", "Open files", "limit.nofile"
    limit = facts.get(key, int)
    if limit is None and facts.unlimited(key):
        limit_text, high = "unlimited", True
    elif limit is None:
        return unknown(facts, key, id_, title, "Programs that close all descriptors in the child pay for each of them.")
    else:
        limit_text, high = f"{limit:,}", limit > _SLOW_TO_CLOSE
    if high:
        effect = (
            "Programs that close every descriptor up to the limit in the child pay for each: 0.7 s at half a million."
        )
        return AuditItem(id_, title, limit_text, NOTE, effect, "ulimit -n 1024")
    return AuditItem(
        id_, title, limit_text, FINE, "It limits the axis open_files, which raises it where that is allowed."
    )


def _memlock(facts: Facts) -> AuditItem:
    id_, title, key = "limit.memlock", "Locked memory", "limit.memlock_bytes"
    limit = facts.get(key, int)
    if facts.unlimited(key):
        return AuditItem(id_, title, "unlimited", FINE, "mlockall=yes can be measured with any parent_bytes.")
    if limit is None:
        return unknown(facts, key, id_, title, "It limits mlockall=yes.")
    capable = "ipc_lock" in (facts.get("user.capabilities", list) or [])
    effect = (
        "It does not apply to this user." if capable else "It limits mlockall=yes and perf's buffers, not launches."
    )
    return AuditItem(id_, title, format_bytes(limit), FINE, effect)


def _stack(facts: Facts) -> AuditItem:
    id_, title, key = "limit.stack", "Stack", "limit.stack_bytes"
    limit = facts.get(key, int)
    if facts.unlimited(key):
        effect = "The C library then gives threads stacks of 2 MiB, and the kernel uses its old memory layout."
        return AuditItem(id_, title, "unlimited", NOTE, effect, "ulimit -s 8192")
    if limit is None:
        return unknown(facts, key, id_, title, "It is the size of the stack that the C library gives each thread.")
    value = format_bytes(limit)
    if limit < _SMALL_STACK_BYTES or limit > _LARGE_STACK_BYTES:
        effect = f"Each thread gets a stack of {value}, which counts against the address space."
        return AuditItem(id_, title, value, NOTE, effect, "ulimit -s 8192")
    return AuditItem(
        id_, title, value, FINE, "The C library gives each thread a stack of this size, untouched pages cost nothing."
    )


def _no_limit(facts: Facts, v1: str, v2: str) -> str:
    """The command that lifts a limit of this task's control group."""
    path = (facts.get("cgroup.path", str) or "/").strip("/")
    inside = f"/{path}" if path else ""
    if facts.get("cgroup.version", str) in _V2:
        return f"echo max | sudo tee /sys/fs/cgroup{inside}/{v2}"
    controller = v1.partition(".")[0]
    # Of v1's files only pids.max knows the word.
    unlimited = "max" if controller == "pids" else "-1"
    return f"echo {unlimited} | sudo tee /sys/fs/cgroup/{controller}{inside}/{v1}"


def _cpu_quota(facts: Facts) -> AuditItem:
    id_, title, key = "cgroup.cpu", "CPU quota", "cgroup.cpu_quota_cpus"
    quota = facts.number(key)
    if quota is None and facts.unlimited(key):
        return AuditItem(id_, title, "none", FINE, "The control group does not limit CPU time.")
    if quota is None:
        return unknown(facts, key, id_, title, "A group that has used up its quota is stopped until the next period.")
    effect = "When the quota is used up, all tasks of the group stop for up to 100 ms: launches show such gaps."
    command = _no_limit(facts, "cpu.cfs_quota_us", "cpu.max")
    if facts.get("virt.container", str) == "docker":
        command = "docker update --cpus 0 CONTAINER"
    return AuditItem(id_, title, f"{quota:g} CPUs", WARN, effect, command)


def _memory_quota(facts: Facts) -> AuditItem:
    id_, title, key = "cgroup.memory", "Memory limit", "cgroup.memory_max_bytes"
    limit, used = facts.get(key, int), facts.get("cgroup.memory_used_bytes", int)
    if limit is None and facts.unlimited(key):
        return AuditItem(id_, title, "none", FINE, "The control group does not limit parent_bytes.")
    if limit is None:
        return unknown(facts, key, id_, title, "It limits parent_bytes: beyond it, the kernel kills processes.")
    value = format_bytes(limit) + (f", {format_bytes(used)} in use" if used is not None else "")
    effect = "It limits parent_bytes; page tables count as well, and each allocation of a launch is charged to it."
    command = _no_limit(facts, "memory.limit_in_bytes", "memory.max")
    small = limit - (used or 0) < _SMALL_MEMORY_BYTES
    return AuditItem(id_, title, value, WARN if small else NOTE, effect, command)


def _pids_quota(facts: Facts) -> AuditItem:
    id_, title, key = "cgroup.pids", "Task limit", "cgroup.pids_max"
    limit, used = facts.get(key, int), facts.get("cgroup.pids_used", int)
    if limit is None and facts.unlimited(key):
        return AuditItem(id_, title, "none", FINE, "The control group does not limit the number of tasks.")
    if limit is None:
        return unknown(facts, key, id_, title, "Beyond it, launches fail with EAGAIN.")
    value = f"{limit:,}" + (f", {used:,} in use" if used is not None else "")
    effect = "Beyond it, launches fail with EAGAIN; it limits concurrency, parent_threads and zombies."
    command = _no_limit(facts, "pids.max", "pids.max")
    return AuditItem(id_, title, value, WARN if limit - (used or 0) < _COMFORTABLE_TASKS else NOTE, effect, command)
