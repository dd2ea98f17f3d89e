"""The figure of gaps: how many are longer than a time, and a table of what one in so many reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from clonometer.results.series.types import LadderSeries
from clonometer.results.types import Results
from clonometer.units import format_duration, format_duration_interval
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt
from clonometer.views.plots import time_domain
from clonometer.views.specs import Datum, Spec, colour, frame, interval_marks, time_axis
from clonometer.views.table import Table, table_of_rows
from clonometer.words import axis_words, mechanism_name

LONGEST = 0
_STEP_NAMES = {2: "p50", 10: "p90", 100: "p99", 1000: "p99.9", 10000: "p99.99", LONGEST: "longest"}
_SHARE_LABEL = "datum.value >= 0.01 ? format(datum.value, '~%') : '1 in ' + format(1 / datum.value, ',.0f')"


@dataclass(frozen=True)
class LadderChart:
    """The distributions of one workload under one condition: a panel each, a line for each number that varies."""

    title: str
    labels: tuple[str, ...]
    domain: list[float] | None
    panels: Mapping[str, list[dict[str, Any]]]


def ladder_charts(series: Sequence[LadderSeries]) -> list[LadderChart]:
    """Arrange ladders as charts: one for each workload and choice of conditions, a line for each size."""
    keys = dict.fromkeys((ladder.workload, ladder.of, _choices(ladder)) for ladder in series)
    charts = []
    for key in keys:
        ladders = [ladder for ladder in series if (ladder.workload, ladder.of, _choices(ladder)) == key]
        panels: dict[str, list[dict[str, Any]]] = {}
        for ladder in ladders:
            panels.setdefault(ladder.name, []).extend(_points(ladder))
        words = [axis_words(*item) for item in key[2]]
        every = [point for points in panels.values() for point in points]
        charts.append(
            LadderChart(
                title=", ".join([f"{key[1]} ({mechanism_name(key[0])})", *words]),
                labels=tuple(dict.fromkeys(_line_name(ladder) for ladder in ladders)),
                domain=time_domain(every, "low_ns", "high_ns"),
                panels=panels,
            )
        )
    return charts


def _choices(ladder: LadderSeries) -> tuple[tuple[str, int | str], ...]:
    return tuple((axis, value) for axis, value in ladder.condition.items() if isinstance(value, str))


def _line_name(ladder: LadderSeries) -> str:
    return ", ".join(axis_words(*item) for item in ladder.condition.items() if isinstance(item[1], int)) or "as usual"


def _points(ladder: LadderSeries) -> list[dict[str, Any]]:
    label = _line_name(ladder)
    return [
        {
            "label": label,
            "median_ns": step.median_ns,
            "low_ns": step.low_ns,
            "high_ns": step.high_ns,
            "longer": 1 / step.one_in if step.one_in else 1 / max(ladder.count, 1.0),
            "tip": f"{ladder.name}, {label}, {_STEP_NAMES.get(step.one_in, f'1 in {step.one_in:,}')}: "
            f"{format_duration_interval(step.median_ns, step.low_ns, step.high_ns)}",
        }
        for step in ladder.steps
        if step.low_ns > 0
    ]


def ladder_panel(
    data: Sequence[Datum],
    *,
    labels: Sequence[str],
    of: str,
    domain: Sequence[float] | None = None,
    title: str | None = None,
    width: int | str = 300,
    height: int = 260,
) -> Spec:
    """Draw how large a share of values is longer than a time, both on log axes, with 95% intervals of the times.

    Parameters
    ----------
    data
        ``median_ns``, ``low_ns``, ``high_ns``, ``longer`` (a share), ``label`` and ``tip`` of each point.
    """
    least = min((point["longer"] for point in data), default=0.1)
    decades = [10.0**-power for power in range(9) if 10.0**-power >= least]
    y: Spec = {
        "field": "longer",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [least / 2, 1], "nice": False},
        "axis": {"title": "share that is longer (log)", "values": decades, "labelExpr": _SHARE_LABEL},
    }
    x = {field: time_axis(field, f"{of} (log)", domain) for field in ("low_ns", "median_ns")}
    shared = {"y": y, "color": colour(labels)}
    panel = frame(data, title, width, height, f"Share of {of} that is longer than a time.")
    layer = interval_marks(
        {**shared, "x": x["low_ns"], "x2": {"field": "high_ns"}},
        {**shared, "x": x["median_ns"]},
        along={"order": {"field": "longer", "type": "quantitative"}},
        size=40,
    )
    return {**panel, "layer": layer}


def ladder_tables(series: Sequence[LadderSeries]) -> list[Table]:
    """A table for each chart: a row for each line and distribution, a column for each step."""
    tables = []
    for key in dict.fromkeys((ladder.workload, ladder.of, _choices(ladder)) for ladder in series):
        ladders = [ladder for ladder in series if (ladder.workload, ladder.of, _choices(ladder)) == key]
        ladders.sort(key=lambda ladder: [value for value in ladder.condition.values() if isinstance(value, int)])
        steps = list(dict.fromkeys(step.one_in for ladder in ladders for step in ladder.steps))
        steps.sort(key=lambda one_in: (one_in == LONGEST, one_in))
        words = [axis_words(*item) for item in key[2]]
        rows = tuple(
            (
                f"{_line_name(ladder)}, {ladder.name}",
                *(_step_text(ladder, one_in) for one_in in steps),
                f"{ladder.count:,.0f}",
            )
            for ladder in ladders
        )
        tables.append(
            table_of_rows(
                ", ".join([f"{mechanism_name(key[0])}: {key[1]}", *words]),
                ("", *(_STEP_NAMES.get(one_in, f"1 in {one_in:,}") for one_in in steps), "values"),
                rows,
                "p99: one in 100 is longer. A dash: there are too few to tell.",
                ("values", "p90", "p99.99"),
            )
        )
    return tables


def _step_text(ladder: LadderSeries, one_in: int) -> str:
    for step in ladder.steps:
        if step.one_in == one_in:
            return format_duration(step.median_ns, step.low_ns, step.high_ns)
    return "-"


def _gaps(results: Results) -> list[Row]:
    return [
        Row(
            [
                Panel(
                    f"gaps-{number}-{place}",
                    f"{chart.title}, {name}",
                    alt(f"{chart.title}, {name}", points),
                    partial(ladder_panel, points, labels=chart.labels, of="length", domain=chart.domain),
                    short=name,
                )
                for place, (name, points) in enumerate(chart.panels.items())
            ],
            chart.title[:1].upper() + chart.title[1:],
        )
        for number, chart in enumerate(ladder_charts(_ladders(results)))
    ]


def _ladders(results: Results) -> Sequence[LadderSeries]:
    return results.series.get("ladders", ())


FIGURES = (
    Figure(
        70,
        "gaps",
        "how many gaps are longer than a time",
        "distribution of gaps (the plan cow has: those between another thread's writes)",
        _gaps,
        Section(
            "Gaps, and how long the longest are",
            "Gaps",
            "How large a share of them is longer than a time, with 95% intervals of the times; both axes are "
            "logarithmic.",
        ),
        lambda results: ladder_tables(_ladders(results)),
    ),
)
