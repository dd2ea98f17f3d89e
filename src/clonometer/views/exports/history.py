"""All values of a folder for programs that keep series: OpenMetrics with times."""

from __future__ import annotations

from collections.abc import Iterator

from clonometer.dataset.types import Point, Points
from clonometer.views.exports.openmetrics import metric_family

_MEDIANS = (
    ("seconds", "Median of a row of a run."),
    ("", "Median of a row that is no time, in its unit."),
)


def openmetrics_text(points: Points) -> str:
    """Write all values as OpenMetrics text with times, which ``promtool tsdb create-blocks-from openmetrics`` takes.

    Series are told apart by host, cell, quantity and placement. ``clonometer_run_info`` has the host's facts, for each
    run.
    """
    return "".join(_lines(points))


def _lines(points: Points) -> Iterator[str]:
    for unit, about in _MEDIANS:
        samples = (
            (_labels(point, run.host), point.value / 1e9 if unit else point.value, run.started_s)
            for point in points.points
            for run in [points.runs[point.run]]
            if point.label.is_time == bool(unit)
        )
        yield from metric_family("median", unit, about, samples)
    facts = [{key.replace(".", "_"): value for key, value in run.facts.items()} for run in points.runs]
    hosts = [({"host": run.host, **of_run}, 1, run.started_s) for run, of_run in zip(points.runs, facts, strict=True)]
    yield from metric_family("run", "", "The host of a run.", hosts, kind="info")
    yield "# EOF\n"


def _labels(point: Point, host: str) -> dict[str, str]:
    label = point.label
    names = {"cell": label.cell, "quantity": label.quantity, "stage": label.stage, "placement": label.placement}
    unit = {} if label.is_time else {"unit": label.unit}
    return {"host": host, **{name: value for name, value in names.items() if value is not None}, **unit}
