"""The figure of servers: CPU time and latency by design under each load, and latencies against the rate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from clonometer.results.series_types import ScanSeries, ServerRow
from clonometer.results.types import Results
from clonometer.units import format_duration
from clonometer.views.axes import number_axis
from clonometer.views.colours import of_mechanism
from clonometer.views.figures.scanned import chart_rows
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, answered_by
from clonometer.views.multiples import LineWords
from clonometer.views.scans import Scanned
from clonometer.views.specs import SHAPES, TIP, choice, dots, frame, names_axis, nominal, places
from clonometer.views.types import Datum, Spec
from clonometer.words import axis_words, mechanism_name

_KIND = "servers"
_LINE = 24
#: More loads are in the tables.
_MOST_LOADS = 6
_MEASURES = ("CPU time", "half", "99%")


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
    ),
)
