"""Measuring how fast a process writes, which takes a write to its ``clear_refs``: only where the user has asked for it.

Where the kernel has soft-dirty bits (CONFIG_MEM_SOFT_DIRTY) they are cleared and counted again: every first write to a
page meets a short fault meanwhile. Where it has none, the bits of touched pages are cleared instead (``Referenced`` of
smaps): no faults, but pages that are only read count too, so that the rate is an upper bound. Source:
Documentation/admin-guide/mm/soft-dirty.rst and Documentation/filesystems/proc.rst of Linux.
"""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from clonometer.errors import UnavailableError
from clonometer.host.source import FactUnavailable, Source
from clonometer.host.target.areas import MemoryArea, parse_smaps
from clonometer.host.target.frames import PAGE_BYTES, PRESENT, read_entries
from clonometer.host.target.locked import LockTime, read_timed

_PIECE_BYTES = PAGE_BYTES << 17
_SOFT_DIRTY = np.uint64(1 << 55)
_CLEAR_SOFT_DIRTY, _CLEAR_TOUCHED = b"4", b"1"

Means = Literal["measured", "touched"]


@dataclass(frozen=True)
class WrittenPages:
    """Pages that were written to (or, with ``touched``, touched) within a time, of those that are present."""

    pages: int
    of_pages: int
    seconds: float
    means: Means


def means_of_this_kernel() -> Means:
    """How writes can be measured by this kernel: whether it marks pages that are written to shows a page of our own."""
    with mmap.mmap(-1, PAGE_BYTES) as page:
        page[0] = 1
        address = _address_of(page)
        try:
            with Path("/proc/self/pagemap").open("rb", buffering=0) as pagemap:
                entries = read_entries(pagemap, address, address + PAGE_BYTES)
        except OSError:
            return "touched"
    return "measured" if np.any(entries & _SOFT_DIRTY) else "touched"


def _address_of(page: mmap.mmap) -> int:
    import ctypes

    return ctypes.addressof(ctypes.c_char.from_buffer(page))


def what_it_does(means: Means) -> str:
    """Say what measuring does to the process, before it is done."""
    if means == "measured":
        return (
            "This clears its soft-dirty bits (writes 4 to the process's clear_refs). The next write to each page "
            "then takes a fault of about a microsecond. It disturbs other tools that use these bits, such as CRIU."
        )
    return (
        "This kernel does not mark written pages, so accessed pages are counted instead. This clears their bits "
        "(writes 1 to the process's clear_refs), which makes the pages look idle to the kernel for a while."
    )


def measure_writes(
    source: Source,
    pid: int,
    areas: Sequence[MemoryArea],
    seconds: float,
    *,
    means: Means,
    sleep: Callable[[float], None] = time.sleep,
) -> WrittenPages:
    """Count the pages that a process writes to (or touches) within a time.

    Raises
    ------
    UnavailableError
        If its clear_refs, pagemap or smaps may not be used.
    """
    path = f"/proc/{pid}/clear_refs"
    try:
        descriptor = os.open(source.path(path), os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, _CLEAR_SOFT_DIRTY if means == "measured" else _CLEAR_TOUCHED)
        finally:
            os.close(descriptor)
        began = time.monotonic()
        sleep(seconds)
        elapsed = max(time.monotonic() - began, seconds)
        count = _count_dirty(source, pid, areas) if means == "measured" else _count_touched(source, pid)
    except OSError as error:
        raise UnavailableError(f"writes of process {pid} cannot be measured: {path}: {error.strerror}") from None
    except FactUnavailable as lack:
        raise UnavailableError(f"writes of process {pid} cannot be measured: {lack}") from None
    return WrittenPages(*count, elapsed, means)


def _is_copied(area: MemoryArea) -> bool:
    return area.is_private and area.is_of_user and not area.has("dc")


def _count_dirty(source: Source, pid: int, areas: Sequence[MemoryArea]) -> tuple[int, int]:
    dirty = present = 0
    with source.path(f"/proc/{pid}/pagemap").open("rb", buffering=0) as pagemap:
        for area in areas:
            if not _is_copied(area) or not (area.anonymous_kb or area.rss_kb):
                continue
            for start in range(area.start, area.end, _PIECE_BYTES):
                entries = read_entries(pagemap, start, min(area.end, start + _PIECE_BYTES))
                is_present = (entries & PRESENT) != 0
                present += int(np.count_nonzero(is_present))
                dirty += int(np.count_nonzero(is_present & ((entries & _SOFT_DIRTY) != 0)))
    return dirty, present


def _count_touched(source: Source, pid: int) -> tuple[int, int]:
    areas = parse_smaps(read_timed(source, f"/proc/{pid}/smaps", LockTime()))
    copied = [area for area in areas if _is_copied(area) and area.anonymous_kb]
    pages = PAGE_BYTES // 1024
    return sum(area.referenced_kb for area in copied) // pages, sum(area.rss_kb for area in copied) // pages
