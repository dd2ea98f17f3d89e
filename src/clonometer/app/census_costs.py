"""What making a task costs on this machine, in each way that a census may advise: measured once after each boot."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from clonometer.app.measuring import briefly_measured, find_catalogue
from clonometer.errors import ClonometerError
from clonometer.families import census_ways
from clonometer.inputs import parse_json
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.runner.saved_settings import boot_id
from clonometer.user_cache import kept_text
from clonometer.words import STAGE_ORDER

if TYPE_CHECKING:
    from clonometer.plan.types import Catalogue
    from clonometer.runner.drivers import Drivers

#: The second is for ways of which a busy machine let too few processes start for an interval.
_BUDGETS_S = (2.0, 6.0)


def making_costs_ns(progress: Progress = SILENT) -> Mapping[str, tuple[float, float]]:
    """Give what a making costs, in ns, for each way of `census_ways`; what cannot be measured is left out.

    It is the median's 95% interval. An answer that lacks a way is not kept: a busy second would last until the next
    boot.

    Raises
    ------
    KeyboardInterrupt
        The user has had enough.
    """
    try:
        drivers, catalogue = find_catalogue(progress)
        ways = {workload: way for way, workload in census_ways().items() if _is_here(catalogue, workload)}
        text = kept_text(
            f"making-cost-ends-{_key(catalogue)}.json",
            lambda: json.dumps(_measured(ways, partial(_measure, drivers, catalogue, progress))),
            is_worth_keeping=lambda text: len(parse_json(text)) == len(ways),
        )
    except ClonometerError:
        return {}
    return {way: (float(low_ns), float(high_ns)) for way, (low_ns, high_ns) in parse_json(text).items()}


def _key(catalogue: Catalogue) -> str:
    """Tell apart boots, and drivers that measure otherwise."""
    return hashlib.sha256(f"{boot_id()} {json.dumps(catalogue.raw, sort_keys=True)}".encode()).hexdigest()[:16]


def _measured(
    ways: Mapping[str, str], measure: Callable[[Sequence[str], float], Mapping[str, tuple[float, float]]]
) -> dict[str, tuple[float, float]]:
    """Measure the workloads of ways, and once more those without an interval, for longer."""
    costs_ns: dict[str, tuple[float, float]] = {}
    for budget_s in _BUDGETS_S:
        missing = [workload for workload, way in ways.items() if way not in costs_ns]
        if missing:
            costs_ns |= {ways[workload]: ends_ns for workload, ends_ns in measure(missing, budget_s).items()}
    return costs_ns


def _measure(
    drivers: Drivers, catalogue: Catalogue, progress: Progress, workloads: Sequence[str], budget_s: float
) -> dict[str, tuple[float, float]]:
    from clonometer.plan.adhoc import plan_from_arguments
    from clonometer.results.rows.estimates import estimate_cells
    from clonometer.results.rows.observed import observe

    plan = replace(plan_from_arguments(list(workloads), [], catalogue, budget_seconds=budget_s), name="making-costs")
    with briefly_measured(plan, catalogue, drivers, seed=1, progress=progress) as (run, _):
        rows = list(estimate_cells(observe(run), run.document))
    return {
        row.workload: (row.median_low_ns, row.median_high_ns)
        for row in rows
        if row.temperature == "warm"
        and row.stage == STAGE_ORDER[0]
        and row.median_low_ns is not None
        and row.median_high_ns is not None
    }


def _is_here(catalogue: Catalogue, workload: str) -> bool:
    known = catalogue.workloads.get(workload)
    return known is not None and known.available
