"""Figures of tasks: gaps between their writes, how they fail, what they hold."""

from __future__ import annotations

from functools import partial

from clonometer.results.types import Results
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt
from clonometer.views.isolation import isolation_panel, isolation_points
from clonometer.views.parts import part_points, parts_panel
from clonometer.views.tails import ladder_charts, ladder_panel, ladder_tables


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
        for number, chart in enumerate(ladder_charts(results.ladders))
    ]


def _footprint(results: Results) -> list[Row]:
    points = part_points(results.footprints)
    if not points:
        return []
    words = alt("Memory of each idle task by its parts", points)
    return [
        Row([Panel("footprint-parts", "Memory of each idle task", words, partial(parts_panel, points), tall=False)])
    ]


def _isolation(results: Results) -> list[Row]:
    points = isolation_points(results.isolation)
    if not points:
        return []
    panel = Panel(
        "isolation-fates",
        "Who survives, and how soon it is mended",
        alt("Failing workers", points),
        partial(isolation_panel, points),
        short="A worker fails: who survives, and how soon it is mended",
        tall=False,
    )
    return [Row([panel])]


FIGURES = (
    Figure(
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
        lambda results: ladder_tables(results.ladders),
    ),
    Figure(
        "isolation",
        "failing workers",
        "worker that fails (the plan isolate has)",
        _isolation,
        Section(
            "A worker fails",
            "Failure",
            "At the left how many of its siblings survive, and the signal that its end was seen by; then how long "
            "after the failure it is known, somebody else does its work, and all are as many as before. Medians with "
            "95% intervals; the axis is logarithmic.",
        ),
    ),
    Figure(
        "footprint",
        "memory of idle tasks",
        "idle tasks whose memory was read (the plan footprint has)",
        _footprint,
        Section(
            "What idle tasks hold",
            "Footprint",
            "Memory of each of many tasks that do nothing, by its parts, as medians. The machine's account counts "
            "whatever else allocated meanwhile; that of a control group only what its tasks were charged.",
        ),
    ),
)
