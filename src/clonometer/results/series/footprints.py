"""What idle tasks hold, taken apart: the parts of each task's memory, to say and to draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clonometer.families import workload_words
from clonometer.results.rows.evidence import Book, Evidence, once_per_book
from clonometer.results.series_types import FootprintBar
from clonometer.words import axis_words

WHOLE, KERNEL, USER = "whole_each_bytes", "kernel_each_bytes", "user_each_bytes"
#: Parts of the kernel's share, where it is known apart.
KERNEL_PARTS = {
    "kernel_stack_each_bytes": "kernel stack",
    "page_tables_each_bytes": "page tables",
    "slab_each_bytes": "slab",
}


@dataclass(frozen=True)
class Footprint:
    """What one task holds in one cell: the whole, the kernel's share with its parts by name, and its own pages."""

    whole: Evidence | None
    kernel: Evidence | None
    user: Evidence | None
    kernel_parts: Mapping[str, Evidence]


@once_per_book
def footprints_of(book: Book) -> tuple[Footprint, ...]:
    """Gather what tasks hold, for each cell that measured it, in the order of the plan."""
    cells = [cell for cell, rows in book.cells.items() if any(quantity in (WHOLE, KERNEL) for quantity, _ in rows)]
    return tuple(
        Footprint(
            whole=book.find(cell, WHOLE),
            kernel=book.find(cell, KERNEL),
            user=book.find(cell, USER),
            kernel_parts={words: part for key, words in KERNEL_PARTS.items() if (part := book.find(cell, key))},
        )
        for cell in cells
    )


def footprint_bars(book: Book) -> tuple[FootprintBar, ...]:
    """Take the memory of each task apart, a bar for each workload and condition that was measured.

    The kernel's memory is that of its parts where the account tells them, and what remains of it; a part below zero
    (the machine's account differs by what others do) is drawn as nothing.

    In the order of the plan; empty where no footprint was measured.
    """
    return tuple(_bar(book, footprint, footprint.kernel) for footprint in footprints_of(book) if footprint.kernel)


def _bar(book: Book, footprint: Footprint, kernel: Evidence) -> FootprintBar:
    parts = {words: _bytes(part) for words, part in footprint.kernel_parts.items()}
    parts["other kernel memory" if parts else "kernel"] = max((kernel.estimate.value or 0.0) - sum(parts.values()), 0.0)
    if footprint.user is not None:
        parts["own pages"] = _bytes(footprint.user)
    return FootprintBar(_label(book, kernel), {name: size for name, size in parts.items() if size > 0})


def _bytes(row: Evidence) -> float:
    return max(row.estimate.value or 0.0, 0.0)


def _label(book: Book, row: Evidence) -> str:
    changes = book.changes(row.estimate)
    words = [workload_words(row.estimate.workload).thing or row.estimate.workload]
    count = int(row.estimate.condition.get("tasks", 0))
    words += [f"{count:,} at once"] if "tasks" in changes else []
    words += [axis_words(axis, value) for axis, value in changes.items() if axis != "tasks"]
    return ", ".join(words)


SERIES = {"footprints": lambda book, _: footprint_bars(book)}
