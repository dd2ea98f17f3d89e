"""Counters as a table, for every view."""

from __future__ import annotations

from collections.abc import Iterator

from clonometer.explain.parts import part_of
from clonometer.explain.types import Counters, Counts
from clonometer.units import format_number
from clonometer.views.table import MISSING, Column, Table
from clonometer.words import stage_name

_LABEL_LEAST = 20
_SUMS = {"user": "all user code", "kernel": "all in the kernel", "all": "everything"}
_HEADS = {
    "cycles": "cycles",
    "instructions": "instr.",
    "cache_misses": "cache miss",
    "branch_misses": "branch miss",
    "tlb_misses": "TLB miss",
    "cpu_clock_ns": "CPU ns",
    "page_faults": "faults",
    "context_switches": "switches",
    "cpu_migrations": "migrations",
    "major_faults": "major faults",
}


def counter_table(counters: Counters) -> Table:
    """Means over launches, in the order of the parts; then stages, user and kernel, and all.

    Instructions per cycle come first where there are any, then what was counted.
    """
    rows = counters.rows
    per_cycle = Column("IPC", [MISSING if row.ipc is None else f"{row.ipc:.2f}" for row in rows], "right")
    return Table(
        [
            Column("", [_label(row) for row in rows], least=_LABEL_LEAST),
            *([] if per_cycle.is_empty else [per_cycle]),
            *(
                Column(_HEADS.get(name, name), [_count(row.values[name]) for row in rows], "right", drop=drop)
                for drop, name in zip(range(len(counters.names), 0, -1), counters.names, strict=True)
            ),
        ]
    )


def not_counted(counters: Counters) -> Iterator[str]:
    """Sentences about what is missing, and how much was scaled."""
    if counters.reason is not None:
        yield f"no {counters.set} counters here: {counters.reason}"
        return
    for why in dict.fromkeys(counters.missing.values()):
        names = ", ".join(name for name, reason in counters.missing.items() if reason == why)
        yield f"not counted: {names}: {why}"
    if counters.running < 0.999:
        yield f"the counters counted {counters.running:.0%} of the time only: counts are scaled up by that"


def _label(row: Counts) -> str:
    if row.kind == "part":
        return part_of(row.id).title
    return f"until {stage_name(row.id)}" if row.kind == "stage" else _SUMS.get(row.id, row.id)


def _count(value: float) -> str:
    if value < 0.005:
        return "0"
    return f"{value:,.0f}" if value >= 1000 else format_number(value)
