"""What CPUID costs here, and with it the start of every program with a C library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clonometer.families.other import CPUID, STEPS, traps
from clonometer.results.audit.types import FINE, NOTE, AuditItem, CpuidCost
from clonometer.results.rows.source import RunSource
from clonometer.units import format_duration

_ID, _TITLE = "cpu.cpuid", "CPUID"
_REMEDY = (
    "Nothing inside a guest can change it. Start fewer programs (use threads, forks or long-lived workers), or build "
    "small helpers statically and without the C library."
)


def cpuid_of(run: RunSource, unavailable: Mapping[str, str | None]) -> CpuidCost:
    """Read the cost from a run that has `CPUID` and `STEPS` cells.

    ``unavailable`` has the workloads that this machine does not have, each with the reason.
    """
    planned = run.document.plan.workload_of
    figures: dict[str, Any] = {}
    for cell in run.cells():
        if planned.get(cell) == CPUID:
            costs = run.columns(cell, ["cpuid_ns"])["cpuid_ns"]
            figures |= {"cost_ns": float(np.median(costs)), "least_ns": float(costs.min())} if costs.size else {}
        elif planned.get(cell) == STEPS:
            columns = run.columns(cell, ["cpuid", "errno"])
            counts = columns["cpuid"][columns["errno"] == 0]
            figures |= {"at_start": int(counts[0])} if counts.size else {}
    return CpuidCost(**figures, reason=next((why for why in unavailable.values() if why), None))


def check_cpuid(cost: CpuidCost) -> list[AuditItem]:
    """Judge it."""
    if cost.cost_ns is None or cost.least_ns is None:
        reason = cost.reason or "it was not measured"
        effect = "Where a hypervisor handles it, each new program pays for dozens of them."
        return [AuditItem(_ID, _TITLE, f"unavailable: {reason}", NOTE, effect, known=False)]
    each = format_duration(cost.cost_ns)
    if not traps(cost.cost_ns):
        return [AuditItem(_ID, _TITLE, f"{each} each", FINE, "The processor executes it itself.")]
    value = f"{each} each (at least {format_duration(cost.least_ns)}): it traps to the hypervisor"
    if cost.at_start is None:
        effect = f"A program with a C library executes dozens as it starts. {_REMEDY}"
    else:
        whole = format_duration(cost.at_start * cost.cost_ns)
        effect = f"A glibc program executes {cost.at_start} as it starts: {whole} in every new program. {_REMEDY}"
    return [AuditItem(_ID, _TITLE, value, NOTE, effect)]
