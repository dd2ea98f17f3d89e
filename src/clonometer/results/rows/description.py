"""What a group of samples is described by besides its quantiles: spread, drift, warm-up, outliers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clonometer.results.rows.groups import SampleGroup, Totals
from clonometer.results.types import LEAST_EFFECT, Drift, WarmUp
from clonometer.stats.processes import Processes
from clonometer.stats.quantiles import median, median_deviation, quantile_of_ordered, row_medians
from clonometer.stats.rank_sum import MOST_EXACT, two_sided_p
from clonometer.stats.segments import segment_medians
from clonometer.stats.trend import keeps_level, place_of_step

WARM_UP_P = 0.001
WARM_UP_SHARE = 0.05
_LEAST_PROFILE = 10
_LEAST_PROCESSES = 5
_AGREEING = 0.9


def level_change(process_medians: NDArray[Any], starts: NDArray[Any]) -> Drift | None:
    """Say how far processes wandered over the run, where they did not keep their level (`keeps_level`).

    None where they did, where they wandered by less than the least effect that has a verdict, and for fewer than 8
    processes, of which nothing can be said.

    Parameters
    ----------
    process_medians
        Shape (processes,), finite.
    starts
        Shape (processes,): when each started.
    """
    middle = median(process_medians)
    if middle <= 0 or np.ptp(starts) == 0 or keeps_level(process_medians[np.argsort(starts, kind="stable")]):
        return None
    ordered = np.sort(process_medians)
    apart = (quantile_of_ordered(ordered, 0.9) - quantile_of_ordered(ordered, 0.1)) / middle
    return Drift("wandering", apart) if apart >= LEAST_EFFECT else None


def warm_up(values: NDArray[Any], process_starts: NDArray[Any], process_medians: NDArray[Any]) -> WarmUp | None:
    """Find samples at the beginning of processes that are not yet steady.

    None where the first samples are as the rest, differ by less than 5%, or where processes are too short.

    Parameters
    ----------
    values
        Shape (samples,), in the order of measuring.
    process_starts
        Shape (processes,): where each process starts in ``values``.
    process_medians
        Shape (processes,): the median of each process's values.

    Notes
    -----
    Each sample is divided by its process's median; the profile is the median over processes at each place from the
    start (places in up to 40 equal bins). Its step stands where least deviation is left (Bai 1995), and is tested by
    the exact rank sum of both sides, times the places where it could stand (Bonferroni): from 4 of 40 bins on it can be
    seen. Only a step in the first half is a warm-up, and only one that at least 9 in 10 processes show, of 5 or more.
    """
    counts = np.diff(process_starts, append=values.size)
    length = int(median(counts))
    kept = np.flatnonzero(counts >= length)
    if length < _LEAST_PROFILE or kept.size < _LEAST_PROCESSES:
        return None
    medians = process_medians[kept]
    if medians.min() <= 0:
        return None
    rows = values[process_starts[kept][:, None] + np.arange(length)] / medians[:, None]
    edges = np.linspace(0, length, min(length, MOST_EXACT) + 1).astype(int)
    profile = segment_medians(rows.T.ravel(), edges[:-1] * kept.size)
    place = place_of_step(profile)
    steady = median(profile[place:])
    share = median(profile[:place]) / steady - 1 if steady > 0 else 0.0
    if place > profile.size / 2 or abs(share) < WARM_UP_SHARE:
        return None
    before = int(edges[place])
    steps = row_medians(rows[:, :before]) - row_medians(rows[:, before:])
    # A disturbance hits one process; a warm-up is in all of them.
    if (np.sign(steps) == np.sign(share)).mean() < _AGREEING:
        return None
    p = two_sided_p(profile[:place], profile[place:])
    return WarmUp(before, share) if p * (profile.size - 1) < WARM_UP_P else None


def describe(group: SampleGroup, processes: Processes) -> dict[str, Any]:
    """Compute the fields of an `Estimate` that say how its samples of a time, at least one, lie.

    ``processes`` has their medians.
    """
    values = group.values
    fields = _counted(group.totals) if group.totals else _spread(group)
    starts = processes.starts
    fields["drift"] = None if starts is None else level_change(processes.values, starts)
    start = None if group.quantity.signed else warm_up(values, group.process_starts, group.process_medians)
    step = group.totals.step if group.totals else 1
    fields["warm_up"] = None if start is None else replace(start, samples=start.samples * step)
    return fields


def _spread(group: SampleGroup) -> dict[str, Any]:
    counts = np.diff(group.process_starts, append=group.values.size)
    means = np.add.reduceat(group.values, group.process_starts) / counts
    return {
        "min_ns": float(group.ordered[0]),
        "mean_ns": float(np.mean(means)),
        "mad_ns": median_deviation(group.ordered),
    }


def _counted(totals: Totals) -> dict[str, Any]:
    return {
        "min_ns": totals.digest.minimum * totals.scale,
        "mean_ns": sum(totals.means) / len(totals.means),
        "mad_ns": totals.digest.median_deviation() * totals.scale,
        "relative_error": totals.digest.relative_error,
    }
