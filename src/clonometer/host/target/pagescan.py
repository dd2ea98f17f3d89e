"""Counting pages by PAGEMAP_SCAN (Linux 6.7): entries are looked at, not the pages, so that 500 GB take seconds.

The kernel holds the process's memory lock for one call, which covers 256 MiB, some milliseconds at most. Source:
include/uapi/linux/fs.h (struct pm_scan_arg); fs/proc/task_mmu.c (do_pagemap_scan).
"""

from __future__ import annotations

import ctypes
import fcntl
import struct
import time
from collections.abc import Sequence

from clonometer.host.source import FactUnavailable, Source
from clonometer.host.target.areas import MemoryArea
from clonometer.host.target.frames import PAGE_BYTES
from clonometer.host.target.locked import LockTime

_STEP_BYTES = 256 << 20
_REGIONS = 4096
_ARGUMENT = struct.Struct("12Q")
_REQUEST = (3 << 30) | (_ARGUMENT.size << 16) | (ord("f") << 8) | 16
_PRESENT, _SWAPPED, _HUGE = 8, 16, 64


def count_pages(
    source: Source, pid: int, areas: Sequence[MemoryArea], lock: LockTime, seconds: float
) -> list[MemoryArea]:
    """Fill in what is present, huge and swapped of the areas whose pages fork may copy.

    Areas come as maps has them. What is present in one without a file, or in one that may be written to, is taken for
    written. ``lock`` gets the time of each call; after ``seconds`` it gives up.

    Raises
    ------
    Lack
        If the kernel has no such call or refuses it, or if that takes too long: a part of the pages says nothing.
    """
    regions = (ctypes.c_uint64 * (3 * _REGIONS))()
    ends = time.monotonic() + seconds
    path = f"/proc/{pid}/pagemap"
    try:
        with source.path(path).open("rb", buffering=0) as pagemap:
            descriptor = pagemap.fileno()
            return [_counted(area, descriptor, regions, lock, ends) if _may_be_copied(area) else area for area in areas]
    except OSError as error:
        raise FactUnavailable(f"{path}: {error.strerror or error}") from None


def _may_be_copied(area: MemoryArea) -> bool:
    return area.is_private and area.is_of_user and (area.inode == 0 or "w" in area.permissions)


def _counted(
    area: MemoryArea, descriptor: int, regions: ctypes.Array[ctypes.c_uint64], lock: LockTime, ends: float
) -> MemoryArea:
    pages = {_PRESENT: 0, _SWAPPED: 0, _HUGE: 0}
    place = area.start
    while place < area.end:
        if time.monotonic() > ends:
            raise FactUnavailable("there are too many for the time allowed")
        end = min(area.end, place + _STEP_BYTES)
        argument = bytearray(
            _ARGUMENT.pack(
                _ARGUMENT.size, 0, place, end, 0, ctypes.addressof(regions), _REGIONS, 0, 0, 0, _PRESENT | _SWAPPED,
                _PRESENT | _SWAPPED | _HUGE,
            )
        )  # fmt: skip
        with lock.timed():
            filled = fcntl.ioctl(descriptor, _REQUEST, argument)
        for number in range(filled):
            first, last, categories = regions[3 * number : 3 * number + 3]
            for category in pages:
                pages[category] += (last - first) // PAGE_BYTES if categories & category else 0
        reached = _ARGUMENT.unpack(argument)[4]
        place = reached if reached > place else end
    present_kb = pages[_PRESENT] * PAGE_BYTES // 1024
    return area._replace(
        rss_kb=present_kb,
        anonymous_kb=present_kb,
        huge_kb=pages[_HUGE] * PAGE_BYTES // 1024,
        swap_kb=pages[_SWAPPED] * PAGE_BYTES // 1024,
    )
