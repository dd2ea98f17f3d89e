"""What a process has that its fork, its exit and the copying afterwards depend on: counts, all of them in /proc."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Annotated

from clonometer.records import Count

SMALL_PAGE_BYTES = 4096
#: The entries of a page table: so many small pages fill a huge one.
PAGES_OF_HUGE = 512
HUGE_PAGE_BYTES = SMALL_PAGE_BYTES * PAGES_OF_HUGE


@dataclass(frozen=True, kw_only=True)
class Features:
    """The counts of one process, or of one of its mappings.

    Every memory area is in exactly one of the groups ``dontfork``, ``wipeonfork``, ``shared``, ``anon``, ``file`` and
    ``empty``, the first in this order that applies. Pages are those that are present, of 4 KiB but for ``huge_pages``
    and ``hugetlb_pages``, which are in no other count. Counts of mappings add up to those of their process, but for
    ``open_files`` and ``threads``, which a mapping has not.

    Notes
    -----
    How smaps tells the groups apart (Linux: mm/memory.c, vma_needs_copy; kernel/fork.c, dup_mmap): ``dontfork`` has the
    flag ``dc``, ``wipeonfork`` has ``wf``, ``shared`` has ``sh``. ``anon`` is private and has written memory
    (``Anonymous`` or ``Swap`` above 0): fork copies every entry of it, those of a file's pages too, so that its
    ``anon_pages`` are ``Rss`` without ``AnonHugePages``. The rest is private and has none: ``file`` with an inode,
    else ``empty``; fork copies the area and no page.
    """

    anon_areas: Annotated[Count, "Private areas with written memory: fork copies each of their page table entries."] = 0
    anon_pages: Annotated[Count, "Small pages present in them, those of files included."] = 0
    anon_tables: Annotated[
        Count, "Page tables of 4 KiB that hold those pages' entries: one for each 2 MiB in which a page is present."
    ] = 0
    placed_pages: Annotated[Count, "Of them those whose frames were looked at: a sample, or none."] = 0
    scattered_pages: Annotated[
        Count, "Of those the ones whose frame does not lie near that of the page before: each costs a cache miss more."
    ] = 0
    empty_areas: Annotated[Count, "Private areas without a file in which nothing was written."] = 0
    file_areas: Annotated[Count, "Private areas of a file in which nothing was written."] = 0
    file_pages: Annotated[Count, "Pages present in them: fork copies none."] = 0
    shared_areas: Annotated[Count, "Shared areas, of a file or of memory."] = 0
    shared_pages: Annotated[Count, "Pages present in them: fork copies none."] = 0
    dontfork_areas: Annotated[Count, "Areas that are kept from children (MADV_DONTFORK)."] = 0
    dontfork_pages: Annotated[Count, "Pages present in them: fork copies none."] = 0
    wipeonfork_areas: Annotated[Count, "Areas that a child gets empty (MADV_WIPEONFORK)."] = 0
    wipeonfork_pages: Annotated[Count, "Pages present in them: fork copies none."] = 0
    locked_pages: Annotated[Count, "Pages that are locked in memory; they are in the other counts too."] = 0
    huge_pages: Annotated[Count, "Transparent huge pages in private areas, mapped whole."] = 0
    hugetlb_pages: Annotated[Count, "Pages of hugetlbfs in private areas."] = 0
    hugetlb_page_bytes: Annotated[Count, "Their size; 0 where there are none."] = 0
    swapped_pages: Annotated[Count, "Small pages of private areas that are swapped out."] = 0
    uffd_areas: Annotated[Count, "Areas watched by userfaultfd; they are in the other counts too."] = 0
    page_table_bytes: Annotated[Count, "All page tables of the process (VmPTE); of a mapping, the share of it."] = 0
    open_files: Annotated[Count, "Open file descriptors."] = 0
    threads: Annotated[Count, "Threads of the process, the first included."] = 0

    def fault(self) -> str | None:
        """Say what contradicts itself; None where nothing does."""
        if self.hugetlb_pages and not self.hugetlb_page_bytes:
            return "has pages of hugetlbfs without a size"
        if self.scattered_pages > self.placed_pages:
            return "has more scattered pages than were looked at"
        return "has more page tables than pages" if self.anon_tables > self.anon_pages else None


def add_features(parts: Iterable[Features]) -> Features:
    """Add counts, as of the mappings of a process.

    Examples
    --------
    >>> add_features([Features(anon_pages=3, anon_areas=1), Features(empty_areas=1)]).anon_pages
    3
    """
    parts = list(parts)
    sums = {field.name: sum(getattr(part, field.name) for part in parts) for field in fields(Features)}
    sums["hugetlb_page_bytes"] = max((part.hugetlb_page_bytes for part in parts), default=0)
    return Features(**sums)
