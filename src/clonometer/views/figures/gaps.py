"""The figure of gaps: how many are longer than a time, and a table of what one in so many reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from clonometer.results.series_types import LadderSeries
from clonometer.results.types import Results
from clonometer.units import format_duration, format_duration_interval
from clonometer.views.axes import NumberAxis, number_axis
from clonometer.views.colours import Drawn, of_mechanism
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, answered_by
from clonometer.views.multiples import joined, multiples
from clonometer.views.specs import frame, interval_marks, quantitative
from clonometer.views.table import Table, table_of_rows
from clonometer.views.types import Datum, Spec
from clonometer.words import axis_words, mechanism_name

LONGEST = 0
_ENDS = ("low_ns", "median_ns", "high_ns")
_STEP_NAMES = {2: "p50", 10: "p90", 100: "p99", 1000: "p99.9", 10000: "p99.99", LONGEST: "longest"}
_SHARE_LABEL = "datum.value >= 0.01 ? format(datum.value, '~%') : '1 in ' + format(1 / datum.value, ',.0f')"


@dataclass(frozen=True)
class LadderChart:
    """The distributions of one workload under one condition: a panel each, a line for each number that varies."""

    title: str
    drawn: Mapping[str, Drawn]
    times: NumberAxis
    panels: Mapping[str, list[dict[str, Any]]]


def ladder_charts(series: Sequence[LadderSeries]) -> list[LadderChart]:
    """Arrange ladders as charts: one for each workload and choice of conditions, a line for each size."""
    charts = []
    for (workload, of, *words), ladders in _by_chart(series).items():
        title = ", ".join([f"{of} ({mechanism_name(workload)})", *words])
        every = [point for ladder in ladders for point in _points(ladder, _line_name(ladder))]
        times = number_axis([point[name] for point in every for name in _ENDS], "length")
        for part, members in multiples([(ladder, (_line_name(ladder),)) for ladder in ladders]):
            panels: dict[str, list[dict[str, Any]]] = {}
            for ladder, label in members:
                panels.setdefault(ladder.name, []).extend(_points(ladder, label))
            charts.append(
                LadderChart(
                    joined((title, part)), {label: of_mechanism(workload) for _, label in members}, times, panels
                )
            )
    return charts


def _by_chart(series: Sequence[LadderSeries]) -> dict[tuple[str, ...], list[LadderSeries]]:
    """Group ladders by workload, by what they are of, and by the choices among their conditions, in words."""
    charts: dict[tuple[str, ...], list[LadderSeries]] = {}
    for ladder in series:
        choices = (axis_words(*item) for item in ladder.condition.items() if isinstance(item[1], str))
        charts.setdefault((ladder.workload, ladder.of, *choices), []).append(ladder)
    return charts


def _line_name(ladder: LadderSeries) -> str:
    return ", ".join(axis_words(*item) for item in ladder.condition.items() if isinstance(item[1], int)) or "default"


def _points(ladder: LadderSeries, label: str) -> list[dict[str, Any]]:
    return [
        {
            "label": label,
            "of": mechanism_name(ladder.workload),
            "median_ns": step.median_ns,
            "low_ns": step.low_ns,
            "high_ns": step.high_ns,
            "joined": True,
            "longer": 1 / step.one_in if step.one_in else 1 / max(ladder.count, 1.0),
            "tip": f"{ladder.name}, {label}, {_STEP_NAMES.get(step.one_in, f'1 in {step.one_in:,}')}: "
            f"{format_duration_interval(step.median_ns, step.low_ns, step.high_ns)}",
        }
        for step in ladder.steps
    ]


def ladder_panel(data: Sequence[Datum], chart: LadderChart) -> Spec:
    """Draw how large a share of values is longer than a time, both on log axes, with 95% intervals of the times.

    Each point has ``median_ns``, ``low_ns``, ``high_ns``, ``longer`` (a share), ``label`` and ``tip``.
    """
    shares = number_axis([1.0, *(point["longer"] for point in data)], "share that is longer", _SHARE_LABEL)
    shared = {"y": shares.encode("longer")}
    placed = [{**point, **{name: chart.times.position(point[name]) for name in _ENDS}} for point in data]
    layer = interval_marks(
        {**shared, "x": chart.times.encode("low_ns"), "x2": {"field": "high_ns"}},
        {**shared, "x": chart.times.encode("median_ns")},
        chart.drawn,
        along={"order": quantitative("longer")},
        size=40,
    )
    panel = frame(placed, 300, 260, "Share of values that is longer than a time.")
    return {**panel, "layer": [*layer, *chart.times.break_marks("height")]}


def ladder_tables(series: Sequence[LadderSeries]) -> list[Table]:
    """A table for each chart: a row for each line and distribution, a column for each step."""
    tables = []
    for (workload, of, *words), ladders in _by_chart(series).items():
        ladders.sort(key=lambda ladder: [value for value in ladder.condition.values() if isinstance(value, int)])
        steps = list(dict.fromkeys(step.one_in for ladder in ladders for step in ladder.steps))
        steps.sort(key=lambda one_in: (one_in == LONGEST, one_in))
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
                ", ".join([f"{mechanism_name(workload)}: {of}", *words]),
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
                    f"gaps-{number}-{index}",
                    f"{chart.title}, {name}",
                    alt(f"{chart.title}, {name}", points),
                    partial(ladder_panel, points, chart),
                    short=name,
                )
                for index, (name, points) in enumerate(chart.panels.items())
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
        "How long are the longest gaps?",
        answered_by("cow.story"),
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
