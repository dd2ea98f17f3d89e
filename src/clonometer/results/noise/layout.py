"""How much of a row's scatter between processes comes from layouts of memory that are drawn for each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from clonometer.grouping import group_by
from clonometer.results.noise.types import LayoutRow, Layouts
from clonometer.results.rows.estimates import estimate_cells
from clonometer.results.rows.observed import observe
from clonometer.results.rows.ratio import no_ratio_of
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.results.rows.source import RunSource
from clonometer.stats.quantiles import Floats, median
from clonometer.stats.rank_sum import shift_interval

#: All pairs of one kind are compared with all of the other: more would take gigabytes, and add nothing.
MOST_PAIRS = 1000
#: The median distance of two normal values, in their standard deviations.
_DISTANCE = math.sqrt(2) * 0.6744897501960817


def find_layouts(run: RunSource) -> Layouts:
    """Learn it from a run in which half of the processes have one layout two by two (`LayoutHooks`).

    docs/comparing.md has the method.
    """
    pairs = {entry.process: entry.pair for entry in run.document.processes}
    rows = (
        _row(row, pairs)
        for row in estimate_cells(observe(run), run.document, described=False)
        if row.is_time
        and row.n_samples
        and no_ratio_of(row) is None
        # A stage that only explains another would be a test for nothing.
        and not (row.detail and row.stage is not None)
    )
    setting = run.document.host.get("kernel.randomize_va_space")
    draws = setting > 0 if isinstance(setting, int) else None
    return Layouts(None, draws, tuple(row for row in rows if row.drawn_pairs and row.same_pairs))


def _row(row: RunEstimate, pairs: Mapping[int, int | None]) -> LayoutRow:
    drawn, same = (np.array(list(apart), np.float64)[:MOST_PAIRS] for apart in _distances(row, pairs))
    # What is below one step of the clock cannot be seen.
    step = math.log1p(row.resolution_ns / median(row.processes.values))
    drawn, same = np.maximum(drawn, step), np.maximum(same, step)
    shift = shift_interval(np.log(drawn), np.log(same)) if drawn.size and same.size else None
    reason = None
    if shift is None or not shift.reaches_nominal:
        shift = None
        reason = "too few pairs"
    elif max(median(drawn), median(same)) <= step:
        # Most pairs are alike as far as can be seen, whatever the layout does.
        shift, reason = None, "below the clock"
    share = low = high = None
    if shift is not None:
        share, low, high = (max(0.0, -math.expm1(-2 * ratio)) for ratio in shift.ends)
    return LayoutRow(row, drawn.size, same.size, _spread(drawn), _spread(same), share, low, high, reason)


def _spread(distances: Floats) -> float:
    return median(distances) / _DISTANCE if distances.size else 0.0


def _distances(row: RunEstimate, pairs: Mapping[int, int | None]) -> tuple[Iterator[float], Iterator[float]]:
    """How far the two processes of each pair are apart, on the logarithm: with a layout each, and with one."""
    logs = dict(zip(row.processes.numbers or (), np.log(row.processes.values).tolist(), strict=True))
    alone = [logs[process] for process in sorted(logs) if pairs[process] is None]
    # Neighbours in time: what drifts is left out, as it is of the others.
    together = group_by((pairs[process], value) for process, value in logs.items() if pairs[process] is not None)
    return (
        (abs(first - second) for first, second in zip(alone[::2], alone[1::2], strict=False)),
        (abs(values[0] - values[1]) for values in together.values() if len(values) == 2),
    )
