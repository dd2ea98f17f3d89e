"""Real checks of runs against runs between which nothing changed: each run of the quick plan against the one before.

Takes 21 runs for 20 checks: about 4 minutes. `BENCH_REPETITIONS=3` tries it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from bench.harness import Line, say
from bench.regression import REPETITIONS, drivers_and_plan, measured
from clonometer.results.check.check import check_runs
from clonometer.results.noise.noise import rate_interval
from clonometer.verdicts import Gate

MOST_ALARMS = 1


def run() -> Iterator[Line]:
    drivers, catalogue, plan = drivers_and_plan()
    alarms = 0
    with tempfile.TemporaryDirectory() as folder:
        sides = (
            measured(plan, catalogue, drivers, Path(folder) / f"{number}.parquet", number)
            for number in range(REPETITIONS + 1)
        )
        for number, (before, after) in enumerate(pairwise(sides), 1):
            checked = check_runs(before, after)
            alarms += checked.verdict == Gate.FAIL
            named = [
                f"{row.compared.other.cell} {row.compared.other.stage} {row.compared.change.value:.2f}"
                for row in checked.rows
                if row.verdict == Gate.FAIL
            ]
            moved = "; ".join(f"{shift.of} rows {shift.ratio - 1:+.0%}" for shift in checked.shifts)
            details = ", ".join(named) or "; ".join(checked.reasons)
            print(f"  {number}: {checked.verdict}; {moved}{': ' if details else ''}{details}")
    low, high = rate_interval(alarms, REPETITIONS)
    note = f"{alarms} of {REPETITIONS} checks of A against A alarmed; the share's exact 95% interval"
    yield say(Line("false_alarms.share", alarms / REPETITIONS, low, high, MOST_ALARMS / 20, "share", note))
