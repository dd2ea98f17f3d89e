"""The figure of messages: latency and bandwidth against their size."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.results.series_types import TASK_KIND, ScanSeries
from clonometer.views.figures.scanned import chart_rows
from clonometer.views.figures.types import Figure, Section, answered_by
from clonometer.views.multiples import LineWords
from clonometer.views.scans import Scanned, but_for_kind
from clonometer.words import axis_words, mechanism_name, placement_name

_KIND = "messages"


def _where(lines: Sequence[ScanSeries]) -> str:
    line = lines[0]
    words = [axis_words(*item) for item in but_for_kind(line.condition)]
    words = [word for word in words if not (line.placement and word == "free")]
    words += [placement_name(line.placement)] if line.placement else []
    return ", ".join(words) or "one CPU"


def _quantity(line: ScanSeries) -> str:
    return line.quantity.removesuffix("_ns")


def _ways(lines: Sequence[ScanSeries]) -> list[LineWords]:
    return [
        (
            mechanism_name(line.workload).removeprefix("ipc.").replace("_", " "),
            axis_words(TASK_KIND, line.condition[TASK_KIND]),
        )
        for line in lines
    ]


_CHARTS = Scanned(
    draws=lambda _: True,
    grouped=lambda line: (but_for_kind(line.condition), line.placement),
    panel_of=_quantity,
    words=_ways,
    title=_where,
    quantity=_quantity,
    shared=False,
    logarithmic=True,
)


FIGURES = (
    Figure(
        120,
        _KIND,
        "latency and bandwidth against size",
        "cells that differ in message_bytes and have latency_ns, stream_ns and task_kind",
        "How long does a message take, and how much goes through?",
        answered_by("messages.latency", "messages.stream"),
        lambda results: chart_rows(_KIND, _CHARTS.charts(results.series.get("messages", ()))),
        Section(
            "Messages",
            "Messages",
            "How long a message takes to the other task, and how much is transferred per second, by its size. Medians "
            "with 95% intervals; both axes are logarithmic.",
        ),
    ),
)
