"""A process's areas, sorted into groups with names, and counted as the model counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated

from clonometer.host.target.areas import MemoryArea
from clonometer.model.features import HUGE_PAGE_BYTES, PAGES_OF_HUGE, SMALL_PAGE_BYTES, Features
from clonometer.records import Count, OneOf

KINDS = ("heap", "stack", "anon", "arena", "code", "file", "shared", "reserved")
#: glibc gives an arena a room of this size and alignment (HEAP_MAX_SIZE of malloc/arena.c on 64 bit).
_ARENA_BYTES = 64 << 20
_MOST_GUARD_BYTES = 64 << 10
_MOST_STACK_BYTES = 64 << 20
#: Go asks for its heap at 0xc0_0000_0000 (runtime/malloc.go), in pieces that look like arenas.
_GO_HEAP = 0xC0
#: An area without a name gets a line of its own from this share of the process's memory on.
_LARGE_SHARE = 0.05
_UFFD_FLAGS = frozenset(("um", "uw", "ui"))
_PAGE_KB = SMALL_PAGE_BYTES // 1024
_HUGE_KB = PAGES_OF_HUGE * _PAGE_KB


@dataclass(frozen=True)
class MappingGroup:
    """Areas of a process that are named together."""

    label: str
    kind: Annotated[str, OneOf(KINDS)]
    areas: Count
    size_bytes: Count
    rss_bytes: Annotated[Count, "Memory that is present, including hugetlbfs."]
    could_be_huge: Annotated[Count, "How many huge pages its small pages would fill."]
    features: Features


def group_areas(areas: Sequence[MemoryArea], page_table_bytes: int, *, pages_known: bool = True) -> list[MappingGroup]:
    """Sort areas into groups, those with most memory first.

    Areas come in the order of their addresses; ``page_table_bytes`` are all page tables of the process (VmPTE). Without
    ``pages_known`` every private area that may be written to is taken for written.
    """
    usable = [area for area in areas if area.is_of_user]
    tables = _share_tables(usable, page_table_bytes)
    large_kb = max(1, int(_LARGE_SHARE * sum(area.rss_kb for area in usable)))
    members: dict[tuple[str, str], list[tuple[MemoryArea, int]]] = {}
    for area, label, count in zip(usable, _labels(usable, large_kb), tables, strict=True):
        members.setdefault(label, []).append((area, count))
    groups = [_group(*label, together, pages_known=pages_known) for label, together in members.items()]
    return sorted(groups, key=lambda group: (-group.rss_bytes, -group.areas))


def _group(label: str, kind: str, members: Sequence[tuple[MemoryArea, int]], *, pages_known: bool) -> MappingGroup:
    """Add areas up, each with how many page tables it has."""
    counts: Counter[str] = Counter()
    for area, tables in members:
        for name, count in _counts(area, tables, pages_known=pages_known):
            counts[name] += count
        if area.private_hugetlb_kb:
            counts["hugetlb_page_bytes"] = area.page_kb * 1024
    return MappingGroup(
        label,
        kind,
        areas=len(members),
        size_bytes=sum(area.size_bytes for area, _ in members),
        rss_bytes=1024 * sum(area.rss_kb + area.shared_hugetlb_kb + area.private_hugetlb_kb for area, _ in members),
        could_be_huge=sum(_could_be_huge(area) for area, _ in members),
        features=Features(**counts),
    )


def _counts(area: MemoryArea, tables: int, *, pages_known: bool) -> Iterator[tuple[str, int]]:
    """What an area adds to the counts of the model (`Features`, whose notes say which group it belongs to)."""
    if area.locked_kb:
        yield "locked_pages", area.locked_kb // _PAGE_KB
    flags = area.flags or ()
    if flags and not _UFFD_FLAGS.isdisjoint(flags):
        yield "uffd_areas", 1
    small = max(0, area.rss_kb - area.huge_kb) // _PAGE_KB
    if "dc" in flags or "wf" in flags:
        group = "dontfork" if "dc" in flags else "wipeonfork"
        yield f"{group}_areas", 1
        yield f"{group}_pages", area.rss_kb // _PAGE_KB
    elif not area.is_private:
        yield "shared_areas", 1
        yield "shared_pages", area.rss_kb // _PAGE_KB
    elif _is_written(area, pages_known=pages_known):
        yield "anon_areas", 1
        yield "anon_pages", small
        yield "placed_pages", area.placed_pages
        yield "scattered_pages", area.scattered_pages
        # The model has no tables without pages; those of memory that is all swapped out are few.
        yield "anon_tables", min(small, tables)
        yield "huge_pages", area.huge_kb // _HUGE_KB
        yield "swapped_pages", area.swap_kb // _PAGE_KB
        yield "hugetlb_pages", area.private_hugetlb_kb // area.page_kb if area.page_kb else 0
    elif area.inode:
        yield "file_areas", 1
        yield "file_pages", small
    else:
        yield "empty_areas", 1


def _is_written(area: MemoryArea, *, pages_known: bool) -> bool:
    if area.anonymous_kb or area.swap_kb or area.private_hugetlb_kb:
        return True
    return not pages_known and "w" in area.permissions


def _could_be_huge(area: MemoryArea) -> int:
    """How many huge pages an area's small pages would fill, were huge pages used; a file's pages are none."""
    if not area.is_private or area.inode or area.has("nh") or area.has("dc"):
        return 0
    whole = max(0, area.end // HUGE_PAGE_BYTES - -(-area.start // HUGE_PAGE_BYTES))
    return min(whole, max(0, area.anonymous_kb - area.huge_kb) * 1024 // HUGE_PAGE_BYTES)


def _share_tables(areas: Sequence[MemoryArea], page_table_bytes: int) -> list[int]:
    """Share the page tables among the areas: their sum is known (VmPTE), of each area only the fewest and the most.

    The fewest hold its pages, the most are one for each 2 MiB that it touches and no area before it does. All areas are
    taken to be equally far from the fewest. Tables of the upper levels, and those that lie ready for huge pages, are in
    the sum.
    """
    fewest, most, upper, ready = [], [], set(), 0
    last = -1
    for area in areas:
        pages = (area.rss_kb - area.huge_kb - area.shmem_huge_kb - area.file_huge_kb + area.swap_kb) // _PAGE_KB
        ready += area.huge_kb // _HUGE_KB
        if pages <= 0:
            fewest.append(0)
            most.append(0)
            continue
        first, end = max(last + 1, area.start // HUGE_PAGE_BYTES), -(-area.end // HUGE_PAGE_BYTES)
        spans = max(0, end - first)
        last = max(last, end - 1)
        upper |= {area.start >> 30, (area.end - 1) >> 30}
        fewest.append(min(spans, -(-pages // PAGES_OF_HUGE)))
        most.append(min(spans, pages))
    low, high = sum(fewest), sum(most)
    known = page_table_bytes // SMALL_PAGE_BYTES - len(upper) - ready
    way = min(1.0, max(0.0, (known - low) / (high - low))) if high > low else 0.0
    return [round(few + way * (many - few)) for few, many in zip(fewest, most, strict=True)]


def _labels(areas: Sequence[MemoryArea], large_kb: int) -> list[tuple[str, str]]:
    """The label and the kind of each area, by its name, its neighbours and its rights."""
    labels = []
    for index, area in enumerate(areas):
        before = areas[index - 1] if index else None
        after = areas[index + 1] if index + 1 < len(areas) else None
        if area.name and not area.name.startswith("[anon]"):
            labels.append(_of_name(area))
        elif not area.is_private:
            labels.append(("[shared memory]", "shared"))
        elif "x" in area.permissions:
            labels.append(("[anon] code generated at run time", "code"))
        elif area.permissions.startswith("---"):
            labels.append(("[anon] reserved, no access", "reserved"))
        elif area.start >> 32 == _GO_HEAP:
            labels.append(("[anon] Go heap", "anon"))
        elif _is_arena(area, after):
            labels.append(("[anon] glibc malloc arenas", "arena"))
        elif _is_thread_stack(area, before):
            labels.append(("[anon] thread stacks", "stack"))
        elif area.rss_kb >= large_kb and area.size_bytes >= HUGE_PAGE_BYTES:
            labels.append((f"[anon] at {area.start:x}", "anon"))
        else:
            labels.append(("[anon]", "anon"))
    return labels


def _of_name(area: MemoryArea) -> tuple[str, str]:
    name = area.name
    if name.startswith("["):
        kinds: Mapping[str, str] = {"[heap]": "heap", "[stack]": "stack"}
        return name, kinds.get(name, "anon" if area.is_private else "shared")
    label = PurePosixPath(name.removesuffix(" (deleted)")).name or name
    return label, "file" if area.is_private else "shared"


def _is_arena(area: MemoryArea, after: MemoryArea | None) -> bool:
    """Whether it is the used part of an arena, behind which the rest of its room lies without access."""
    return (
        area.start % _ARENA_BYTES == 0
        and area.size_bytes < _ARENA_BYTES
        and after is not None
        and after.start == area.end
        and after.permissions.startswith("---")
        and after.end % _ARENA_BYTES == 0
    )


def _is_thread_stack(area: MemoryArea, before: MemoryArea | None) -> bool:
    return (
        before is not None
        and before.end == area.start
        and before.permissions.startswith("---")
        and before.size_bytes <= _MOST_GUARD_BYTES
        and area.size_bytes <= _MOST_STACK_BYTES
    )
