"""Huge pages, promises of memory, swap."""

from __future__ import annotations

from clonometer.results.audit.items import Facts, unknown
from clonometer.results.audit.types import FINE, NOTE, WARN, AuditItem
from clonometer.units import format_bytes

_THP = "/sys/kernel/mm/transparent_hugepage"


def check_memory(facts: Facts) -> list[AuditItem]:
    """Judge what decides how a parent's memory is mapped, and whether a copy of it may be promised."""
    return [check(facts) for check in (_thp, _multi_size, _overcommit, _maps, _swap)]


def _thp(facts: Facts) -> AuditItem:
    id_, title, key = "memory.thp", "Huge pages (THP)", "thp.enabled"
    enabled = facts.get(key, str)
    if enabled is None:
        return unknown(facts, key, id_, title, "With huge pages fork copies far fewer page-table entries.")
    if enabled == "always":
        effect = (
            "Large heaps get huge pages without asking: fork is several times cheaper than with 4 KiB pages, and the "
            "first write afterwards is slower. Clonometer asks for the kind it names; other programs get this one."
        )
        return AuditItem(id_, title, enabled, NOTE, effect, f"echo madvise | sudo tee {_THP}/enabled")
    if enabled == "never":
        effect = "Nothing gets huge pages: page_kind=thp cannot be measured."
        return AuditItem(id_, title, enabled, NOTE, effect, f"echo madvise | sudo tee {_THP}/enabled")
    return AuditItem(id_, title, enabled, FINE, "Programs get huge pages only where they ask for them.")


def _multi_size(facts: Facts) -> AuditItem:
    id_, title, key = "memory.mthp", "Medium sizes (mTHP)", "thp.sizes"
    sizes = facts.get(key, dict)
    if sizes is None:
        return unknown(facts, key, id_, title, "Medium page sizes lie between the two kinds that Clonometer measures.")
    always = facts.get("thp.enabled", str) == "always"
    # The largest is the classic huge page, which has its own item.
    between = sorted(int(size) for size in sizes)[:-1]
    enabled = [size for size in between if sizes[str(size)] == "always" or (sizes[str(size)] == "inherit" and always)]
    if enabled:
        names = ", ".join(format_bytes(size) for size in enabled)
        effect = "Memory may get these instead of 4 KiB pages: fork and the first writes after it then cost less."
        files = " ".join(f"{_THP}/hugepages-{size // 1024}kB/enabled" for size in enabled)
        command = f"echo never | sudo tee {files}"
        return AuditItem(id_, title, f"on for {names}", WARN, effect, command)
    return AuditItem(id_, title, "only on request", FINE, "Pages are 4 KiB or huge, with nothing in between.")


def _overcommit(facts: Facts) -> AuditItem:
    id_, title, key = "memory.overcommit", "Overcommit", "memory.overcommit"
    mode = facts.get(key, int)
    if mode is None:
        return unknown(facts, key, id_, title, "Where memory cannot be overcommitted, large processes cannot fork.")
    if mode == 2:
        ratio = facts.get("memory.overcommit_ratio", int)
        value = "2, never" + (f" beyond {ratio}% of memory and swap" if ratio is not None else "")
        effect = "Fork of a large process fails with ENOMEM while memory is free; vfork and posix_spawn do not."
        return AuditItem(id_, title, value, WARN, effect, "sudo sysctl vm.overcommit_memory=0")
    name = "heuristic" if mode == 0 else "always"
    return AuditItem(id_, title, f"{mode}, {name}", FINE, "Fork may overcommit its parent's memory.")


def _maps(facts: Facts) -> AuditItem:
    id_, title, key = "memory.max_map_count", "Mappings per process", "memory.max_map_count"
    limit = facts.get(key, int)
    if limit is None:
        return unknown(facts, key, id_, title, "It limits the axis vmas.")
    effect = f"The axis vmas reaches about {max(limit - 1000, 0):,}; thread stacks take two mappings each."
    if limit < 65530:
        command = "sudo sysctl vm.max_map_count=65530"
        return AuditItem(id_, title, f"{limit:,}", NOTE, effect, command)
    return AuditItem(id_, title, f"{limit:,}", FINE, effect)


def _swap(facts: Facts) -> AuditItem:
    id_, title, key = "memory.swap", "Swap", "memory.swap_bytes"
    total, used = facts.get(key, int), facts.get("memory.swap_used_bytes", int)
    if total is None:
        return unknown(
            facts, key, id_, title, "Memory that was swapped out must be read back before it can be written."
        )
    if total == 0:
        return AuditItem(id_, title, "none", FINE, "Memory that was written stays in memory.")
    value = format_bytes(total) + (f", {format_bytes(used)} in use" if used else "")
    if used:
        effect = (
            "Some memory is swapped out already: a parent with a lot of memory may wait for the disk, not for the "
            "kernel."
        )
        return AuditItem(id_, title, value, WARN, effect, "sudo swapoff -a && sudo swapon -a")
    effect = "Not in use now; a parent with more memory than is free would be swapped out while it is measured."
    return AuditItem(id_, title, value, FINE, effect)
