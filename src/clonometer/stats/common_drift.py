"""What all that was measured in turn has in common: the machine's own speed, taken off before runs are compared.

Analysis of covariance with the neighbours as covariate [1]_: processes of other kinds that ran just before and after
say how fast the machine was then. Medians throughout, so that a few kinds that did change do not pass for the machine.

References
----------
.. [1] W. G. Cochran, "Analysis of covariance: its nature and uses", Biometrics 13 (1957) 261-281.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clonometer.stats.quantiles import Floats

#: Processes of other kinds that say how fast the machine was, the nearest in time.
NEIGHBOURS = 12
#: With fewer kinds besides its own, one of them that changed may pass for the machine.
LEAST_KINDS = 5
_MAD_TO_SIGMA = 1.4826
_LEAST_SCATTER = 1e-4
#: What makes a row scatter more than this many times as widely within the runs is left as it is: it does not drift with
#: the others.
_MOST_WIDENED = 1.5
#: What scatters by no more than this once evened is evened: a machine at rest has no drift that could be shared, and
#: what is taken off is then but the noise of the neighbours.
_NARROW = 0.05


@dataclass(frozen=True)
class Series:
    """One row of one run.

    Attributes
    ----------
    kind
        What was measured together with it: rows of one kind never say anything of each other's machine.
    starts, logs
        Shape (processes,): when each process started, and the logarithm of its value.
    """

    kind: str
    starts: Floats
    logs: Floats


@dataclass(frozen=True)
class Adjusted:
    """Runs with the machine's speed taken off.

    Attributes
    ----------
    rows
        For each row its logarithms in each run, as `Series.logs`.
    evened
        For each row whether the machine's speed was taken off.
    shift
        How much slower the machine was in the last run than in the first, as a logarithm: the median over kinds of the
        median over their rows. 0.0 where nothing is taken off.
    kinds
        How many kinds it rests on; 0 where there are too few and nothing is taken off.
    """

    rows: tuple[tuple[Floats, ...], ...]
    evened: tuple[bool, ...]
    shift: float
    kinds: int


def take_off_common_drift(rows: Sequence[Sequence[Series]]) -> Adjusted:
    """Take off of two or more runs what their rows have in common at each moment.

    Parameters
    ----------
    rows
        For each row its series in each run, in the same order of runs.

    Returns
    -------
    Adjusted
        Rows as they were where fewer than 6 kinds were measured: what is left without a row's own must be
        `LEAST_KINDS`.

    Notes
    -----
    Of each row its level, the mean of its medians in the runs, is taken off. What is left is the machine's speed at
    the time of each process, and noise: the median over the rows of the process, weighted by 1 / MAD^2, no weight above
    the third. The machine's
    speed for a row is the median of the `NEIGHBOURS` nearest processes of other kinds. It is taken off unless that
    makes the row scatter more widely within the runs; that choice knows nothing of the difference between them.
    """
    kinds = dict.fromkeys(row[0].kind for row in rows)
    plain = tuple(tuple(series.logs for series in row) for row in rows)
    if len(kinds) <= LEAST_KINDS:
        return Adjusted(plain, (False,) * len(plain), 0.0, 0)
    medians = [[float(np.median(series.logs)) for series in row] for row in rows]
    scatters = [max(_LEAST_SCATTER, float(np.mean([_mad(series.logs) for series in row]))) for row in rows]
    levels = [float(np.mean(of_row)) for of_row in medians]
    machines = [_Machine([row[run] for row in rows], levels, scatters) for run in range(len(rows[0]))]
    adjusted = [tuple(machine.taken_off(series) for machine, series in zip(machines, row, strict=True)) for row in rows]
    after = [float(np.mean([_mad(logs) for logs in runs])) for runs in adjusted]
    evened = [scatter <= max(_MOST_WIDENED * before, _NARROW) for scatter, before in zip(after, scatters, strict=True)]
    shifts = [
        float(
            np.median(
                [of_row[-1] - of_row[0] for row, of_row in zip(rows, medians, strict=True) if row[0].kind == kind]
            )
        )
        for kind in kinds
    ]
    kept = tuple(new if better else old for new, better, old in zip(adjusted, evened, plain, strict=True))
    return Adjusted(kept, tuple(evened), float(np.median(shifts)), len(kinds))


class _Machine:
    """One run's processes in order of time, with how much slower than usual each found the machine."""

    def __init__(self, rows: Sequence[Series], levels: Sequence[float], scatters: Sequence[float]) -> None:
        distances: dict[tuple[float, str], list[tuple[float, float]]] = {}
        for series, level, scatter in zip(rows, levels, scatters, strict=True):
            for start, value in zip(series.starts.tolist(), series.logs.tolist(), strict=True):
                distances.setdefault((start, series.kind), []).append((value - level, scatter**-2))
        ordered = sorted(distances)
        self._starts = np.array([start for start, _ in ordered])
        self._kinds = np.array([kind for _, kind in ordered])
        self._slowness = np.array([_weighted_median(distances[key]) for key in ordered])

    def taken_off(self, series: Series) -> Floats:
        others = self._kinds != series.kind
        starts, slowness = self._starts[others], self._slowness[others]
        # The nearest of sorted starts lie within as many places to either side.
        places = np.searchsorted(starts, series.starts)[:, None] + np.arange(-NEIGHBOURS, NEIGHBOURS)
        within: NDArray[np.int64] = np.clip(places, 0, starts.size - 1)
        distances = np.where(places == within, np.abs(starts[within] - series.starts[:, None]), np.inf)
        nearest = np.argsort(distances, axis=1, kind="stable")[:, : min(NEIGHBOURS, starts.size)]
        speeds = np.median(slowness[np.take_along_axis(within, nearest, axis=1)], axis=1)
        return np.asarray(series.logs - speeds, dtype=np.float64)


def _weighted_median(parts: Sequence[tuple[float, float]]) -> float:
    ordered = sorted(parts)
    # No row decides alone, however little it scatters: it may be the one that changed.
    most = sorted((weight for _, weight in parts), reverse=True)[min(2, len(parts) - 1)]
    summed = np.cumsum([min(weight, most) for _, weight in ordered])
    return ordered[int(np.searchsorted(summed, summed[-1] / 2))][0]


def _mad(values: Floats) -> float:
    return float(_MAD_TO_SIGMA * np.median(np.abs(values - np.median(values))))
