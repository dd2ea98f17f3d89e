"""Pictures of results: the report's charts as PNG or SVG, from the same specifications."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from clonometer.errors import InputError, unknown
from clonometer.results.types import Results
from clonometer.views.against import memory_panel, messages_panel, scan_panel
from clonometer.views.fitted import ablation_panel, ablation_points, ablation_title, fitted_charts, fitted_panel
from clonometer.views.isolation import isolation_panel, isolation_points
from clonometer.views.labels import STAGE_ORDER, family_name
from clonometer.views.parts import part_points, parts_panel
from clonometer.views.plots import (
    drawable_families,
    ecdf_choice,
    ecdf_index,
    ecdf_points,
    memory_points,
    memory_stages,
    overview_points,
    overview_stages,
    short_rows,
    stage_title,
    time_domain,
)
from clonometer.views.scans import MessageChart, ScanChart, message_charts, phase_charts, scan_charts, scans_drawn
from clonometer.views.specs import Spec, ecdf_panel, overview_panel, stack, theme
from clonometer.views.tails import ladder_charts, ladder_panel
from clonometer.words import axis_title

KINDS = (
    "ablation",
    "contention",
    "ecdf",
    "fit",
    "footprint",
    "gaps",
    "isolation",
    "memory",
    "messages",
    "overview",
    "ring",
    "scan",
    "story",
    "working_set",
)
_WANTED = {
    "ablation": "threads and processes under conditions that differ one by one (the plan work-ablation has)",
    "contention": "cells of contend.* with several numbers of workers",
    "fit": "scan of workers or their numbers (the plans work-ops and work-workers have)",
    "ecdf": "distributions of launches",
    "footprint": "idle tasks whose memory was read (the plan footprint has)",
    "gaps": "distribution of gaps (the plan cow has: those between another thread's writes)",
    "isolation": "worker that fails (the plan isolate has)",
    "memory": "cells that differ in parent_bytes",
    "messages": "cells that differ in message_bytes",
    "overview": "launches",
    "ring": "cells that differ in ring_tasks",
    "scan": "cells that differ in any other numeric axis",
    "story": "event whose phases were measured against a numeric axis (the plan cow has: a fork)",
    "working_set": "cells that differ in working_set_bytes",
}
# Stages of a launch fit in one row.
PANELS_A_ROW = 4
FORMATS = ("png", "svg")
PNG_SCALE = 2.0


def picture(results: Results, kind: str, image_format: str = "svg") -> bytes | str:
    """Draw a picture.

    Parameters
    ----------
    results
        What is known of the run.
    kind
        ``ablation`` (a gap that shrinks), ``contention`` (an operation's cost against the workers, threads and
        processes), ``ecdf`` (distributions), ``fit`` (curves through scans of workers), ``footprint`` (memory of idle
        tasks), ``gaps`` (how many are longer than a time), ``isolation`` (failing workers: who lives on and how soon it
        is mended), ``memory`` (time against the parent's memory), ``messages`` (latency and bandwidth against size),
        ``overview`` (medians), ``ring`` and ``working_set`` (switches against the number of tasks and the memory they
        work on), ``scan`` (time against every other numeric axis that the run scans) or ``story`` (the phases of an
        event).
    image_format
        ``png`` or ``svg``.

    Returns
    -------
    bytes or str
        A PNG's bytes, or an SVG's text.

    Raises
    ------
    UsageError
        If the kind or the format does not exist.
    InputError
        If the run has nothing to draw for this kind.
    """
    return rendered(lambda: picture_spec(results, kind), image_format)


def rendered(spec: Callable[[], Spec], image_format: str) -> bytes | str:
    """Render a specification with the theme of pictures that stand alone.

    Parameters
    ----------
    spec
        Builds it; called once the format is known to exist.
    image_format
        ``png`` or ``svg``.

    Returns
    -------
    bytes or str
        A PNG's bytes, or an SVG's text.

    Raises
    ------
    UsageError
        If the format does not exist.
    """
    if image_format not in FORMATS:
        raise unknown("picture format", image_format, FORMATS)
    import vl_convert

    whole = {**spec(), "config": theme()}
    if image_format == "svg":
        return str(vl_convert.vegalite_to_svg(whole))
    return bytes(vl_convert.vegalite_to_png(whole, scale=PNG_SCALE))


def picture_spec(results: Results, kind: str) -> Spec:
    """Build the Vega-Lite specification of a picture, without its theme.

    Raises
    ------
    UsageError
        If the kind does not exist.
    InputError
        If the run has nothing to draw for this kind.
    """
    if kind not in KINDS:
        raise unknown("picture", kind, KINDS)
    spec = _DRAWERS[kind](results)
    if spec is None:
        others = drawable_kinds(results)
        raise InputError(
            f"this run has nothing to draw as {kind!r}: it has no {_WANTED[kind]}",
            f"it has: {', '.join(others)}" if others else "the default plan measures all of it: clonometer run",
        )
    return spec


def drawable_kinds(results: Results) -> list[str]:
    """Kinds for which the run has something to draw."""
    return [kind for kind in KINDS if _DRAWERS[kind](results) is not None]


def _overview(results: Results) -> Spec | None:
    rows = short_rows(results)
    split = drawable_families(rows)
    if not split:
        return None
    shown = [row for members in split.values() for row in members]
    domain = time_domain(overview_points(shown), "low_ns", "high_ns")
    longest = max((len(row.label) for row in shown), default=0)
    panels = [
        overview_panel(
            overview_points(members),
            mechanisms=list(dict.fromkeys(row.label for row in members)),
            stages=overview_stages(shown),
            domain=domain,
            label_letters=longest,
            title=f"{family_name(family)} (filled: warm, hollow: cold)",
        )
        for family, members in split.items()
    ]
    return stack([[panel] for panel in panels])


def _memory(results: Results) -> Spec | None:
    stages = memory_stages(results.memory)
    if not stages:
        return None
    chosen = {stage: memory_points([one for one in results.memory if one.stage == stage]) for stage in stages}
    labels = list(dict.fromkeys(point["label"] for points in chosen.values() for point in points))
    domain = time_domain([point for points in chosen.values() for point in points], "low_ns", "high_ns")
    panels = [
        memory_panel(points, labels=labels, domain=domain, title=stage_title(stage)) for stage, points in chosen.items()
    ]
    return stack([panels])


def _ecdf(results: Results) -> Spec | None:
    chosen = ecdf_choice(ecdf_index(results, results.ecdfs))
    labels = list(dict.fromkeys(one["label"] for one in chosen))
    rows = []
    for family in dict.fromkeys(one["family"] for one in chosen):
        members = [one for one in chosen if one["family"] == family]
        domain = time_domain(ecdf_points(members), "time_ns", "time_ns")
        rows.append(
            [
                ecdf_panel(
                    ecdf_points([one for one in members if one["stage"] == stage]),
                    labels=labels,
                    domain=domain,
                    title=f"{family_name(family)}, {stage_title(stage)}",
                )
                for stage in STAGE_ORDER
                if any(one["stage"] == stage for one in members)
            ]
        )
    return stack(rows) if rows else None


def _contention(results: Results) -> Spec | None:
    charts = [chart for chart in scan_charts(results.scans) if chart.family == "contend"]
    rows = [row for chart in charts for row in _panel_rows(chart, "")]
    return stack(rows) if rows else None


def _messages(results: Results) -> Spec | None:
    rows = [
        [
            messages_panel(
                points,
                labels=chart.labels,
                quantity=name,
                domain=chart.domains[name],
                title=_title(chart, name),
            )
            for name, points in chart.panels.items()
        ]
        for chart in message_charts(results.messages)
    ]
    return stack(rows) if rows else None


def _title(chart: MessageChart, quantity: str) -> str:
    return f"{quantity.capitalize()} of messages, {chart.title}"


def _scan(results: Results, kind: str | None = None) -> Spec | None:
    charts = scan_charts(scans_drawn(results.scans, kind))
    return _scan_rows([(chart, f"{family_name(chart.family)}, ") for chart in charts])


def _story(results: Results) -> Spec | None:
    return _scan_rows([(chart, f"{chart.title}, ") for chart in phase_charts(results.phases)])


def _scan_rows(charts: Sequence[tuple[ScanChart, str]]) -> Spec | None:
    rows = [row for chart, head in charts for row in _panel_rows(chart, head)]
    if not rows:
        return None
    # Lines are called differently in each chart: no two share their colours.
    return {**stack(rows), "resolve": {"scale": {"color": "independent", "strokeDash": "independent"}}}


def _panel_rows(chart: ScanChart, head: str) -> list[list[Spec]]:
    panels = [
        scan_panel(
            points,
            labels=chart.labels,
            axis_title=axis_title(chart.axis),
            axis_kind=chart.axis_kind,
            domain=chart.domain or time_domain(points, "low_ns", "high_ns"),
            title=f"{head}{title}",
        )
        for title, points in chart.panels.items()
    ]
    return [panels[start : start + PANELS_A_ROW] for start in range(0, len(panels), PANELS_A_ROW)]


def _footprint(results: Results) -> Spec | None:
    points = part_points(results.footprints)
    return parts_panel(points, title="Memory of each idle task") if points else None


def _gaps(results: Results) -> Spec | None:
    rows = [
        [
            ladder_panel(points, labels=chart.labels, of="length", domain=chart.domain, title=name)
            for name, points in chart.panels.items()
        ]
        for chart in ladder_charts(results.ladders)
    ]
    titles = [chart.title for chart in ladder_charts(results.ladders)]
    if not rows:
        return None
    titled = [{**stack([row]), "title": _sentence(title)} for row, title in zip(rows, titles, strict=True)]
    return {"vconcat": titled, "spacing": 28}


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _isolation(results: Results) -> Spec | None:
    points = isolation_points(results.isolation)
    return isolation_panel(points, title="A worker fails: who lives on, and how soon it is mended") if points else None


def _fit(results: Results) -> Spec | None:
    panels = [fitted_panel(chart, title=chart.title) for chart in fitted_charts(results.fit_panels)]
    rows = [panels[place : place + 2] for place in range(0, len(panels), 2)]
    return {**stack(rows), "resolve": {"scale": {"color": "independent"}}} if rows else None


def _ablation(results: Results) -> Spec | None:
    panels = [ablation_panel(ablation_points(one), title=ablation_title(one)) for one in results.ablations]
    return stack([[panel] for panel in panels]) if panels else None


_DRAWERS: dict[str, Callable[[Results], Spec | None]] = {
    "ablation": _ablation,
    "contention": _contention,
    "ecdf": _ecdf,
    "fit": _fit,
    "footprint": _footprint,
    "gaps": _gaps,
    "isolation": _isolation,
    "memory": _memory,
    "messages": _messages,
    "overview": _overview,
    "ring": partial(_scan, kind="ring"),
    "scan": _scan,
    "story": _story,
    "working_set": partial(_scan, kind="working_set"),
}
