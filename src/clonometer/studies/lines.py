"""Lines of the studies' plots: what was measured at some points, with its intervals."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.results.rows.evidence import Evidence
from clonometer.stats.serial import median_in_time
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
    medians = [median_in_time(row.processes.values).over(scale) for _, row in points]
    return CurveLine(
        label,
        [x for x, _ in points],
        [median.value for median in medians],
        [median.low for median in medians],
        [median.high for median in medians],
        fit,
        published,
    )
