"""The noise of each row from rounds of one plan: its scatter, how far rounds are apart, what a check would see."""

from __future__ import annotations

import math
from collections.abc import Sequence

from clonometer.results.check.check import ERROR_RATE
from clonometer.results.compare.between import MEDIAN_ERROR, between_runs, find_row, spread_of
from clonometer.results.compare.judge import LEAST_PROCESSES, POWER
from clonometer.results.compare.variance import LEAST_RUNS
from clonometer.results.noise.types import NoiseRow
from clonometer.results.rows.ratio import no_ratio_of
from clonometer.results.rows.run_estimates import RunEstimates
from clonometer.stats.changes import LogChange


def noise_rows(
    rounds: Sequence[RunEstimates], half: RunEstimates, *, tests: int, max_regression: float
) -> tuple[tuple[NoiseRow, ...], float | None]:
    """Find the noise of every row, and that of all rows together.

    ``half`` is a run of ordinary length, which says what is compared and with how many processes. The rest is of
    the checks whose power is told.

    Returns
    -------
    rows
        One for each row of times of ``half``.
    common
        The standard deviation of what all rows of a round have in common, as a share; None with fewer than three
        rounds, or with one kind of process.
    """
    apart = between_runs([rounds]) if len(rounds) >= LEAST_RUNS else None
    rows = []
    for measured in (row for row in half.rows if no_ratio_of(row) is None):
        name, estimate = measured.name, measured
        spread = spread_of([row for side in rounds if (row := find_row(side, name)) is not None])
        between = None if apart is None else apart.rows.get(name)
        processes = measured.processes.values.size
        smallest = None
        if apart is not None and between is not None and not estimate.is_first_launch and processes >= LEAST_PROCESSES:
            error = math.sqrt(2 / processes) * MEDIAN_ERROR * spread
            change = LogChange(0.0, error, error, math.sqrt(2) * between, max(1, processes - 1), apart.degrees[False])
            smallest = max(max_regression, math.expm1(change.needed(ERROR_RATE / max(tests, 1), POWER)))
        rows.append(NoiseRow(estimate, spread, between, smallest))
    return tuple(rows), None if apart is None else apart.common
