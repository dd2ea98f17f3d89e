"""What is around us: hypervisor, container, stolen time, other work."""

from __future__ import annotations

from clonometer.results.audit.items import Facts, unknown
from clonometer.results.audit.types import FINE, NOTE, WARN, AuditItem

_MUCH_STEAL = 0.01
_SOME_STEAL = 0.001
_MUCH_PRESSURE = 0.05


def check_surroundings(facts: Facts) -> list[AuditItem]:
    """Judge what else runs on the machine, below it and around us."""
    return [check(facts) for check in (_hypervisor, _container, _steal, _load)]


def _hypervisor(facts: Facts) -> AuditItem:
    return _layer(
        facts,
        ("around.hypervisor", "Hypervisor", "virt.hypervisor"),
        unseen="Under a hypervisor page faults and wake-ups cost more.",
        absent="The kernel has the machine to itself.",
        present="Page faults walk two tables, and waking another CPU causes a VM exit: fork and free placement "
        "cost more.",
    )


def _container(facts: Facts) -> AuditItem:
    return _layer(
        facts,
        ("around.container", "Container", "virt.container"),
        unseen="Containers add filters, quotas and deeper namespaces.",
        absent="No namespaces or quotas lie between Clonometer and the machine.",
        present="Each new task gets a number in every PID namespace on the way, and is charged to the group's quotas.",
    )


def _layer(facts: Facts, names: tuple[str, str, str], *, unseen: str, absent: str, present: str) -> AuditItem:
    """Judge what may lie between the machine and us: nothing is best, and its name is worth knowing."""
    id_, title, key = names
    name = facts.get(key, str)
    if name is None:
        return unknown(facts, key, id_, title, unseen)
    if name == "none":
        return AuditItem(id_, title, name, FINE, absent)
    return AuditItem(id_, title, name, NOTE, present)


def _steal(facts: Facts) -> AuditItem:
    id_, title, key = "around.steal", "Stolen time", "steal.share"
    share = facts.number(key)
    if share is None:
        return unknown(facts, key, id_, title, "Time that the hypervisor gave to others shows as outliers.")
    value = f"{share:.2%} of the time since boot"
    if share < _SOME_STEAL:
        return AuditItem(id_, title, value, FINE, "Other guests take no noticeable time.")
    effect = "The hypervisor gave the CPU to other guests: launches show gaps of milliseconds, which is what p99 shows."
    return AuditItem(id_, title, value, WARN if share >= _MUCH_STEAL else NOTE, effect)


def _load(facts: Facts) -> AuditItem:
    id_, title, key = "around.load", "Other work", "load.one_minute"
    load, online = facts.number(key), facts.get("cpu.online", int)
    if load is None:
        return unknown(facts, key, id_, title, "Other tasks compete with the launches for CPUs and caches.")
    pressure = facts.number("load.cpu_pressure")
    about = f", tasks waited for a CPU in {pressure:.0%} of the last 10 s" if pressure is not None else ""
    value = f"load {load:.2f}{about}"
    # One task for each CPU is as many as fit; ours is one of them.
    crowded = load > 0.5 * (online or 1) or (pressure or 0.0) > _MUCH_PRESSURE
    if crowded:
        effect = (
            "Other tasks compete with the launches for CPUs and caches: medians rise, and intervals widen. 'ps -eo "
            "pcpu,pid,comm --sort=-pcpu | head' names them."
        )
        return AuditItem(id_, title, value, WARN, effect)
    return AuditItem(id_, title, value, FINE, "The machine is quiet enough.")
