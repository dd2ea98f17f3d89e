"""Lines of the studies' plots: what was measured at some points, with its intervals."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.results.rows.description import median_interval
from clonometer.results.rows.evidence import Evidence
from clonometer.studies.types import CurveLine


def line_of(
    label: str,
    points: Sequence[tuple[float, Evidence]],
    scale: float,
    *,
    fit: Sequence[tuple[float, float]] = (),
    published: Sequence[tuple[float, float]] = (),
) -> CurveLine:
    """Make a line of rows: x and the row there; ``scale`` is how many of its units make one of the axis."""
    x, y, low, high = [], [], [], []
    for at, row in points:
        interval = median_interval(row.processes.values)
        x.append(at)
        y.append(interval.value / scale)
        low.append((interval.value if interval.low is None else interval.low) / scale)
        high.append((interval.value if interval.high is None else interval.high) / scale)
    return CurveLine(label, x, y, low, high, fit, published)
