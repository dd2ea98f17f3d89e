"""A machine against itself: how often a check would alarm where nothing changed, and what it would see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from clonometer.errors import InputError
from clonometer.results.check.check import ERROR_RATE, MAX_REGRESSION, check_runs
from clonometer.results.check.types import Checked
from clonometer.results.compare.variance import NO_VARIANCE
from clonometer.results.noise.rows import noise_rows
from clonometer.results.noise.types import AgainstItself, Noise
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.stats.interval import CONFIDENCE
from clonometer.stats.quantiles import binomial_cdf, median
from clonometer.verdicts import Gate

_RATE_STEPS = 40


def split_side(side: RunEstimates) -> tuple[RunEstimates, RunEstimates]:
    """Divide a run in two, process by process in the order of their start: A B B A, and so on.

    Rows with one process are left out. A drift of the machine falls on both halves alike.
    """
    rows = [row for row in side.all_rows if row.processes.values.size > 1]
    first, second = (
        side.with_rows((_part(row, remainders) for row in rows), f"{side.name}, {name}")
        for name, remainders in (("A", (0, 3)), ("B", (1, 2)))
    )
    return first, second


def _part(row: RunEstimate, remainders: Sequence[int]) -> RunEstimate:
    """The processes whose place, divided by 4, leaves one of these remainders."""
    part = row.processes.at([index for index in range(row.processes.values.size) if index % 4 in remainders])
    return replace(row, processes=part, n_processes=part.values.size, median_ns=median(part.values))


def measure_noise(rounds: Sequence[RunEstimates], plan: str, *, max_regression: float = MAX_REGRESSION) -> Noise:
    """Learn from rounds of the same plan how noisy a machine is.

    The rounds are in order of time, each with twice the processes of an ordinary run.

    docs/comparing.md has the method.

    Raises
    ------
    InputError
        If no row has two processes.
    """
    halves = [split_side(side) for side in rounds]
    if not halves or not any(first.all_rows for first, _ in halves):
        raise InputError("too little was measured to compare anything", "give it more time, or a smaller --plan")
    apart = [check_runs(*half, max_regression=max_regression, variance=NO_VARIANCE) for half in halves]
    later = [check_runs(before, after, max_regression=max_regression) for (before, _), (after, _) in pairwise(halves)]
    tests = max(checked.n_tests for checked in apart)
    rows, common = noise_rows(rounds, halves[0][0], tests=tests, max_regression=max_regression)
    return Noise(
        plan=plan,
        rounds=len(rounds),
        interleaved=_against_itself(apart),
        in_a_row=_against_itself(later) if later else None,
        rows=rows,
        common=common,
        max_regression=max_regression,
        error_rate=ERROR_RATE,
        n_tests=tests,
    )


def _against_itself(checks: Sequence[Checked]) -> AgainstItself:
    alarmed = [checked for checked in checks if checked.count(Gate.FAIL)]
    rows = dict.fromkeys(
        f"{row.compared.other.cell} {row.compared.other.stage or row.compared.other.quantity}"
        for checked in alarmed
        for row in checked.rows
        if row.verdict == Gate.FAIL
    )
    low, high = rate_interval(len(alarmed), len(checks))
    return AgainstItself(len(checks), len(alarmed), low, high, tuple(rows))


def rate_interval(events: int, trials: int) -> tuple[float, float]:
    """Exact 95% interval of a rate (C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413).

    Examples
    --------
    >>> [round(end, 3) for end in rate_interval(0, 20)]
    [0.0, 0.168]
    """
    tail = (1 - CONFIDENCE) / 2

    def bisect(most: int, wanted: float) -> float:
        """Find the rate at which at most ``most`` events have the probability ``wanted``."""
        low, high = 0.0, 1.0
        for _ in range(_RATE_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if binomial_cdf(trials, middle)[most] > wanted else (low, middle)
        return high

    return (
        0.0 if events == 0 else bisect(events - 1, 1 - tail),
        1.0 if events == trials else bisect(events, tail),
    )
