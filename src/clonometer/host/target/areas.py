"""The memory areas of a process, from its maps and smaps: tens of thousands of them within a fraction of a second.

Source of the format: fs/proc/task_mmu.c of Linux (show_map_vma, show_smap, show_smap_vma_flags).
"""

from __future__ import annotations

import re
from functools import cache
from operator import itemgetter
from typing import NamedTuple

from clonometer.host.source import FactUnavailable

_HEAD = rb"([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ (\d+) *([^\n]*)\n"
_FLAGS = rb"VmFlags:([^\n]*)(?:\n|\Z)"
_LINE_OF_AREA = re.compile(_HEAD)
_GROUPS_OF_HEAD = 5


class MemoryArea(NamedTuple):
    """One memory area.

    Attributes
    ----------
    start, end
        Addresses.
    permissions
        As maps has them: ``rw-p``.
    inode
        Of its file; 0 where it has none.
    name
        A path, or a name in brackets such as ``[heap]``; empty where it has none.
    flags
        Codes of VmFlags, such as ``dc`` (kept from children); None where only maps was read.
    rss_kb, referenced_kb, anonymous_kb
        Memory that is present, without that of hugetlbfs; of it touched lately; written.
    huge_kb, shmem_huge_kb, file_huge_kb
        Of it in transparent huge pages: private, of shared memory, of files.
    shared_hugetlb_kb, private_hugetlb_kb
        Memory of hugetlbfs.
    swap_kb, locked_kb
        Swapped out; locked.
    page_kb
        Size of a page. From here up to ``rss_kb`` all are 0 where only maps was read, and where the kernel does not
        tell them.
    placed_pages, scattered_pages
        Of a sample of its small pages, how many there are, and how many of them are scattered
        (`clonometer.host.target.frames`).
    """

    start: int
    end: int
    permissions: str
    inode: int
    name: str
    flags: frozenset[str] | None
    rss_kb: int = 0
    referenced_kb: int = 0
    anonymous_kb: int = 0
    huge_kb: int = 0
    shmem_huge_kb: int = 0
    file_huge_kb: int = 0
    shared_hugetlb_kb: int = 0
    private_hugetlb_kb: int = 0
    swap_kb: int = 0
    locked_kb: int = 0
    page_kb: int = 0
    placed_pages: int = 0
    scattered_pages: int = 0

    @property
    def size_bytes(self) -> int:
        """Its length."""
        return self.end - self.start

    @property
    def is_of_user(self) -> bool:
        """Whether it is the process's own, and not the kernel's, as [vsyscall] is."""
        return self.start < 1 << 63

    @property
    def is_private(self) -> bool:
        """Whether what is written stays the process's."""
        return self.permissions[3:4] != "s"

    def has(self, flag: str) -> bool:
        """Whether it has a flag; False where flags were not read."""
        return self.flags is not None and flag in self.flags


#: Lines of an entry, in the order of the fields from ``rss_kb`` on.
_COUNTED = (
    b"Rss",
    b"Referenced",
    b"Anonymous",
    b"AnonHugePages",
    b"ShmemPmdMapped",
    b"FilePmdMapped",
    b"Shared_Hugetlb",
    b"Private_Hugetlb",
    b"Swap",
    b"Locked",
    b"KernelPageSize",
)


def parse_maps(content: bytes) -> list[MemoryArea]:
    """Read the text of ``/proc/PID/maps``.

    Raises
    ------
    Lack
        If a line is no area.
    """
    areas = []
    for line in content.splitlines(keepends=True):
        match = _LINE_OF_AREA.fullmatch(line)
        if match is None:
            raise FactUnavailable(f"no line of an area: {line[:60]!r}")
        areas.append(_area(match.groups(), None, ()))
    return areas


def parse_smaps(content: bytes) -> list[MemoryArea]:
    """Read the text of ``/proc/PID/smaps``.

    Raises
    ------
    Lack
        If it is not what Linux writes. A kernel without VmFlags (before 3.8) is refused too.
    """
    areas: list[MemoryArea] = []
    place = 0
    while place < len(content):
        # All entries of a kernel have the same lines; where one has not, its layout is that of what follows.
        layout = _Layout(content, place)
        for match in layout.entry.finditer(content, place):
            if match.start() != place:
                break
            place = match.end()
            values = match.groups()
            # A 0 stands behind them for the lines that this kernel has not.
            numbers = [*map(int, values[_GROUPS_OF_HEAD:-1]), 0]
            areas.append(_area(values, _flags(values[-1]), layout.counted(numbers)))
    return areas


class _Layout:
    """The lines of an entry of smaps, in their order, as a pattern."""

    def __init__(self, content: bytes, place: int) -> None:
        text = content[place : content.find(b"VmFlags:", place)]
        names = [line.partition(b":")[0] for line in text.split(b"\n")[1:-1]]
        lines = [re.escape(name) + (rb": +(\d+) kB\n" if name in _COUNTED else rb":[^\n]*\n") for name in names]
        self.entry = re.compile(_HEAD + b"".join(lines) + _FLAGS)
        in_order = [name for name in names if name in _COUNTED]
        if b"Rss" not in in_order or self.entry.match(content, place) is None:
            raise FactUnavailable(f"no entry of smaps: {content[place : place + 60]!r}")
        self.counted = itemgetter(*(in_order.index(name) if name in in_order else -1 for name in _COUNTED))


@cache
def _flags(text: bytes) -> frozenset[str]:
    return frozenset(text.decode("ascii", "replace").split())


def _area(head: tuple[bytes, ...], flags: frozenset[str] | None, counted: tuple[int, ...]) -> MemoryArea:
    start, end, permissions, inode, name = head[:_GROUPS_OF_HEAD]
    # Names of files are any bytes; surrogates keep them.
    named = name.decode("utf-8", "surrogateescape") if name else ""
    return MemoryArea(int(start, 16), int(end, 16), permissions.decode("ascii"), int(inode), named, flags, *counted)
