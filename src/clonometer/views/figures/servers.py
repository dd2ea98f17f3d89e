"""The figure of servers: CPU time and latency by design under each load, and latencies against the rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import partial
from typing import Any

from clonometer.results.series_types import ScanSeries, ServerRow
from clonometer.results.types import Estimate, Results
from clonometer.units import format_duration
from clonometer.views.axes import number_axis
from clonometer.views.colours import of_mechanism
from clonometer.views.figures.scanned import chart_rows
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, answered_by
from clonometer.views.multiples import LineWords
from clonometer.views.rows import make_rows, quantity_text, shared_phrases
from clonometer.views.scans import Scanned
from clonometer.views.specs import SHAPES, TIP, choice, dots, frame, names_axis, nominal, places
from clonometer.views.table import MISSING, Column, Table
from clonometer.views.types import Datum, Spec
from clonometer.words import axis_words, mechanism_name

_KIND = "servers"
_LINE = 24
#: More loads are in the tables.
_MOST_LOADS = 6
_CPU, _LATENCY = "server_cpu_each_ns", "latency_ns"
_MEASURES = ("CPU time", "half", "99%")
#: More loads beside each other have no room on a screen.
_MOST_IN_TABLE = 2


def server_points(rows: Sequence[ServerRow]) -> list[dict[str, Any]]:
    """The points of one load: for each design its CPU time per request, and its latencies."""
    points: list[dict[str, Any]] = []
    for row in sorted(rows, key=lambda row: row.median_ns):
        times = (row.cpu_ns, row.median_ns, row.p99_ns)
        behind = ", which could not keep up" if row.fell_behind else ""
        shared = {"row": row.workload, **of_mechanism(row.workload)._asdict()}
        for kind, time_ns in zip(_MEASURES, times, strict=True):
            if time_ns is not None:
                tip = f"{row.workload}{behind}: {kind} {format_duration(time_ns)}"
                points.append({**shared, "kind": kind, "time_ns": time_ns, "tip": tip})
    return points


def servers_panel(data: Sequence[Datum]) -> Spec:
    """Draw a line for each design, the fastest on top."""
    names = list(dict.fromkeys(point["row"] for point in data))
    x = number_axis([point["time_ns"] for point in data], "time for each request")
    encoding = {
        "y": names_axis("row", names, grid=True),
        "x": x.encode("time_ns"),
        "color": nominal("colour", scale=None),
        "shape": choice("kind", _MEASURES, places(SHAPES, len(_MEASURES))),
        "tooltip": TIP,
    }
    panel = frame(data, 420, _LINE * max(len(names), 1), "Servers: CPU time and latencies of a request, by design.")
    return {**panel, "layer": [dots(encoding, 60)]}


def _load_words(row: ServerRow) -> str:
    return ", ".join(axis_words(axis, value) for axis, value in row.load)


def _loads(results: Results) -> list[Row]:
    by_load: dict[tuple[tuple[str, int | str], ...], list[ServerRow]] = {}
    for row in results.series.get("servers", ()):
        by_load.setdefault(row.load, []).append(row)
    panels = []
    for number, rows in enumerate([rows for rows in by_load.values() if len(rows) > 1][:_MOST_LOADS]):
        points = server_points(rows)
        words = _load_words(rows[0])
        about = alt(f"Servers, {words}", points)
        panels.append(Panel(f"servers-{number}", words, about, partial(servers_panel, points), tall=False))
    return [Row(panels, columns=2)] if panels else []


def _names(lines: Sequence[ScanSeries]) -> list[LineWords]:
    return [(mechanism_name(line.workload).removeprefix("serve."), "") for line in lines]


def _rest(lines: Sequence[ScanSeries]) -> str:
    return ", ".join(axis_words(*item) for item in lines[0].condition.items()) or "against the rate"


_CHARTS = Scanned(
    draws=lambda _: True,
    grouped=lambda line: tuple(sorted(line.condition.items())),
    panel_of=lambda line: line.quantity.removesuffix("_ns").replace("_", " "),
    words=_names,
    title=_rest,
    quantity=lambda line: line.quantity.removesuffix("_ns").replace("_", " "),
    shared=False,
    logarithmic=True,
)


def _servers(results: Results) -> list[Row]:
    return [*_loads(results), *chart_rows(_KIND, _CHARTS.charts(results.series.get("server_rates", ())))]


def _summed_up(results: Results, workloads: Set[str]) -> list[Table]:
    """A line for each design, and for each load what a request took, where a run is about designs under a few loads."""
    rows = [row for row in make_rows(results.cells) if row.workload in workloads]
    measured = [row for row in rows if row.any_estimate.quantity in (_CPU, _LATENCY)]
    designs = dict.fromkeys(row.workload for row in measured)
    loads = dict.fromkeys(row.phrases for row in measured)
    crashed = any(row.any_estimate.condition.get("crash") == "one" for row in measured)
    if crashed or len(designs) < 2 or workloads - set(designs) or len(loads) > _MOST_IN_TABLE:
        return []
    shared = shared_phrases(measured)
    columns = [Column("", list(designs))]
    for place, load in enumerate(sorted(loads, key=len)):
        alike = [row for row in measured if row.phrases == load]
        by_design = {(row.workload, row.any_estimate.quantity): row.any_estimate for row in alike}
        where = ", ".join(phrase for phrase in load if phrase not in shared)
        for number, measure in enumerate(_MEASURES):
            texts = [_measure_text(measure, by_design, design) for design in designs]
            # On a narrow terminal the plainest load is kept.
            drop = len(_MEASURES) - number if place else 0
            columns.append(Column(", ".join(filter(None, [measure, where])), texts, "right", drop=drop))
    title = ", ".join(["Servers", *shared])
    return [Table(columns, title, "CPU time of a request, and within what time half and 99% were answered (medians).")]


def _measure_text(measure: str, estimates: Mapping[tuple[str, str], Estimate], design: str) -> str:
    estimate = estimates.get((design, _CPU if measure == _MEASURES[0] else _LATENCY))
    if estimate is None:
        return MISSING
    if measure == _MEASURES[-1]:
        return MISSING if estimate.p99_ns is None else format_duration(estimate.p99_ns)
    return quantity_text(estimate)


FIGURES = (
    Figure(
        75,
        _KIND,
        "servers by design, and latencies against the rate",
        "servers of several designs, or one at several rates (the plan servers has)",
        "What does a request cost, by the design of the server?",
        answered_by("servers.cpu", "servers.latency", "servers.rate"),
        _servers,
        Section(
            "Servers",
            "Servers",
            "CPU time per request, and the latencies within which half and 99% of the requests are answered, by the "
            "design of the server; then latencies against the rate. Time axes are logarithmic.",
        ),
        sums_up=_summed_up,
    ),
)
