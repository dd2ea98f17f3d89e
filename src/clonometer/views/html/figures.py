"""The report's figures: specifications, their points, and what the reader can choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.results.types import Results
from clonometer.views.against import memory_panel, messages_panel, scan_panel
from clonometer.views.fitted import ablation_panel, ablation_points, ablation_title, fitted_charts, fitted_panel
from clonometer.views.isolation import isolation_panel, isolation_points
from clonometer.views.labels import FAMILY_ORDER, STAGE_ORDER, family_name
from clonometer.views.parts import part_points, parts_panel
from clonometer.views.plots import (
    drawable_families,
    ecdf_index,
    memory_points,
    memory_stages,
    overview_points,
    overview_stages,
    short_rows,
    stage_title,
    time_domain,
)
from clonometer.views.scans import ScanChart, message_charts, phase_charts, scan_charts, scans_drawn
from clonometer.views.specs import PALETTE, ecdf_panel, overview_panel, theme
from clonometer.views.tails import ladder_charts, ladder_panel
from clonometer.words import axis_title

#: Points of all distributions together, so that the page stays below 2 MB however many cells a run has.
POINT_BUDGET = 24_000
LEAST_POINTS = 24
MOST_SERIES = 600
MOST_POINTS = 400
EVERY = "all"
PLAIN = "plain"


def figure_content(results: Results) -> dict[str, Any]:
    """Gather all figures: ``charts`` that are drawn as they are, and the distributions with their choices."""
    charts = [
        *_overview(results),
        *_memory(results),
        *_story(results),
        *_gaps(results),
        *_isolation(results),
        *_footprints(results),
        *_scans(results),
        *_messages(results),
        *_fits(results),
        *_ablations(results),
    ]
    ecdf = _ecdf(results)
    return {
        "any": bool(charts or ecdf["series"]),
        "theme": theme("currentColor", "transparent"),
        "palette": list(PALETTE),
        "charts": charts,
        "ecdf": ecdf,
    }


def _overview(results: Results) -> list[dict[str, Any]]:
    split = drawable_families(short_rows(results))
    shown = [row for members in split.values() for row in members]
    domain = time_domain(overview_points(shown), "low_ns", "high_ns")
    longest = max((len(row.label) for row in shown), default=0)
    return [
        {
            "id": f"overview-{family}",
            "kind": "overview",
            "title": family_name(family),
            "alt": _alt("Medians with 95% intervals", points),
            "spec": overview_panel(
                points,
                mechanisms=list(dict.fromkeys(row.label for row in members)),
                stages=overview_stages(shown),
                domain=domain,
                label_letters=longest,
                width="container",
            ),
        }
        for family, members in split.items()
        for points in [overview_points(members)]
    ]


def _alt(about: str, points: Sequence[dict[str, Any]]) -> str:
    """Say a chart in words, for those who cannot see it: what it shows, then each point."""
    return f"{about}. {'; '.join(str(point['tip']) for point in points)}."


def _memory(results: Results) -> list[dict[str, Any]]:
    charts = []
    every = memory_points(results.memory)
    labels = list(dict.fromkeys(point["label"] for point in every))
    domain = time_domain(every, "low_ns", "high_ns")
    for stage in memory_stages(results.memory):
        points = memory_points([one for one in results.memory if one.stage == stage])
        charts.append(
            {
                "id": f"memory-{stage}",
                "kind": "memory",
                "title": stage_title(stage),
                "alt": _alt("Launch time by parent memory", points),
                "spec": memory_panel(points, labels=labels, domain=domain, width="container", height=300),
            }
        )
    return charts


def _scans(results: Results) -> list[dict[str, Any]]:
    return _scan_figures("scan", scan_charts(scans_drawn(results.scans, "all")))


def _footprints(results: Results) -> list[dict[str, Any]]:
    points = part_points(results.footprints)
    return [
        {
            "id": "footprint-parts",
            "kind": "footprint",
            "title": "Memory of each idle task",
            "alt": _alt("Memory of each idle task by its parts", points),
            "spec": parts_panel(points, width="container"),
        }
        for _ in points[:1]
    ]


def _story(results: Results) -> list[dict[str, Any]]:
    return _scan_figures("story", phase_charts(results.phases))


def _gaps(results: Results) -> list[dict[str, Any]]:
    return [
        {
            "id": f"gaps-{number}-{place}",
            "kind": "story",
            "title": f"{chart.title}, {name}",
            "alt": _alt(f"{chart.title}, {name}", points),
            "spec": ladder_panel(
                points, labels=chart.labels, of="length", domain=chart.domain, width="container", height=300
            ),
        }
        for number, chart in enumerate(ladder_charts(results.ladders))
        for place, (name, points) in enumerate(chart.panels.items())
    ]


def _isolation(results: Results) -> list[dict[str, Any]]:
    points = isolation_points(results.isolation)
    return [
        {
            "id": "isolation-fates",
            "kind": "isolation",
            "title": "Who lives on, and how soon it is mended",
            "alt": _alt("Failing workers", points),
            "spec": isolation_panel(points, width="container"),
        }
        for _ in points[:1]
    ]


def _scan_figures(kind: str, charts: Sequence[ScanChart]) -> list[dict[str, Any]]:
    return [
        {
            "id": f"{kind}-{number}-{place}",
            "kind": kind,
            "title": f"{chart.title}, {title}",
            "alt": _alt(f"Time by {axis_title(chart.axis)}", points),
            "spec": scan_panel(
                points,
                labels=chart.labels,
                axis_title=axis_title(chart.axis),
                axis_kind=chart.axis_kind,
                domain=chart.domain or time_domain(points, "low_ns", "high_ns"),
                width="container",
                height=300,
            ),
        }
        for number, chart in enumerate(charts)
        for place, (title, points) in enumerate(chart.panels.items())
    ]


def _fits(results: Results) -> list[dict[str, Any]]:
    return [
        {
            "id": f"fit-{number}",
            "kind": "fit",
            "title": chart.title,
            "alt": _alt(f"Time by {axis_title(chart.axis)}", chart.points),
            "spec": fitted_panel(chart, width="container", height=300),
        }
        for number, chart in enumerate(fitted_charts(results.fit_panels))
    ]


def _ablations(results: Results) -> list[dict[str, Any]]:
    return [
        {
            "id": f"ablation-{number}",
            "kind": "ablation",
            "title": ablation_title(one),
            "alt": _alt("The gap by what was taken away", points),
            "spec": ablation_panel(points, width="container"),
        }
        for number, one in enumerate(results.ablations)
        for points in [ablation_points(one)]
    ]


def _messages(results: Results) -> list[dict[str, Any]]:
    return [
        {
            "id": f"messages-{number}-{name}",
            "kind": "scan",
            "title": f"{name.capitalize()} of messages, {chart.title}",
            "alt": _alt(f"{name.capitalize()} by size of a message", points),
            "spec": messages_panel(
                points,
                labels=chart.labels,
                quantity=name,
                domain=chart.domains[name],
                width="container",
                height=300,
            ),
        }
        for number, chart in enumerate(message_charts(results.messages))
        for name, points in chart.panels.items()
    ]


def _ecdf(results: Results) -> dict[str, Any]:
    kept = results.ecdfs[:MOST_SERIES]
    points = max(LEAST_POINTS, min(MOST_POINTS, POINT_BUDGET // max(len(kept), 1)))
    index = ecdf_index(results, kept, points)
    conditions = list(dict.fromkeys(one["condition"] for one in index if not one["plain"]))
    has_plain = any(one["plain"] for one in index)
    temperatures = _found(index, "temperature", ("warm", "cold"))
    choices = {
        "family": [[name, family_name(name)] for name in _found(index, "family", FAMILY_ORDER)],
        "stage": [[name, stage_title(name)] for name in _found(index, "stage", STAGE_ORDER)],
        "temperature": [[name, name] for name in temperatures],
        "placement": [[name, name] for name in _found(index, "placement", ("pinned",))],
        "condition": [[name, name] for name in conditions],
    }
    if len(temperatures) > 1:
        choices["temperature"].append([EVERY, "warm and cold"])
    if has_plain:
        choices["condition"].insert(0, [PLAIN, "plain"])
    if conditions and (has_plain or len(conditions) > 1):
        choices["condition"].append([EVERY, "all, one beside the other"])
    chosen = {name: options[0][0] if options else "" for name, options in choices.items()}
    if choices["stage"]:
        chosen["stage"] = choices["stage"][-1][0]
    chosen["temperature"] = choices["temperature"][-1][0] if choices["temperature"] else ""
    return {
        "series": index,
        "choices": choices,
        "chosen": chosen,
        "left_out": len(results.ecdfs) - len(kept),
        "spec": ecdf_panel([], labels=[], width="container", height=300),
    }


def _found(index: Sequence[dict[str, Any]], name: str, order: Sequence[str]) -> list[str]:
    found = dict.fromkeys(str(one[name]) for one in index)
    return [*(value for value in order if value in found), *(value for value in found if value not in order)]
