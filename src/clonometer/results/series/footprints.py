"""What idle tasks hold, taken apart: the parts of each task's memory, ready to draw."""

from __future__ import annotations

from clonometer.results.rows.evidence import Book, Evidence
from clonometer.results.series.types import FootprintBar
from clonometer.words import axis_words

WHOLE, KERNEL, USER = "whole_each_bytes", "kernel_each_bytes", "user_each_bytes"
#: Parts of the kernel's share, where it is known apart.
KERNEL_PARTS = {
    "kernel_stack_each_bytes": "kernel stack",
    "page_tables_each_bytes": "page tables",
    "slab_each_bytes": "slab",
}
_NAMES = {"process": "process", "thread": "thread"}


def footprint_bars(book: Book) -> tuple[FootprintBar, ...]:
    """Take the memory of each task apart, a bar for each workload and condition that was measured.

    The kernel's memory is that of its parts where the account tells them, and what remains of it; a part below zero
    (the machine's account differs by what others do) is drawn as nothing.

    Returns
    -------
    tuple of FootprintBar
        In the order of the plan; empty where no footprint was measured.
    """
    bars = []
    for row in book.sizes:
        one = row.estimate
        if one.quantity != KERNEL:
            continue
        user = book.size(row, USER)
        parts = {
            name: found for key, name in KERNEL_PARTS.items() if (found := _value(book.size(row, key))) is not None
        }
        rest = max((one.value or 0.0) - sum(parts.values()), 0.0)
        parts["other kernel memory" if parts else "kernel"] = rest
        own = _value(user)
        if own is not None:
            parts["own pages"] = own
        bars.append(
            FootprintBar(
                label=_label(book, row),
                cell=one.cell,
                workload=one.workload,
                parts_bytes={name: size for name, size in parts.items() if size > 0},
            )
        )
    return tuple(bars)


def _value(row: Evidence | None) -> float | None:
    return None if row is None or row.estimate.value is None else max(row.estimate.value, 0.0)


def _label(book: Book, row: Evidence) -> str:
    changes = book.changes(row.estimate)
    words = [_NAMES.get(row.estimate.workload.rpartition(".")[2], row.estimate.workload)]
    count = int(row.estimate.condition.get("tasks", 0))
    words += [f"{count:,} at once"] if "tasks" in changes else []
    words += [axis_words(axis, value) for axis, value in changes.items() if axis != "tasks"]
    return ", ".join(words)
