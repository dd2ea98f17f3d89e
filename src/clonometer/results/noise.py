"""A machine against itself: how often a check would alarm where nothing changed, and what it would see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from clonometer.errors import InputError
from clonometer.results.check import check_runs
from clonometer.results.checked import REGRESSED, Checked
from clonometer.results.compare import Measured, RowKey, Side, no_ratio_of, seed_of
from clonometer.results.gate import ERROR_RATE, MAX_REGRESSION, MEDIAN_ERROR, detectable_change
from clonometer.results.machine import even_logs
from clonometer.results.noise_types import AgainstItself, Noise, NoiseRow
from clonometer.stats.bootstrap import Processes
from clonometer.stats.quantiles import binomial_cdf

if TYPE_CHECKING:
    from clonometer.stats.quantiles import Floats

_MAD_TO_SIGMA = 1.4826
_LEAST_ROUNDS = 3
_RATE_STEPS = 40


def split_side(side: Side) -> tuple[Side, Side]:
    """Divide a run in two, process by process in the order of their start: A B B A, and so on.

    Parameters
    ----------
    side
        A run with two processes or more in at least one row.

    Returns
    -------
    tuple of Side
        Rows with one process are left out. A drift of the machine falls on both halves alike.
    """
    halves: tuple[dict[str, dict[RowKey, Measured]], dict[str, dict[RowKey, Measured]]] = ({}, {})
    for cell, rows in side.rows.items():
        for key, measured in rows.items():
            size = measured.processes.values.size
            if size < 2:
                continue
            for half, remainders in zip(halves, ((0, 3), (1, 2)), strict=True):
                chosen = [place for place in range(size) if place % 4 in remainders]
                half.setdefault(cell, {})[key] = _part(measured, chosen)
    first, second = (Side(f"{side.name}, {name}", side.metadata, rows) for name, rows in zip("AB", halves, strict=True))
    return first, second


def _part(measured: Measured, chosen: Sequence[int]) -> Measured:
    import numpy as np

    whole = measured.processes
    part = Processes(
        whole.values[list(chosen)],
        None if whole.starts is None else whole.starts[list(chosen)],
        None if whole.blocks is None else tuple(whole.blocks[place] for place in chosen),
    )
    estimate = replace(measured.estimate, n_processes=len(chosen), median_ns=float(np.median(part.values)))
    return Measured(estimate, part)


def measure_noise(
    rounds: Sequence[Side], plan: str, *, max_regression: float = MAX_REGRESSION, error_rate: float = ERROR_RATE
) -> Noise:
    """Learn from rounds of the same plan how noisy a machine is.

    Parameters
    ----------
    rounds
        Runs of one plan, in order of time, each with twice the processes of an ordinary run.
    plan
        Its name.
    max_regression, error_rate
        Of the checks that are tried.

    Returns
    -------
    Noise
        docs/methods.md has the method.

    Raises
    ------
    InputError
        If no row has two processes.
    """
    halves = [split_side(side) for side in rounds]
    if not halves or not any(first.rows for first, _ in halves):
        raise InputError("too little was measured to compare anything", "give it more time, or a smaller --plan")
    options = {"max_regression": max_regression, "error_rate": error_rate}
    # What is detectable is found from all rounds together, below.
    apart = [check_runs(first, second, **options, power=False) for first, second in halves]
    later = [check_runs(before, after, **options, power=False) for (before, _), (after, _) in pairwise(halves)]
    tests = max(checked.n_tests for checked in apart)
    evened = even_logs([_flat(side.rows) for side in rounds])
    rows = [
        _row(
            measured,
            [own.get(_name(cell, key), _logs(side.rows, cell, key)) for own, side in zip(evened, rounds, strict=True)],
            tests=max(tests, 1),
            max_regression=max_regression,
            error_rate=error_rate,
        )
        for cell, own in halves[0][0].rows.items()
        for key, measured in own.items()
        if measured.is_time and no_ratio_of(measured.processes) is None
    ]
    return Noise(
        plan=plan,
        rounds=len(rounds),
        interleaved=_against_itself(apart),
        in_a_row=_against_itself(later) if later else None,
        rows=tuple(rows),
        max_regression=max_regression,
        error_rate=error_rate,
        n_tests=tests,
    )


def _against_itself(checks: Sequence[Checked]) -> AgainstItself:
    alarmed = [checked for checked in checks if checked.count(REGRESSED)]
    rows = dict.fromkeys(
        f"{row.compared.other.cell} {row.compared.other.stage or row.compared.other.quantity}"
        for checked in alarmed
        for row in checked.rows
        if row.verdict == REGRESSED
    )
    low, high = rate_interval(len(alarmed), len(checks))
    return AgainstItself(len(checks), len(alarmed), low, high, tuple(rows))


def rate_interval(events: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Exact interval of a rate (C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413).

    Parameters
    ----------
    events, trials
        How often it happened, and how often it could have; at least one trial.
    confidence
        Coverage, at least.

    Returns
    -------
    tuple of float
        Between 0 and 1.

    Examples
    --------
    >>> [round(end, 3) for end in rate_interval(0, 20)]
    [0.0, 0.168]
    """
    tail = (1 - confidence) / 2

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


def _row(
    measured: Measured, rounds: Sequence[Floats | None], *, tests: int, max_regression: float, error_rate: float
) -> NoiseRow:
    import numpy as np

    logs = [one for one in rounds if one is not None]
    centres = np.array([np.median(one) for one in logs])
    residuals = np.concatenate([one - centre for one, centre in zip(logs, centres, strict=True)])
    spread = float(_MAD_TO_SIGMA * np.median(np.abs(residuals)))
    shifts = _shifts(centres, logs) if len(logs) >= _LEAST_ROUNDS else np.zeros(1)
    size = measured.processes.values.size
    return NoiseRow(
        estimate=measured.estimate,
        spread=spread,
        between=float(np.std(shifts)) if len(logs) >= _LEAST_ROUNDS else None,
        detectable=None
        if measured.estimate.is_first_launch
        else detectable_change(
            np.exp(residuals),
            (size, size),
            tests=tests,
            seed=seed_of(measured.estimate, measured.estimate),
            max_regression=max_regression,
            error_rate=error_rate,
            shifts=shifts,
        ),
    )


def _name(cell: str, key: RowKey) -> str:
    return f"{cell} {key}"


def _flat(rows: Mapping[str, Mapping[RowKey, Measured]]) -> dict[str, Measured]:
    return {_name(cell, key): measured for cell, own in rows.items() for key, measured in own.items()}


def _logs(rows: Mapping[str, Mapping[RowKey, Measured]], cell: str, key: RowKey) -> Floats | None:
    import numpy as np

    measured = rows.get(cell, {}).get(key)
    if measured is None or no_ratio_of(measured.processes) is not None:
        return None
    return np.asarray(np.log(measured.processes.values), dtype=np.float64)


def _shifts(centres: Floats, logs: Sequence[Floats]) -> Floats:
    """How far rounds are apart, shrunk by what the scatter of their processes explains."""
    import numpy as np

    shifts = centres - np.mean(centres)
    total = float(np.var(shifts, ddof=1))
    errors = [
        (MEDIAN_ERROR * _MAD_TO_SIGMA * float(np.median(np.abs(one - np.median(one))))) ** 2 / one.size for one in logs
    ]
    beyond = max(0.0, total - float(np.mean(errors)))
    return np.asarray(shifts * (beyond / total) ** 0.5 if total > 0 else shifts, dtype=np.float64)
