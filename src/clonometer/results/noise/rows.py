"""The noise of each row from rounds of one plan: its scatter, how far rounds are apart, what a check would see."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from clonometer.results.check.gate import MEDIAN_ERROR
from clonometer.results.check.lower_decile import decile_error, fast_logs, fast_part, has_decile, lower_decile
from clonometer.results.check.machine import common_levels, even_logs
from clonometer.results.check.power import detectable_change
from clonometer.results.noise.types import NoiseRow
from clonometer.results.rows.evidence import Book, Evidence
from clonometer.results.rows.ratio import no_ratio_of, seed_of
from clonometer.stats.serial import serial_inflations

if TYPE_CHECKING:
    from clonometer.stats.quantiles import Floats

Name = tuple[str, str, str | None]

_MAD_TO_SIGMA = 1.4826
_LEAST_ROUNDS = 3


def noise_rows(
    rounds: Sequence[Book], half: Book, *, tests: int, max_regression: float, error_rate: float
) -> tuple[NoiseRow, ...]:
    """Find the noise of every row.

    Parameters
    ----------
    rounds
        Runs of one plan, in order of time.
    half
        A run of ordinary length, which says what is compared and with how many processes.
    tests, max_regression, error_rate
        Of the checks whose power is told.

    Returns
    -------
    tuple of NoiseRow
        One for each row of times of ``half``.
    """
    named = {(row.cell, *row.key): row for row in half.rows if no_ratio_of(row) is None}
    medians = _median_logs(rounds, named)
    fast = _fast_logs(rounds, named)
    # As a check does: how alike neighbours in time are is asked of what is compared, one row of a cell for all.
    series = [[fast_part(logs) for logs in fast[name]] if name in fast else medians[name] for name in named]
    cells = {name[0]: place for place, name in enumerate(named)}
    inflations = serial_inflations(series, list(cells.values()))
    return tuple(
        _row(
            measured,
            medians[name],
            fast.get(name),
            tests=tests,
            max_regression=max_regression,
            error_rate=error_rate,
            inflation=inflation,
        )
        for (name, measured), inflation in zip(named.items(), inflations, strict=True)
    )


def _row(
    measured: Evidence,
    medians: Sequence[Floats],
    fast: Sequence[Floats] | None,
    *,
    tests: int,
    max_regression: float,
    error_rate: float,
    inflation: float,
) -> NoiseRow:
    import numpy as np

    estimate, size = measured.estimate, measured.processes.values.size
    shifts, residuals = _apart(medians, _median, _median_error)
    spread = _spread(residuals)
    if fast is not None:
        shifts, residuals = _apart(fast, lower_decile, decile_error)
    change = detectable_change(
        residuals,
        (size, size),
        decile=fast is not None,
        tests=tests,
        seed=seed_of(measured, measured),
        max_regression=max_regression,
        error_rate=error_rate,
        shifts=shifts,
        inflation=inflation,
    )
    return NoiseRow(
        estimate=estimate,
        spread=spread,
        between=float(np.std(shifts)) if len(medians) >= _LEAST_ROUNDS else None,
        detectable=None if estimate.is_first_launch else change,
    )


def _median_logs(rounds: Sequence[Book], names: Mapping[Name, Evidence]) -> dict[Name, list[Floats]]:
    """Logarithms of process medians in each round that has them, the machine's speed taken off where it is known."""
    import numpy as np

    evened = even_logs([{name: row for name in names if (row := _find(side, name)) is not None} for side in rounds])
    logs: dict[Name, list[Floats]] = {}
    for name in names:
        of_rounds = [(even.get(name), _find(side, name)) for even, side in zip(evened, rounds, strict=True)]
        logs[name] = [
            np.asarray(np.log(measured.processes.values)) if even is None else even
            for even, measured in of_rounds
            if measured is not None and no_ratio_of(measured) is None
        ]
    return logs


def _fast_logs(rounds: Sequence[Book], names: Mapping[Name, Evidence]) -> dict[Name, list[Floats]]:
    """What is compared of rows of many processes in each round, the machine's speed in each round taken off."""
    rows = {name: [_find(side, name) for side in rounds] for name in names}
    known = {
        name: [row for row in of_rounds if row is not None] for name, of_rounds in rows.items() if None not in of_rounds
    }
    levels, _ = common_levels(list(zip(*known.values(), strict=True)))
    return {
        name: [fast_logs(row) - level for row, level in zip(of_rounds, levels, strict=True)]
        for name, of_rounds in known.items()
        if has_decile(names[name]) and all(has_decile(row) for row in of_rounds)
    }


def _find(side: Book, name: Name) -> Evidence | None:
    cell, quantity, placement = name
    return side.cells.get(cell, {}).get((quantity, placement))


def _median(logs: Floats) -> float:
    import numpy as np

    return float(np.median(logs))


def _spread(residuals: Floats) -> float:
    import numpy as np

    return float(_MAD_TO_SIGMA * np.median(np.abs(residuals)))


def _median_error(logs: Floats) -> float:
    return float(MEDIAN_ERROR * _spread(logs - _median(logs)) / logs.size**0.5)


def _apart(
    logs: Sequence[Floats], level: Callable[[Floats], float], error: Callable[[Floats], float]
) -> tuple[Floats, Floats]:
    """How far rounds are apart, less what the scatter of their processes explains; and all processes about them."""
    import numpy as np

    centres = np.array([level(values) for values in logs])
    residuals = np.concatenate([values - centre for values, centre in zip(logs, centres, strict=True)])
    if len(logs) < _LEAST_ROUNDS:
        return np.zeros(1), residuals
    shifts = centres - np.mean(centres)
    total = float(np.var(shifts, ddof=1))
    beyond = max(0.0, total - float(np.mean([error(values) ** 2 for values in logs])))
    return np.asarray(shifts * (beyond / total) ** 0.5 if total > 0 else shifts, dtype=np.float64), residuals
