"""Facts of memory: how much there is, overcommit, huge pages, merging."""

from __future__ import annotations

from contextlib import suppress

from clonometer.host.cgroup import memory_bound
from clonometer.host.registry import register, register_file
from clonometer.host.source import FactUnavailable, Source, chosen

_THP = "/sys/kernel/mm/transparent_hugepage"
_HUGETLB = "/sys/kernel/mm/hugepages"


def _meminfo(source: Source, name: str) -> int:
    return int(source.field("/proc/meminfo", name).removesuffix("kB")) * 1024


@register("memory.total_bytes", "int", "memory of the machine", unit="bytes")
def _total(source: Source) -> int:
    return _meminfo(source, "MemTotal")


@register("memory.available_bytes", "int", "what may be taken without swapping, when the run started", unit="bytes")
def _available(source: Source) -> int:
    return _meminfo(source, "MemAvailable")


def free_bytes(source: Source) -> int | None:
    """Say what this process may take without swapping, by the machine and its control groups; None if not known."""
    rooms = []
    with suppress(FactUnavailable):
        rooms.append(_available(source))
    with suppress(FactUnavailable):
        bound = memory_bound(source)
        rooms += [bound.left] if bound is not None else []
    return min(rooms, default=None)


@register("memory.swap_bytes", "int", "swap space", unit="bytes")
def _swap(source: Source) -> int:
    return _meminfo(source, "SwapTotal")


@register("memory.swap_used_bytes", "int", "of it in use, when the run started", unit="bytes")
def _swap_used(source: Source) -> int:
    return max(_swap(source) - _meminfo(source, "SwapFree"), 0)


register_file("memory.overcommit", "int", "/proc/sys/vm/overcommit_memory", "0 heuristic, 1 always, 2 never")
register_file(
    "memory.overcommit_ratio",
    "int",
    "/proc/sys/vm/overcommit_ratio",
    "percent of memory that may be promised where overcommit is 2",
)
register_file("memory.max_map_count", "int", "/proc/sys/vm/max_map_count", "mappings a process may have", unit="count")
register_file(
    "thp.enabled", "text", f"{_THP}/enabled", "transparent huge pages: always, madvise or never", parse=chosen
)
register_file("thp.defrag", "text", f"{_THP}/defrag", "how hard the kernel works for a huge page", parse=chosen)
register_file("ksm.run", "int", "/sys/kernel/mm/ksm/run", "merging of equal pages: 0 off, 1 on, 2 undone")


def _page_bytes(folder: str) -> str:
    """Size in bytes, as text, of a folder such as ``hugepages-2048kB``."""
    return str(int(folder.removeprefix("hugepages-").removesuffix("kB")) * 1024)


@register("thp.sizes", "object", "size in bytes of multi-size transparent huge pages -> setting")
def _thp_sizes(source: Source) -> dict[str, str]:
    # The smallest sizes exist for shared memory only and have no such setting.
    folders = [name for name in source.names(_THP, "hugepages-") if source.exists(f"{_THP}/{name}/enabled")]
    if not folders:
        raise FactUnavailable("the kernel has no multi-size huge pages (they came with Linux 6.8)")
    return {_page_bytes(folder): chosen(source.text(f"{_THP}/{folder}/enabled")) for folder in folders}


@register("hugetlb.free", "object", "page size in bytes -> reserved pages that are free")
def _hugetlb(source: Source) -> dict[str, int]:
    folders = source.names(_HUGETLB, "hugepages-")
    return {_page_bytes(folder): source.integer(f"{_HUGETLB}/{folder}/free_hugepages") for folder in folders}
