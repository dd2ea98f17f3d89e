"""Reading a process once: its status, its areas in the way that holds its memory lock least, its descriptors."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from clonometer.errors import UsageError
from clonometer.host.source import FactUnavailable, Source
from clonometer.host.target.areas import MemoryArea, parse_maps, parse_smaps
from clonometer.host.target.frames import look_at_frames
from clonometer.host.target.locked import LockTime, read_timed
from clonometer.host.target.pagescan import count_pages
from clonometer.host.target.status import ProcessStatus, check_unchanged, read_status, vanished

How = Literal["smaps", "pagemap", "counters"]
#: Printing smaps looks at each page, at 50 to 100 ns: beyond this it would hold the lock for a second.
_MOST_BY_SMAPS_BYTES = 40 << 30
_NS_A_PAGE = 100
_SCAN_SECONDS = 3.0
_CAP_SYS_PTRACE = 1 << 19


@dataclass(frozen=True)
class Reading:
    """What was read of a process.

    Attributes
    ----------
    how
        ``smaps``: each area with its pages and flags; ``pagemap``: each area with its pages, flags unknown;
        ``counters``: the sums of status alone.
    why
        Why it was not read by smaps; None where it was.
    areas
        None where not even maps may be read.
    open_files
        None where the folder of descriptors is closed to us.
    lock
        How long the reads took that hold its memory lock.
    """

    status: ProcessStatus
    how: How
    why: str | None
    areas: Sequence[MemoryArea] | None
    open_files: int | None
    lock: LockTime = field(default_factory=LockTime)


def expected_lock_ns(source: Source, pid: int, *, how: How | None = None) -> int:
    """Say for how long reading a process will hold its memory lock, at most: before it is read.

    Pieces are read with the lock, and between two of them the process may take it: one area is one piece at least. By
    smaps this is 50 to 100 ns for each page that is present; other ways of reading look at no page, or let go of the
    lock often.

    Raises
    ------
    UsageError
        If there is no such process, or none that forks.
    """
    rss_bytes = read_status(source, pid).rss_bytes
    by_smaps = how == "smaps" or (how is None and rss_bytes <= _MOST_BY_SMAPS_BYTES)
    return rss_bytes // resource.getpagesize() * _NS_A_PAGE if by_smaps else 0


def read_target(source: Source, pid: int, *, how: How | None = None) -> Reading:
    """Read a process: no signal, no stop, nothing is written to it.

    The source must be a fresh one: it reads each file once. ``how`` says how to see its areas; None: by smaps, unless
    the process has more than 40 GiB or belongs to somebody else.

    Raises
    ------
    UsageError
        If there is no such process, or none that forks.
    VanishedError
        If it ends meanwhile.
    """
    status = read_status(source, pid)
    lock = LockTime()
    seen, why, areas = _areas(source, status, how, lock)
    if areas is not None and not areas:
        raise vanished(pid)
    if areas is not None and seen != "counters":
        areas = look_at_frames(source, pid, areas, lock)
    reading = Reading(status, seen, why, areas, _count_open_files(source, pid), lock)
    check_unchanged(source, status)
    return reading


def _areas(
    source: Source, status: ProcessStatus, how: How | None, lock: LockTime
) -> tuple[How, str | None, list[MemoryArea] | None]:
    folder = f"/proc/{status.pid}"
    why = None
    if how is None and status.rss_bytes > _MOST_BY_SMAPS_BYTES:
        how = "pagemap"
        why = "it is so large that smaps would hold its memory lock for a second or more"
    elif how is not None and how != "smaps":
        why = "you asked for it"
    try:
        if how in (None, "smaps"):
            return "smaps", None, parse_smaps(read_timed(source, f"{folder}/smaps", lock))
        areas = parse_maps(read_timed(source, f"{folder}/maps", lock))
    except FactUnavailable as lack:
        check_unchanged(source, status)
        if how == "smaps":
            raise UsageError(
                f"smaps of process {status.pid} cannot be read: {_refusal(source, status, lack)}"
            ) from None
        return "counters", _refusal(source, status, lack), None
    if how == "counters":
        return "counters", why, areas
    try:
        return "pagemap", why, count_pages(source, status.pid, areas, lock, _SCAN_SECONDS)
    except FactUnavailable as lack:
        return "counters", f"{why}, and its pages cannot be counted ({lack})", areas


def _refusal(source: Source, status: ProcessStatus, lack: FactUnavailable) -> str:
    """Say why its areas may not be read, and which right is missing."""
    if "denied" not in str(lack) and "not permitted" not in str(lack):
        return str(lack)
    mine = source.fields("/proc/self/status")
    user = mine.get("Uid", "").split()[1:2]
    if int(mine.get("CapEff", "0"), 16) & _CAP_SYS_PTRACE:
        return f"blocked by a security module or user namespace ({lack})"
    if user == [str(status.user_id)]:
        return "even its user may not read it, as with set-user-ID programs: CAP_SYS_PTRACE is missing (sudo)"
    return f"it belongs to user {status.user_id}: run as that user, or with CAP_SYS_PTRACE (sudo)"


def _count_open_files(source: Source, pid: int) -> int | None:
    folder = source.path(f"/proc/{pid}/fd")
    try:
        # Since Linux 6.2 the folder's size is their number; before it is 0.
        return (source.live and folder.stat().st_size) or len(os.listdir(folder))  # noqa: PTH208 (names alone)
    except OSError:
        return None
