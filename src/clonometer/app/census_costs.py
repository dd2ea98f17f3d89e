"""What making a task costs on this machine, in each way that a census may advise: measured once after each boot."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clonometer.app.measuring import briefly_measured, find_catalogue
from clonometer.errors import ClonometerError
from clonometer.families import census_ways
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.user_cache import kept_text
from clonometer.words import STAGE_ORDER

if TYPE_CHECKING:
    from clonometer.plan.types import Catalogue
    from clonometer.runner.drivers import Drivers

_BUDGET_S = 2.0
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def making_costs_ns(progress: Progress = SILENT) -> Mapping[str, tuple[float, float]]:
    """Give what a making costs, in ns, for each way of `census_ways`; what cannot be measured is left out.

    It is the median's 95% interval.

    Raises
    ------
    KeyboardInterrupt
        The user has had enough.
    """
    try:
        drivers, catalogue = find_catalogue(progress)
        text = kept_text(
            f"making-cost-ends-{_key(catalogue)}.json", lambda: json.dumps(_measure(drivers, catalogue, progress))
        )
    except ClonometerError:
        return {}
    return {way: (float(low_ns), float(high_ns)) for way, (low_ns, high_ns) in json.loads(text).items()}


def _key(catalogue: Catalogue) -> str:
    """Tell apart boots, and drivers that measure otherwise."""
    try:
        boot = _BOOT.read_text()
    except OSError:
        boot = ""
    return hashlib.sha256(f"{boot} {json.dumps(catalogue.raw, sort_keys=True)}".encode()).hexdigest()[:16]


def _measure(drivers: Drivers, catalogue: Catalogue, progress: Progress) -> dict[str, tuple[float, float]]:
    from clonometer.plan.adhoc import plan_from_arguments
    from clonometer.results.rows.estimates import estimate_cells
    from clonometer.results.rows.observed import observe

    ways = {workload: way for way, workload in census_ways().items() if _is_here(catalogue, workload)}
    if not ways:
        return {}
    plan = replace(plan_from_arguments(list(ways), [], catalogue, budget_seconds=_BUDGET_S), name="making-costs")
    with briefly_measured(plan, catalogue, drivers, seed=1, progress=progress) as (run, _):
        rows = list(estimate_cells(observe(run), run.document))
    return {
        ways[row.workload]: (row.median_low_ns, row.median_high_ns)
        for row in rows
        if row.temperature == "warm"
        and row.stage == STAGE_ORDER[0]
        and row.median_low_ns is not None
        and row.median_high_ns is not None
    }


def _is_here(catalogue: Catalogue, workload: str) -> bool:
    known = catalogue.workloads.get(workload)
    return known is not None and known.available
