"""What a page shows of explained launches: timelines to hover over, the budget, events and calls as tables."""

from __future__ import annotations

from typing import Any

from clonometer.explain.types import Counters, Explanation, Moment, Timeline, Versus
from clonometer.units import format_duration, format_duration_interval, format_share
from clonometer.views.counter_table import counter_table, not_counted
from clonometer.views.explain_picture import budget_panel, timeline_panel
from clonometer.views.explain_tables import budget_table, calls_table, reasons_table
from clonometer.views.explain_texts import (
    about_launches,
    lost_and_grown,
    percent,
    refused_besides,
    sentence,
    steps_sentences,
    versus_sentence,
    why_no_closer,
)
from clonometer.views.thinning import MOST_DRAWN, ends

_TITLES = {"median": "The launch nearest the median", "p99": "The p99 launch"}


def launch_section(
    explanation: Explanation, mark: str, charts: list[dict[str, Any]], *, in_run: str = ""
) -> dict[str, Any]:
    """Gather what a page shows of one mechanism.

    Parameters
    ----------
    explanation
        Its explanation.
    mark
        What the ids of its elements end in, other than those of any other section of the page.
    charts
        Its charts are added to these.
    in_run
        A sentence about what a run says of the same cell.
    """
    timelines = []
    for timeline in explanation.timelines:
        name = f"timeline-{mark}-{timeline.which}"
        charts.append({"id": name, "spec": timeline_panel(explanation, timeline)})
        timelines.append(_timeline(timeline, name))
    low, high = explanation.band
    budget = f"budget-{mark}"
    charts.append({"id": budget, "spec": budget_panel(explanation)})
    return {
        "id": f"explained-{mark}",
        "kind": "launch",
        "links": [(f"explained-{mark}", explanation.cell)],
        "cell": explanation.cell,
        "sentence": sentence(explanation),
        "in_run": in_run,
        "about": f"{about_launches(explanation)}; means over launches between the {low:.0%} and {high:.0%} quantiles.",
        "reaped": format_duration_interval(
            explanation.reaped_ns.value, explanation.reaped_ns.low, explanation.reaped_ns.high, 1.0
        ),
        "unexplained": format_share(explanation.unexplained),
        "overhead": percent(explanation.overhead),
        "budget_chart": budget,
        "budget": budget_table(explanation),
        "steps": steps_sentences(explanation),
        "timelines": timelines,
        "calls": calls_table(explanation) if explanation.calls else None,
        "calls_inflated": explanation.calls_inflated,
        "counters": _counters(explanation.counters),
        "listing": _listing(explanation),
        "made": [
            f"{' | '.join(task.flags) or 'no flags'} ({task.count:.3g} a launch)" for task in explanation.new_tasks
        ],
        "programs": [f"{program.file} ({program.count:.3g} a launch)" for program in explanation.programs],
        "cannot_see": list(explanation.tier.cannot_see),
        "refused": refused_besides(explanation.tier),
        "room": lost_and_grown(explanation.lost, explanation.grown).capitalize()
        if explanation.lost or explanation.grown
        else "",
        "notes": [*filter(None, [why_no_closer(explanation.tier)]), *explanation.notes],
    }


def _counters(counters: Counters | None) -> dict[str, Any] | None:
    if counters is None:
        return None
    return {
        "set": counters.set,
        "launches": f"{counters.launches:,}",
        "table": counter_table(counters),
        "missing": list(not_counted(counters)),
    }


def _timeline(timeline: Timeline, name: str) -> dict[str, Any]:
    moments = timeline.moments
    head, left_out = ends(len(moments))
    return {
        "id": name,
        "title": f"{_TITLES[timeline.which]}: {format_duration(timeline.reaped_ns)}",
        "count": f"{len(moments):,}",
        "thinned": len(moments) > MOST_DRAWN or len(timeline.segments) > MOST_DRAWN,
        "left_out": f"{left_out:,}" if left_out else "",
        "events": [_event(moment) for moment in moments[:head]],
        "last_events": [_event(moment) for moment in moments[head + left_out :]],
    }


def _event(moment: Moment) -> dict[str, Any]:
    return {
        "at": f"{moment.time_ns / 1000:.2f}",
        "who": moment.who,
        "cpu": "" if moment.cpu < 0 else moment.cpu,
        "words": moment.words,
        "meaning": moment.meaning,
    }


def _listing(explanation: Explanation) -> dict[str, Any]:
    head, left_out = ends(len(explanation.listing))
    rows = [{"who": call.who, "text": call.text, "result": call.result} for call in explanation.listing]
    return {
        "count": f"{len(rows):,}",
        "left_out": f"{left_out:,}" if left_out else "",
        "calls": rows[:head],
        "last_calls": rows[head + left_out :],
    }


def versus_section(versus: Versus, mark: str) -> dict[str, Any]:
    """Gather what a page shows of the ratio of two mechanisms; ``mark`` is the id of its element."""
    return {
        "kind": "versus",
        "id": mark,
        "links": [(mark, "The ratio")],
        "first": versus.first.cell,
        "second": versus.second.cell,
        "sentence": versus_sentence(versus),
        "reasons": reasons_table(versus, total=False),
    }
