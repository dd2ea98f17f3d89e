"""What a page shows of explained launches: timelines to hover over, the budget, events and calls as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from clonometer.tracing.types import Counters, Explanation, Timeline, Versus
from clonometer.units import format_duration, format_duration_interval, format_share
from clonometer.views.explain_panels import KIND_COLOURS
from clonometer.views.explain_picture import budget_panel, kinds_of_time, timeline_panel
from clonometer.views.explain_tables import (
    budget_table,
    calls_table,
    counter_table,
    events_table,
    listing_table,
    not_counted,
    reasons_table,
)
from clonometer.views.explain_texts import (
    TIMELINES,
    about_launches,
    cell_title,
    lost_and_grown,
    percent,
    refused_besides,
    sentence,
    steps_sentences,
    versus_sentence,
    versus_title,
    why_no_closer,
)
from clonometer.views.table import Column, Table
from clonometer.views.thinning import MOST_DRAWN, ends
from clonometer.views.types import Spec

_Row = TypeVar("_Row")


def launch_section(
    explanation: Explanation,
    mark: str,
    charts: list[dict[str, Any]],
    *,
    in_run: str = "",
    sides: Sequence[Explanation] = (),
) -> dict[str, Any]:
    """Gather what a page shows of one mechanism.

    The ids of its elements end in ``mark``; ``in_run`` is a sentence about what a run says of the same cell. Its
    charts are added to ``charts``; ``sides`` as of `timeline_panel`.
    """
    timelines = []
    for timeline in explanation.timelines:
        name = f"timeline-{mark}-{timeline.which}"
        charts.append({"id": name, "spec": bare(timeline_panel(explanation, timeline, sides))})
        timelines.append(_timeline(timeline, name))
    low, high = explanation.band
    budget = f"budget-{mark}"
    charts.append({"id": budget, "spec": bare(budget_panel(explanation, sides))})
    return {
        "id": f"explained-{mark}",
        "kind": "launch",
        "links": [(f"explained-{mark}", cell_title(explanation.cell))],
        "legend": legend(kinds_of_time(sides or (explanation,))),
        "title": cell_title(explanation.cell),
        "cell": explanation.cell,
        "sentence": sentence(explanation),
        "in_run": in_run,
        "about": f"{about_launches(explanation)}; means over launches between the {low:.0%} and {high:.0%} quantiles.",
        "reaped": format_duration_interval(*explanation.reaped_ns.ends, 1.0),
        "unexplained": format_share(explanation.unexplained),
        "overhead": percent(explanation.overhead),
        "budget_chart": budget,
        "budget": budget_table(explanation, total=False),
        "steps": steps_sentences(explanation),
        "timelines": timelines,
        "calls": calls_table(explanation) if explanation.calls else None,
        "calls_inflated": explanation.calls_inflated,
        "counters": _counters(explanation.counters),
        "listing": _listing(explanation),
        "listing_count": f"{len(explanation.listing):,}",
        "made": [
            f"{' | '.join(task.flags) or 'no flags'} ({task.count:.3g} per launch)" for task in explanation.new_tasks
        ],
        "programs": [f"{program.file} ({program.count:.3g} per launch)" for program in explanation.programs],
        "cannot_see": list(explanation.tier.cannot_see),
        "refused": refused_besides(explanation.tier),
        "room": lost_and_grown(explanation.lost, explanation.grown).capitalize(),
        "notes": [*filter(None, [why_no_closer(explanation.tier)]), *explanation.notes],
    }


def bare(spec: Spec) -> Spec:
    """A chart below a heading of the page, which says what it is at any width, and below the section's legend."""
    kept = {key: value for key, value in spec.items() if key != "title"}
    if "layer" in kept:
        kept["layer"] = [bare(layer) for layer in kept["layer"]]
    encoding = kept.get("encoding", {})
    if "legend" in encoding.get("color", {}):
        kept["encoding"] = {**encoding, "color": {**encoding["color"], "legend": None}}
    return kept


def legend(kinds: Sequence[str]) -> list[tuple[str, str]]:
    """What the colours of a section's charts mean: each kind of time with its colour."""
    return [(kind, KIND_COLOURS[kind]) for kind in kinds]


def _counters(counters: Counters | None) -> dict[str, Any] | None:
    if counters is None:
        return None
    return {
        "launches": f"{counters.launches:,}",
        "table": counter_table(counters),
        "missing": list(not_counted(counters)),
    }


def _timeline(timeline: Timeline, name: str) -> dict[str, Any]:
    shown, note = _ends(timeline.moments, "explain --trace and --out have them all")
    return {
        "id": name,
        "title": f"{TIMELINES[timeline.which].capitalize()}: {format_duration(timeline.reaped_ns)}",
        "count": f"{len(timeline.moments):,}",
        "thinned": len(timeline.moments) > MOST_DRAWN or len(timeline.segments) > MOST_DRAWN,
        "events": Table(
            [*events_table(shown).columns, Column("meaning", [moment.meaning for moment in shown])], note=note
        ),
    }


def _listing(explanation: Explanation) -> Table:
    shown, note = _ends(explanation.listing, "explain --out has them all")
    return replace(listing_table(shown), note=note)


def _ends(rows: Sequence[_Row], where: str) -> tuple[list[_Row], str]:
    """The rows that a page shows of a long table, and what it says of the others."""
    head, left_out = ends(len(rows))
    note = f"Of {len(rows):,} rows {left_out:,} in the middle are left out here: {where}." if left_out else ""
    return [*rows[:head], *rows[head + left_out :]], note


def versus_section(versus: Versus, mark: str) -> dict[str, Any]:
    """Gather what a page shows of the ratio of two mechanisms; ``mark`` is the id of its element."""
    return {
        "kind": "versus",
        "id": mark,
        "links": [(mark, "The ratio")],
        "title": versus_title(versus),
        "sentence": versus_sentence(versus),
        "reasons": reasons_table(versus, total=False),
    }
