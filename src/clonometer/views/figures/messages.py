"""The figure of messages: latency and bandwidth against their size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from clonometer.results.series.types import ScanSeries
from clonometer.views.figures.scanned import scan_rows
from clonometer.views.figures.types import Figure, Section
from clonometer.views.scans import TASK_KIND, ScanChart, Scanned, but_for_kind, make_chart
from clonometer.words import axis_words, mechanism_name, placement_name

AXIS = "message_bytes"


def _message_chart(lines: Sequence[ScanSeries], every: Sequence[ScanSeries]) -> ScanChart:
    def panel(line: ScanSeries) -> str:
        words = [axis_words(*item) for item in but_for_kind(line.condition)]
        words = [word for word in words if not (line.placement and word == "free")]
        words += [placement_name(line.placement)] if line.placement else []
        return f"{_quantity(line).capitalize()} of messages, {', '.join(words) or 'one CPU'}"

    # Ways and kinds of tasks keep their colours from chart to chart.
    labels = tuple(dict.fromkeys(_message_label(line) for line in every))
    named = [(line, _message_label(line)) for line in lines]
    return make_chart(lines[0], named, panel, labels=labels, quantity=_quantity, shared=False, logarithmic=True)


def _quantity(line: ScanSeries) -> str:
    return line.quantity.removesuffix("_ns")


def _message_label(line: ScanSeries) -> str:
    name = mechanism_name(line.workload).removeprefix("ipc.").replace("_", " ")
    return f"{name}, {axis_words(TASK_KIND, line.condition[TASK_KIND])}"


FIGURES = (
    Figure(
        120,
        "messages",
        "latency and bandwidth against size",
        "cells that differ in message_bytes",
        partial(scan_rows, "messages"),
        Section(
            "Messages",
            "Messages",
            "How long a message takes to the other task, and how much goes through in a second, by its size. Medians "
            "with 95% intervals; both axes are logarithmic.",
        ),
        scans=Scanned(
            draws=lambda line: line.axis == AXIS,
            grouped=lambda line: (but_for_kind(line.condition), line.placement),
            chart_of=_message_chart,
            before=lambda _: "",
            size=(340, 280),
        ),
    ),
)
