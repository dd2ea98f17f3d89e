"""What idle tasks hold, taken apart: the parts of each task's memory, to say and to draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clonometer.families import workload_words
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates, cached_per_run
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

    whole: RunEstimate | None
    kernel: RunEstimate | None
    user: RunEstimate | None
    kernel_parts: Mapping[str, RunEstimate]


@cached_per_run
def footprints_of(estimates: RunEstimates) -> tuple[Footprint, ...]:
    """Gather what tasks hold, for each cell that measured it, in the order of the plan."""
    cells = [cell for cell, rows in estimates.cells.items() if any(quantity in (WHOLE, KERNEL) for quantity, _ in rows)]
    return tuple(
        Footprint(
            whole=estimates.find(cell, WHOLE),
            kernel=estimates.find(cell, KERNEL),
            user=estimates.find(cell, USER),
            kernel_parts={words: part for key, words in KERNEL_PARTS.items() if (part := estimates.find(cell, key))},
        )
        for cell in cells
    )


def footprint_bars(estimates: RunEstimates) -> tuple[FootprintBar, ...]:
    """Take the memory of each task apart, a bar for each workload and condition that was measured.

    The kernel's memory is that of its parts where the account tells them, and what remains of it; a part below zero
    (the machine's account differs by what others do) is drawn as nothing.

    In the order of the plan; empty where no footprint was measured.
    """
    return tuple(
        _bar(estimates, footprint, footprint.kernel) for footprint in footprints_of(estimates) if footprint.kernel
    )


def _bar(estimates: RunEstimates, footprint: Footprint, kernel: RunEstimate) -> FootprintBar:
    parts = {words: _bytes(part) for words, part in footprint.kernel_parts.items()}
    parts["other kernel memory" if parts else "kernel"] = max((kernel.value or 0.0) - sum(parts.values()), 0.0)
    if footprint.user is not None:
        parts["own pages"] = _bytes(footprint.user)
    return FootprintBar(_label(estimates, kernel), {name: size for name, size in parts.items() if size > 0})


def _bytes(row: RunEstimate) -> float:
    return max(row.value or 0.0, 0.0)


def _label(estimates: RunEstimates, row: RunEstimate) -> str:
    changes = estimates.changes(row)
    words = [workload_words(row.workload).thing or row.workload]
    count = int(row.condition.get("tasks", 0))
    words += [f"{count:,} at once"] if "tasks" in changes else []
    words += [axis_words(axis, value) for axis, value in changes.items() if axis != "tasks"]
    return ", ".join(words)


SERIES = {"footprints": lambda estimates, _: footprint_bars(estimates)}
