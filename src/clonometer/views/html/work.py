"""What a page shows of workers: bars to hover over, the gap as tables, one execution of each side."""

from __future__ import annotations

from typing import Any

from clonometer.tracing.parts import part_of
from clonometer.tracing.work.types import WorkExplanation
from clonometer.units import format_duration_interval
from clonometer.views.explain_texts import why_no_closer
from clonometer.views.fitted import ablation_panel, ablation_title
from clonometer.views.gaps import ablation_table
from clonometer.views.html.explain import bare, legend
from clonometer.views.specs import headed
from clonometer.views.table import Column, Table
from clonometer.views.work_picture import bars_panel, kinds_of_work, timeline_panel
from clonometer.views.work_texts import (
    about,
    count_table,
    cpu_table,
    footnotes,
    life_table,
    named_sides,
    sentences,
    sums,
)


def work_section(explanation: WorkExplanation, mark: str, charts: list[dict[str, Any]]) -> dict[str, Any]:
    """Gather what a page shows of threads and processes at work."""
    charts.append({"id": f"lives{mark}", "spec": bare(bars_panel(explanation.reasons, "A worker's time"))})
    if explanation.cpu_reasons:
        spec = bare(bars_panel(explanation.cpu_reasons, "What the CPUs do meanwhile"))
        charts.append({"id": f"cpus{mark}", "spec": spec})
    if explanation.ablation is not None:
        spec = headed(ablation_panel(explanation.ablation), ablation_title(explanation.ablation))
        charts.append({"id": f"ablation-chart{mark}", "spec": spec})
    timelines = _timelines(explanation, mark, charts)
    links = {
        "gap": ("The gap", True),
        "cpu-time": ("The CPUs", explanation.cpu_reasons),
        "executions": ("One execution", timelines),
        "ablation": ("The ablation", explanation.ablation),
    }
    return {
        "kind": "work",
        "links": [(f"{id_}{mark}", words) for id_, (words, is_there) in links.items() if is_there],
        "mark": mark,
        "legend": legend(kinds_of_work(explanation)),
        "id": f"gap{mark}",
        "cell": f"{explanation.workload}: {explanation.condition}",
        "condition": explanation.condition,
        "sentence": explanation.conclusion,
        "about": about(explanation),
        "notes": [*filter(None, [why_no_closer(explanation.tier)]), *explanation.notes],
        "wholes": [(name, format_duration_interval(*side.whole_ns.ends)) for name, side in named_sides(explanation)],
        "sums": sums(explanation),
        "lives": life_table(explanation),
        "cpus": cpu_table(explanation) if explanation.cpu_reasons else None,
        "counts": count_table(explanation) if explanation.thread.counts else None,
        "sentences": list(sentences(explanation)),
        "timelines": timelines,
        "ablation": None if explanation.ablation is None else ablation_table(explanation.ablation),
        "footnotes": list(footnotes(explanation)),
        "meanings": _meanings(explanation),
    }


def _meanings(explanation: WorkExplanation) -> Table:
    ids = dict.fromkeys(reason.part for reason in (*explanation.reasons, *explanation.cpu_reasons))
    parts = list(map(part_of, ids))
    return Table([Column("part", [part.label for part in parts]), Column("meaning", [part.meaning for part in parts])])


def _timelines(explanation: WorkExplanation, mark: str, charts: list[dict[str, Any]]) -> list[dict[str, str]]:
    timelines = []
    for (shown, side), kind in zip(named_sides(explanation), ("thread", "process"), strict=True):
        if side.timeline is not None:
            name = f"timeline-{kind}{mark}"
            charts.append({"id": name, "spec": bare(timeline_panel(side.timeline, shown))})
            timelines.append({"id": name, "title": f"One execution of {shown}, near the median"})
    return timelines
