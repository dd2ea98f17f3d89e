"""Figures of launches: medians, distributions, and what memory in the parent does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from clonometer.families import axis
from clonometer.results.series.types import ScanSeries
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
from clonometer.views.scans import ScanChart, Scanned, make_chart, stage_or_quantity
from clonometer.views.specs import ecdf_panel, overview_panel
from clonometer.words import STAGE_ORDER, axis_words, mechanism_name, stage_place

MEMORY = "parent_bytes"


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
    for family in dict.fromkeys(entry["family"] for entry in chosen):
        members = [entry for entry in chosen if entry["family"] == family]
        domain = time_domain(ecdf_points(members), "time_ns", "time_ns")
        panels = []
        for stage in STAGE_ORDER:
            of_stage = [entry for entry in members if entry["stage"] == stage]
            if of_stage:
                draw = partial(ecdf_panel, ecdf_points(of_stage), labels=labels, domain=domain)
                title = f"{family_name(family)}, {stage_title(stage)}"
                panels.append(Panel(f"ecdf-{family}-{stage}", title, title, draw))
        rows.append(Row(panels))
    return rows


def _memory_chart(lines: Sequence[ScanSeries], _: Sequence[ScanSeries]) -> ScanChart:
    return make_chart(
        lines[0],
        sorted(zip(lines, memory_labels(lines), strict=True), key=lambda pair: stage_place(pair[0].stage)),
        stage_or_quantity,
        labels=tuple(dict.fromkeys(memory_labels(lines))),
        quantity=lambda _: "launch time",
        logarithmic=True,
    )


def memory_labels(series: Sequence[ScanSeries]) -> list[str]:
    """Name launches against the parent's memory by mechanism, and by kind and state of the pages where those differ."""
    kinds, pages = (len({line.condition[name] for line in series}) > 1 for name in ("page_kind", "pages"))
    state = axis("pages").qualifies
    names = []
    for line in series:
        words = [mechanism_name(line.workload)]
        words += [axis_words("page_kind", line.condition["page_kind"])] if kinds else []
        unusual = state is None or line.condition["pages"] != state.usual
        words += [axis_words("pages", line.condition["pages"])] if pages and (unusual or not kinds) else []
        names.append(", ".join(words))
    return names


FIGURES = (
    Figure(0, "overview", "medians", "launches", _overview),
    Figure(10, "ecdf", "distributions", "distributions of launches", _ecdf),
    Figure(
        20,
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
        scans=Scanned(
            draws=lambda line: line.axis == MEMORY and line.stage is not None and not line.phase,
            grouped=lambda line: line.axis,
            chart_of=_memory_chart,
            before=lambda _: "",
        ),
    ),
)
