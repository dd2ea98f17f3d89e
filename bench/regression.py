"""A slow-down of 25% that was put in is found: real checks against a run whose children spin before they exit.

Takes `REPETITIONS` baselines and as many slowed runs of the quick plan: about 7 minutes for 20. `BENCH_REPETITIONS=3`
tries it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench.harness import Line, say
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.planfile import load_plan
from clonometer.plan.types import Catalogue, Plan
from clonometer.results.check.check import check_runs
from clonometer.results.check.types import CheckedRow
from clonometer.results.compare.sides import read_side
from clonometer.results.rows.run_estimates import RunEstimates
from clonometer.results.schedule.stopping import TargetScheduler, timed_quantities
from clonometer.runfile import open_run
from clonometer.runner.drivers import Drivers, find_drivers
from clonometer.runner.run import run as measure
from clonometer.verdicts import Gate

REPETITIONS = int(os.environ.get("BENCH_REPETITIONS", "20"))
SLOW_DOWN = 0.25
DETECTABLE = 0.25
MOST_MISSED = 0.05
LEAST_CELLS = 0.5
SPIN = "child_spin_ns"


def drivers_and_plan() -> tuple[Drivers, Catalogue, Plan]:
    drivers = find_drivers()
    catalogue = read_catalogue(drivers.descriptions)
    return drivers, catalogue, load_plan("quick", catalogue)


def measured(plan: Plan, catalogue: Catalogue, drivers: Drivers, out: Path, seed: int) -> RunEstimates:
    """One run of a plan, as `clonometer run` makes it."""
    scheduler = TargetScheduler(
        seed, plan.budget_seconds, timed_quantities(catalogue), target_width=plan.target_width, stretch=1.5
    )
    measure(plan, catalogue, drivers, out=out, seed=seed, scheduler=scheduler, force=True)
    with open_run(out) as opened:
        return read_side(opened, out.stem)


def reaped_ns(side: RunEstimates) -> dict[str, float]:
    """The median of `reaped` of every cell; where tasks ran in two places, of the place with more samples."""
    medians_ns: dict[str, float] = {}
    for cell, rows in side.cells.items():
        estimates = [estimate for estimate in rows.values() if estimate.stage == "reaped"]
        if estimates:
            medians_ns[cell] = max(estimates, key=lambda estimate: estimate.n_samples).median_ns or 0.0
    return medians_ns


def slowed(plan: Plan, baseline: RunEstimates) -> Plan:
    """The plan with a child that spins a quarter of what its own warm launch took."""
    times = reaped_ns(baseline)
    targets = []
    for target in plan.targets:
        warm = [times[cell.text] for cell in target.cells if cell.temperature == "warm" and cell.text in times]
        spins = SPIN in target.condition and bool(warm)
        options = {**target.options, SPIN: round(SLOW_DOWN * warm[0])} if spins else target.options
        targets.append(replace(target, options=options))
    return replace(plan, targets=tuple(targets))


def injected_ns(plan: Plan) -> dict[str, int]:
    """What was put into each warm cell."""
    return {
        cell.text: int(target.options[SPIN])
        for target in plan.targets
        for cell in target.cells
        if SPIN in target.options and cell.temperature == "warm"
    }


def judged(rows: Sequence[CheckedRow], spins: Mapping[str, int]) -> list[CheckedRow]:
    """The rows that the slow-down was put into and that say they detect it: `reaped` of warm launches.

    The delay was a quarter of the baseline's launch; on a machine that was slower since it is less.
    """
    kept = []
    for row in rows:
        spin_ns, median_ns = spins.get(row.compared.other.cell), row.compared.other.median_ns
        if row.compared.base.stage != "reaped" or not spin_ns or not median_ns or row.detectable is None:
            continue
        share = spin_ns / (median_ns - spin_ns)
        if row.detectable <= min(DETECTABLE, share):
            kept.append(row)
    return kept


def whole_rows(rows: Sequence[CheckedRow]) -> list[CheckedRow]:
    """One row a cell: the last stage of a launch or wake, which contains the others, or what is no stage."""
    last: dict[tuple[str, str | None], CheckedRow] = {}
    for row in rows:
        base = row.compared.base
        if base.stage in ("reaped", None):
            last[base.cell, base.placement] = row
    return list(last.values())


def detectable_words(rows: Sequence[CheckedRow]) -> str:
    """The detectable change of each row, sorted."""
    known = sorted(row.detectable for row in rows if row.detectable is not None)
    return ", ".join(f"{change:.0%}" for change in known) + (f" and {len(rows) - len(known)} none" if known else "none")


def run() -> Iterator[Line]:
    drivers, catalogue, plan = drivers_and_plan()
    expected = missed = 0
    seen = cell_count = 0
    with tempfile.TemporaryDirectory() as folder:
        for repetition in range(REPETITIONS):
            base = measured(plan, catalogue, drivers, Path(folder) / "base.parquet", 2 * repetition)
            slower = slowed(plan, base)
            slow = measured(slower, catalogue, drivers, Path(folder) / "slow.parquet", 2 * repetition + 1)
            checked = check_runs(base, slow)
            warm = judged(checked.rows, injected_ns(slower))
            missed += sum(row.verdict != Gate.FAIL for row in warm)
            expected += len(warm)
            cells = whole_rows(checked.rows)
            seen += sum(row.detectable is not None and row.detectable <= DETECTABLE for row in cells)
            cell_count += len(cells)
            print(
                f"  {repetition + 1}: {checked.verdict}; {len(warm)} warm cells detect 25%, "
                f"{sum(row.verdict == Gate.FAIL for row in warm)} of them alarm; detectable: {detectable_words(cells)}"
            )
    share = missed / expected if expected else 1.0
    note = f"{missed} of {expected} slow-downs of 25% in cells that detect it"
    yield say(Line("regression.missed", share, share, share, MOST_MISSED, "share", note))
    blind = 1 - seen / cell_count if cell_count else 1.0
    note = f"of {cell_count} cells of quick plans whose detectable change is above 25%"
    yield say(Line("regression.blind", blind, blind, blind, LEAST_CELLS, "share", note))
