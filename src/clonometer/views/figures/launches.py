"""Figures of launches: medians, distributions, and what memory in the parent does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from clonometer.families import axes, axis
from clonometer.results.series_types import ScanSeries
from clonometer.results.types import Results
from clonometer.views.axes import number_axis
from clonometer.views.figures.scanned import scan_rows
from clonometer.views.figures.types import Figure, Panel, Row, Section, alt, answered_by
from clonometer.views.labels import family_name
from clonometer.views.multiples import LineWords, joined, multiples
from clonometer.views.plots import (
    drawable_families,
    ecdf_axis,
    ecdf_choice,
    ecdf_drawn,
    ecdf_index,
    ecdf_points,
    overview_points,
    overview_stages,
    short_rows,
    stage_title,
)
from clonometer.views.scans import Scanned
from clonometer.views.specs import ecdf_panel, overview_panel
from clonometer.words import axis_words, mechanism_name, stage_place

MEMORY = "parent_bytes"
#: What a line of memory says: of what kind it is, and in what state. Lines that say more are of other conditions.
_SAID = {
    name
    for name, known in axes().items()
    if known.qualifies is not None and known.qualifies.of == MEMORY and known.qualifies.is_said
}


def _overview(results: Results) -> list[Row]:
    split = drawable_families(short_rows(results))
    shown = [row for members in split.values() for row in members]
    points = overview_points(shown)
    ends = [point[name] for point in points for name in ("low_ns", "median_ns", "high_ns")]
    shared: dict[str, Any] = {
        "stages": overview_stages(shown),
        "axis": number_axis(ends, "median since the start of the call"),
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
            tall=False,
        )
        rows.append(Row([panel]))
    return rows


def _ecdf(results: Results) -> list[Row]:
    chosen = ecdf_choice(ecdf_index(results, results.ecdfs))
    rows: list[Row] = []
    for family in dict.fromkeys(entry["family"] for entry in chosen):
        members = [entry for entry in chosen if entry["family"] == family]
        members.sort(key=lambda entry: entry["temperature"] == "cold")
        axis = ecdf_axis(members)
        for part, named in multiples([(entry, (entry["label"], entry["temperature"])) for entry in members]):
            inside = [entry for entry, _ in named]
            drawn = ecdf_drawn(inside)
            title = joined((family_name(family), part))
            panels = []
            for stage in sorted({entry["stage"] for entry in inside}, key=stage_place):
                of_stage = [entry for entry in inside if entry["stage"] == stage]
                draw = partial(ecdf_panel, ecdf_points(of_stage), drawn=drawn, axis=axis)
                whole = f"{title}, {stage_title(stage)}"
                panels.append(Panel(f"ecdf-{family}-{len(rows)}-{stage}", whole, whole, draw, stage_title(stage)))
            rows.append(Row(panels, title))
    return rows


def _is_of_memory(line: ScanSeries) -> bool:
    return line.axis == MEMORY and line.stage is not None and not line.phase and line.condition.keys() == _SAID


def memory_words(series: Sequence[ScanSeries]) -> list[LineWords]:
    """Name launches against the parent's memory by mechanism, and by kind and state of the pages where those differ."""
    kinds, pages = (len({line.condition[name] for line in series}) > 1 for name in ("page_kind", "pages"))
    state = axis("pages").qualifies
    names: list[LineWords] = []
    for line in series:
        unusual = state is None or line.condition["pages"] != state.usual
        kind = axis_words("page_kind", line.condition["page_kind"]) if kinds else ""
        names.append(
            (
                mechanism_name(line.workload),
                kind,
                axis_words("pages", line.condition["pages"]) if pages and (unusual or not kinds) else "",
            )
        )
    return names


FIGURES = (
    Figure(
        0,
        "overview",
        "medians",
        "launches",
        "What does a launch cost?",
        answered_by("process_vs_thread.warm", "fastest", "process_vs_thread", "step"),
        _overview,
        reading="Medians with 95% intervals; where there is none, it is narrower than the dot, or the level drifted. "
        "Filled: warm (after warm-up in one process). Hollow: cold (the first launch in a fresh process).",
        stands_in="answer",
    ),
    Figure(
        10,
        "ecdf",
        "distributions",
        "distributions of launches",
        "How steady are launches?",
        answered_by(),
        _ecdf,
        reading="Each line shows which share of launches was done within a time. A steep line means steady times; a "
        "long flat end to the right means rare slow launches.",
        stands_in="distributions",
    ),
    Figure(
        20,
        "memory",
        "time against the parent's memory",
        "launches that differ in parent_bytes, with all but its pages at the default",
        "What does the parent's memory add to a launch?",
        answered_by("memory"),
        partial(scan_rows, "memory"),
        Section(
            "Launch time against the parent's memory",
            "Memory",
            "A process pays for its parent's memory, because fork copies the page tables; a thread shares them. "
            "Medians with 95% intervals, of warm launches where there are any; both axes are logarithmic.",
        ),
        scans=Scanned(
            draws=_is_of_memory,
            words=memory_words,
            title=lambda _: "",
            quantity=lambda _: "launch time",
            logarithmic=True,
            grouped=lambda line: line.axis,
        ),
    ),
)
