"""Why memory faulted: what lies at an address, and what the processor said of the access."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

STACK, FILE, ANONYMOUS, SHARED = "stack", "file", "anonymous", "shared"
COW = "cow"

# Bits of a page fault's error code on x86-64 (arch/x86/include/asm/trap_pf.h).
_PRESENT, _WRITE = 1, 2
_LINE = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \S+ *(.*)$")
# Where the kernel puts the first stack of a program on x86-64: below the end of user space.
_HIGH_STACKS = 0x7FF0_0000_0000
_END = 0x8000_0000_0000


@dataclass(frozen=True)
class Area:
    """One mapping: first address, first one behind it, what kind of memory, what the kernel calls it."""

    start: int
    end: int
    kind: str
    name: str


class Memory:
    """The areas of a process, as in ``/proc/PID/maps``.

    Examples
    --------
    >>> memory = Memory("00400000-00401000 r-xp 00000000 fe:00 12 /bin/true")
    >>> memory.kind(0x400123), memory.cause(0x400123, 20), memory.cause(0x7FFC27660048, 7)
    ('file', 'file', 'cow')
    """

    def __init__(self, maps: str) -> None:
        self._areas = areas_of(maps)
        self._starts = [area.start for area in self._areas]

    def kind(self, address: int, *, another_program: bool = False) -> str | None:
        """What lies there: ``stack``, ``file``, ``anonymous`` or ``shared``; None where that is not known.

        A task that runs another program has other areas; of these only the stack is told by its place.
        """
        if another_program:
            return STACK if _HIGH_STACKS <= address < _END else FILE
        at = bisect_right(self._starts, address) - 1
        if at >= 0 and address < self._areas[at].end:
            return self._areas[at].kind
        return STACK if _HIGH_STACKS <= address < _END else None

    def cause(self, address: int, error_code: int, *, another_program: bool = False) -> str:
        """Why it faulted: ``cow`` for a write to a page that was there and write-protected, else what lies there."""
        if error_code & _PRESENT and error_code & _WRITE:
            return COW
        return self.kind(address, another_program=another_program) or ANONYMOUS


def areas_of(maps: str) -> list[Area]:
    """Read ``/proc/PID/maps``, by address; lines that are none are passed over."""
    areas: list[Area] = []
    guard_end = -1
    for line in maps.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        start, end = int(match[1], 16), int(match[2], 16)
        rights, name = match[3], match[4]
        if name.startswith("[stack"):
            kind = STACK
        elif rights[3] == "s":
            kind = SHARED
        elif name.startswith("/"):
            kind = FILE
        else:
            # A library puts a thread's stack just above a page that nobody may touch.
            kind = STACK if start == guard_end and not name else ANONYMOUS
        guard_end = end if rights.startswith("---") and not name else -1
        areas.append(Area(start, end, kind, name))
    return sorted(areas, key=lambda area: area.start)
