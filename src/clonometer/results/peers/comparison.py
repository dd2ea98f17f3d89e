"""Peers: what each measures and how, Clonometer configured alike, and how far apart the two are.

Peers use the same words for different things: "fork" until the call returns, until the child runs, or until it is
reaped; the mean, the best batch or a rate; bound lazily or at once. Each row takes the cell, the stage and the
statistic that a peer means; what is left between it and us then has a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clonometer.results.change import Change
from clonometer.results.peers.configurations import CONFIGURATIONS, PeerConfiguration
from clonometer.results.peers.rows import PeerFigure, PeerRow
from clonometer.results.rows.groups import failed_launches
from clonometer.results.rows.ratio import change_of
from clonometer.results.rows.source import RunSource, null_mask
from clonometer.stats.processes import Processes
from clonometer.stats.quantiles import quantile_interval
from clonometer.stats.rank_sum import ratio_interval
from clonometer.verdicts import Direction

ALIKE = (0.8, 1.25)


def compare_peers(
    run: RunSource,
    figures: Mapping[str, Sequence[tuple[float, float]]],
    absent: Mapping[str, tuple[str, str | None]],
    seed: int,
) -> list[PeerRow]:
    """Set the peers' figures beside ours.

    Parameters
    ----------
    figures
        Figure id -> pairs of when (ns, on the clock of the processes' ``started_ns``) and how long (ns).
    absent
        Figure id -> why there is none: ``not installed``, ``unavailable`` or ``failed``, and the reason.
    """
    present = set(run.cells())
    starts = run.document.started_ns
    ours: dict[tuple[str, str, str, int], Processes | None] = {}
    rows = []
    for configuration in CONFIGURATIONS:
        key = (configuration.cell, configuration.column, configuration.statistic, configuration.times)
        if key not in ours:
            ours[key] = _ours(run, configuration, starts) if configuration.cell in present else None
        rows.append(_compare(configuration, ours[key], figures.get(configuration.id, ()), absent, seed))
    return rows


def _compare(
    configuration: PeerConfiguration,
    ours: Processes | None,
    figure: Sequence[tuple[float, float]],
    absent: Mapping[str, tuple[str, str | None]],
    seed: int,
) -> PeerRow:
    theirs = Processes.of([value for _, value in figure], [when for when, _ in figure]) if figure else None
    change = Change(base=_figure(ours), other=_figure(theirs))
    if theirs is None:
        if configuration.id.startswith("clonometer."):
            return PeerRow(configuration, "measured", change)
        status, why = absent.get(configuration.id, ("not run", None))
        return PeerRow(configuration, status, change, why)
    if ours is None or ours.values.min() <= 0:
        return PeerRow(configuration, "measured", change, "Clonometer's cell was not measured")
    ratio = ratio_interval(theirs.values, ours.values)
    change = replace(change_of(*change.sides[::-1], ratio), direction=_direction(ratio.low, ratio.high))
    why = None if change.direction == Direction.EQUAL else configuration.why
    return PeerRow(configuration, "measured", change, why)


def _figure(processes: Processes | None) -> PeerFigure:
    if processes is None:
        return PeerFigure()
    return PeerFigure(*quantile_interval(processes.values).ends, int(processes.values.size))


def _direction(low: float, high: float) -> Direction:
    if ALIKE[0] <= low and high <= ALIKE[1]:
        return Direction.EQUAL
    if low <= ALIKE[1] and high >= ALIKE[0]:
        return Direction.UNKNOWN
    return Direction.of(low - 1)


def _ours(run: RunSource, configuration: PeerConfiguration, starts: Mapping[int, float]) -> Processes | None:
    """Our figure of each process, by the peer's statistic."""
    names = [configuration.column, "process", "block", "start_ns", "errno"]
    columns = run.columns(configuration.cell, [name for name in names if name in _columns_of(run)])
    values = columns[configuration.column]
    usable = ~null_mask(values) & (values >= 0) & ~failed_launches(columns)
    if not usable.any():
        return None
    process, block = columns["process"][usable], columns["block"][usable]
    began = columns["start_ns"][usable] if "start_ns" in columns else None
    figures, when = [], []
    for number in np.unique(process):
        of_process = process == number
        blocks = [of_process & (block == index) for index in np.unique(block[of_process])]
        figure = _statistic(configuration.statistic, values[usable].astype(np.float64), began, blocks)
        if figure is not None:
            figures.append(figure * configuration.times)
            when.append(starts.get(int(number), 0.0))
    return Processes.of(figures, when) if figures else None


def _columns_of(run: RunSource) -> set[str]:
    return {"process", "block", *run.document.columns}


def _statistic(
    name: str,
    values: NDArray[np.float64],
    began: NDArray[Any] | None,
    blocks: Sequence[NDArray[np.bool_]],
) -> float | None:
    """One process's figure in ns: ``rate`` is the mean distance of starts within blocks."""
    all_values = np.concatenate([values[block] for block in blocks])
    if name == "best batch":
        return min(float(values[block].mean()) for block in blocks)
    if name == "median":
        return float(np.median(all_values))
    if name == "rate" and began is not None:
        gaps = [np.diff(began[block].astype(np.float64)) for block in blocks]
        together = np.concatenate(gaps)
        return float(together.mean()) if together.size else None
    return float(all_values.mean())
