"""Where a process's pages lie in memory, by a sample of its pagemap: side by side, or scattered.

Fork touches the descriptor of each small page. Descriptors of pages side by side lie side by side too, and the
processor fetches them ahead; each that lies elsewhere costs a cache miss. Frame numbers are shown to who has
CAP_SYS_ADMIN alone. Source of the format: Documentation/admin-guide/mm/pagemap.rst of Linux.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from io import FileIO

import numpy as np
from numpy.typing import NDArray

from clonometer.host.source import Source
from clonometer.host.target.areas import MemoryArea
from clonometer.host.target.locked import LockTime

PAGE_BYTES = 4096
_ENTRY_BYTES = 8
PRESENT = np.uint64(1 << 63)
_FRAME = np.uint64((1 << 55) - 1)
#: A window is what one page table maps; so many of them, evenly spread, are looked at.
_WINDOW_BYTES = 2 << 20
_MOST_WINDOWS = 1024
_WINDOW_PAGES = _WINDOW_BYTES // PAGE_BYTES
#: A page lies near the one before if its frame is at most so far: a processor fetches so many descriptors ahead.
_NEAR_FRAMES = 4

Window = tuple[int, int, int]  # The place of an area, a start and an end within it.


def look_at_frames(source: Source, pid: int, areas: Sequence[MemoryArea], lock: LockTime) -> list[MemoryArea]:
    """Fill in, for areas whose pages fork copies, of how many pages the frame was seen and how many are scattered.

    Areas come with their pages and flags, as smaps has them, or without flags. Where frames may not be seen the same
    ones are given back. ``lock`` gets the time of each read.
    """
    windows = list(_windows(areas))
    chosen = windows[:: -(-len(windows) // _MOST_WINDOWS) or 1]
    seen: dict[int, tuple[int, int]] = {}
    try:
        with source.path(f"/proc/{pid}/pagemap").open("rb", buffering=0) as pagemap:
            for place, start, end in chosen:
                with lock.timed():
                    entries = read_entries(pagemap, start, end)
                pages, scattered = _count(entries, may_be_huge=areas[place].huge_kb > 0)
                before = seen.get(place, (0, 0))
                seen[place] = (before[0] + pages, before[1] + scattered)
    except OSError:
        return list(areas)
    return [
        area._replace(placed_pages=seen[place][0], scattered_pages=seen[place][1]) if place in seen else area
        for place, area in enumerate(areas)
    ]


def _windows(areas: Sequence[MemoryArea]) -> Iterator[Window]:
    """All windows of which fork copies small pages of."""
    for index, area in enumerate(areas):
        if not area.is_private or area.anonymous_kb <= area.huge_kb or area.has("dc") or area.has("wf"):
            continue
        start = area.start
        while start < area.end:
            end = min(area.end, (start // _WINDOW_BYTES + 1) * _WINDOW_BYTES)
            yield index, start, end
            start = end


def read_entries(pagemap: FileIO, start: int, end: int) -> NDArray[np.uint64]:
    """Read from a process's pagemap what it says of the pages of a span; of fewer where it ends before."""
    length, offset = (at // PAGE_BYTES * _ENTRY_BYTES for at in (end - start, start))
    content = os.pread(pagemap.fileno(), length, offset)
    return np.frombuffer(content[: len(content) // _ENTRY_BYTES * _ENTRY_BYTES], dtype=np.uint64)


def _count(entries: NDArray[np.uint64], *, may_be_huge: bool) -> tuple[int, int]:
    """Count the pages whose frame is seen, and of them the scattered ones; the first has no neighbour."""
    frames = (entries[(entries & PRESENT) != 0] & _FRAME).astype(np.int64)
    frames = frames[frames > 0]
    if not frames.size or (may_be_huge and _is_huge(frames)):
        return 0, 0
    return frames.size, 1 + int(np.count_nonzero(np.abs(np.diff(frames)) > _NEAR_FRAMES))


def _is_huge(frames: NDArray[np.int64]) -> bool:
    return bool(frames.size == _WINDOW_PAGES and frames[0] % _WINDOW_PAGES == 0 and np.all(np.diff(frames) == 1))
