"""Figures of launches: medians, distributions, and what memory in the parent does."""

from __future__ import annotations

from functools import partial
from typing import Any

from clonometer.results.types import Results
from clonometer.views.figures.scanned import scan_rows
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, labels_of
from clonometer.views.labels import family_name
from clonometer.views.plots import (
    drawable_families,
    ecdf_choice,
    ecdf_index,
    ecdf_points,
    overview_points,
    overview_stages,
    short_rows,
    stage_title,
    time_domain,
)
from clonometer.views.specs import ecdf_panel, overview_panel
from clonometer.words import STAGE_ORDER


def _overview(results: Results) -> list[Row]:
    split = drawable_families(short_rows(results))
    shown = [row for members in split.values() for row in members]
    shared: dict[str, Any] = {
        "stages": overview_stages(shown),
        "domain": time_domain(overview_points(shown), "low_ns", "high_ns"),
        "label_letters": max((len(row.label) for row in shown), default=0),
    }
    rows = []
    for family, members in split.items():
        points = overview_points(members)
        mechanisms = list(dict.fromkeys(row.label for row in members))
        panel = Panel(
            f"overview-{family}",
            family_name(family),
            alt("Medians with 95% intervals", points),
            partial(overview_panel, points, mechanisms=mechanisms, **shared),
            short=f"{family_name(family)} (filled: warm, hollow: cold)",
            tall=False,
        )
        rows.append(Row([panel]))
    return rows


def _ecdf(results: Results) -> list[Row]:
    chosen = ecdf_choice(ecdf_index(results, results.ecdfs))
    labels = labels_of(chosen)
    rows = []
    for family in dict.fromkeys(one["family"] for one in chosen):
        members = [one for one in chosen if one["family"] == family]
        domain = time_domain(ecdf_points(members), "time_ns", "time_ns")
        panels = []
        for stage in STAGE_ORDER:
            own = [one for one in members if one["stage"] == stage]
            if own:
                draw = partial(ecdf_panel, ecdf_points(own), labels=labels, domain=domain)
                title = f"{family_name(family)}, {stage_title(stage)}"
                panels.append(Panel(f"ecdf-{family}-{stage}", title, title, draw))
        rows.append(Row(panels))
    return rows


FIGURES = (
    Figure("overview", "medians", "launches", _overview),
    Figure("ecdf", "distributions", "distributions of launches", _ecdf),
    Figure(
        "memory",
        "time against the parent's memory",
        "cells that differ in parent_bytes",
        partial(scan_rows, "memory"),
        Section(
            "Launch time against the parent's memory",
            "Memory",
            "A process pays for its parent's memory, because fork copies the page tables; a thread shares them. "
            "Medians with 95% intervals, of warm launches where there are any; both axes are logarithmic.",
        ),
    ),
)
