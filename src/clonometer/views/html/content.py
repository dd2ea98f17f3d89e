"""The report's text and tables, ready to be set."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from clonometer.families import family as family_of
from clonometer.results.types import Estimate, Finding, Results
from clonometer.units import format_duration, format_ratio
from clonometer.views.cautions import cautions
from clonometer.views.labels import cpu_name, family_name, placement_name, shown_axes
from clonometer.views.plots import short_rows
from clonometer.views.rows import (
    Figure,
    Row,
    fact_text,
    families,
    figure,
    floor_costs,
    host_phrases,
    launches_unit,
    make_rows,
    plain_figure,
    quantity_label,
    quantity_text,
    row_unit,
    temperatures,
    troubles,
    value_unit,
)
from clonometer.words import STAGE_ORDER, mechanism_name, stage_explanation, stage_name

#: Beyond this the page would grow past 2 MB; the rest is in the run file.
MOST_CELL_ROWS = 1000

_FACT_GROUPS = {
    "host": "Machine",
    "cpu": "Processor",
    "cpufreq": "Frequency",
    "cpuidle": "Idle states",
    "kernel": "Kernel",
    "mitigations": "Mitigations",
    "virt": "Virtualization",
    "clocksource": "Clock source",
    "memory": "Memory",
    "thp": "Transparent huge pages",
    "ksm": "Same-page merging",
    "hugetlb": "Huge pages",
    "cgroup": "Control group",
    "namespace": "Namespaces",
    "security": "Security",
    "limit": "Limits",
    "libc": "C library",
    "user": "User",
    "load": "Load",
    "steal": "Stolen time",
    "python": "Python",
}


def page_content(results: Results) -> dict[str, Any]:
    """Gather everything on the page but its figures."""
    rows = make_rows(results.cells)
    short = short_rows(results)
    return {
        "title": f"What a task costs on {cpu_name(str(results.host.get('cpu.model') or 'this machine'))}",
        "host_line": host_phrases(results),
        "status": results.status,
        "status_reason": results.status_reason,
        "lead": results.findings[0].sentence if results.findings else "",
        "findings": [_finding(one) for one in results.findings],
        "tables": [_table(family, members) for family, members in families(short).items()],
        "not_ranked": sorted({one.not_rankable_reason or "" for one in _estimates(short) if not one.rankable} - {""}),
        "stages": _stages(results),
        "floor": [(row.label, quantity_text(one), _summary(results, row)) for row, one in floor_costs(rows)],
        "cell_rows": [_cell_row(one) for one in results.cells[:MOST_CELL_ROWS]],
        "cell_rows_left_out": max(len(results.cells) - MOST_CELL_ROWS, 0),
        "filters": _filters(results),
        "warnings": _warnings(results),
        "troubles": [(reason, [one.cell for one in cells]) for reason, cells in troubles(results)],
        "facts": _facts(results),
        "measured": _measured(results),
        "summaries": _summaries(results, short),
        "command": shlex.join(results.command),
        "n_warnings": len(_warnings(results)),
    }


def _estimates(rows: Sequence[Row]) -> list[Estimate]:
    return [one for row in rows for one in row.estimates.values()]


def _finding(one: Finding) -> dict[str, str]:
    numbers = one.numbers
    ratio = interval = ""
    if isinstance(numbers.get("ratio"), (int, float)):
        text = format_ratio(numbers["ratio"], numbers.get("ratio_low"), numbers.get("ratio_high"))
        ratio, _, rest = text.partition(" (")
        interval = rest.rstrip(")")
    cells = numbers.get("cells", ())
    return {
        "id": one.id,
        "sentence": one.sentence,
        "ratio": ratio,
        "interval": interval,
        "cells": ", ".join(map(str, cells)) if isinstance(cells, (list, tuple)) else str(cells),
    }


def _table(family: str, rows: Sequence[Row]) -> dict[str, Any]:
    unit = launches_unit(rows)
    launches = any(row.any_estimate.stage for row in rows)
    warmths = temperatures(rows)
    pinned = all(row.any_estimate.condition.get("placement") == "pinned" for row in rows)
    columns = [[figure(row.estimates.get(warmth), row_unit(row, unit)) for row in rows] for warmth in warmths]
    tails = [max((_decimals(one) for one in column), key=len) for column in columns]
    drawn = []
    for place, row in enumerate(rows):
        first = place == 0 or rows[place - 1].group != row.group
        size = sum(other.group == row.group for other in rows)
        drawn.append(
            {
                "label": row.label if first else "",
                "span": size,
                "first": first,
                "stage": quantity_label(row),
                "rankable": row.rankable,
                "figures": [
                    (column[place], _padding(_decimals(column[place]), longest))
                    for column, longest in zip(columns, tails, strict=True)
                ],
            }
        )
    return {
        "family": family,
        "name": family_name(family),
        "explanation": family_of(family).explanation,
        "unit": unit if launches else "",
        "pinned": pinned and launches,
        "temperatures": [warmth or "" for warmth in warmths],
        "rows": drawn,
    }


def _decimals(one: Figure) -> str:
    return one.median.partition(".")[1] + one.median.partition(".")[2]


def _padding(decimals: str, longest: str) -> str:
    """The digits that are missing to align decimal points; the page sets them invisibly."""
    return longest[len(decimals) :]


def _stages(results: Results) -> list[tuple[str, str]]:
    found = {one.stage for one in results.cells}
    return [(stage_name(stage), stage_explanation(stage)) for stage in STAGE_ORDER if stage in found]


def _summary(results: Results, row: Row) -> str:
    return results.summaries.get(row.workload, "")


def _summaries(results: Results, rows: Sequence[Row]) -> list[tuple[str, str]]:
    found = dict.fromkeys(row.workload for row in rows)
    return [(mechanism_name(name), results.summaries[name]) for name in found if results.summaries.get(name)]


def _cell_row(one: Estimate) -> dict[str, Any]:
    notes = [] if one.rankable else [one.not_rankable_reason or "not ranked"]
    failed = [f"{name} {count}" for name, count in one.outcomes.items() if name != "ok" and count]
    notes += [f"failed launches: {', '.join(failed)}"] if failed else []
    notes += [f"clock skew in {one.clock_skew}"] if one.clock_skew else []
    notes += [warning.sentence for warning in one.warnings]
    axes = [
        f"{name}={one.condition[name]}"
        for name in shown_axes(one.cell)
        if name != "placement" and name in one.condition
    ]
    inside = one.cell.partition("[")[2].rstrip("]").split(",")
    shown = [part for part in inside if part and not part.startswith(("temperature=", "placement="))]
    return {
        "cell": one.cell,
        "mechanism": mechanism_name(one.workload),
        "condition": ", ".join(shown or axes),
        "temperature": one.temperature or "",
        "placement": placement_name(one),
        "until": _until(one),
        "figure": figure(one, "µs"),
        "median": one.median_ns if one.value is None else one.value,
        "p99": plain_figure(one.p99_ns, "µs"),
        "p99_ns": one.p99_ns,
        "p99_reason": one.p99_reason or "",
        "min": plain_figure(one.min_ns, "µs"),
        "min_ns": one.min_ns,
        "n": one.n_samples,
        "processes": one.n_processes,
        "mhz": f"{one.effective_mhz:.0f}" if one.effective_mhz else "-",
        "mhz_value": one.effective_mhz,
        "notes": "; ".join(notes),
    }


def _until(one: Estimate) -> str:
    """Name the stage or quantity; the table is in one unit, which what is no time does not have."""
    name = stage_name(one.stage, one.quantity)
    return name if one.value is None else f"{name} ({value_unit(one).strip() or one.unit})"


def _filters(results: Results) -> dict[str, list[str]]:
    shown = results.cells[:MOST_CELL_ROWS]
    return {
        "until": list(dict.fromkeys(_until(one) for one in shown)),
        "temperature": list(dict.fromkeys(one.temperature for one in shown if one.temperature)),
        "placement": list(dict.fromkeys(placement_name(one) for one in shown if placement_name(one))),
    }


def _warnings(results: Results) -> list[dict[str, Any]]:
    return [
        {"id": one.id, "sentences": one.sentences, "next_step": one.next_step, "cells": one.cells}
        for one in cautions(results)
    ]


def _facts(results: Results) -> list[dict[str, Any]]:
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for key, value in results.host.items():
        if key.startswith("lacks."):
            continue
        head = key.split(".")[0]
        reason = str(results.host.get(f"lacks.{key}") or "")
        groups.setdefault(head, []).append((key, "not known" if reason else fact_text(key, value), reason))
    return [{"name": _FACT_GROUPS.get(head, head), "facts": facts} for head, facts in groups.items()]


def _measured(results: Results) -> list[tuple[str, str]]:
    clock = results.clock
    cost = clock.get("cost_ns")
    clock_text = str(clock.get("clock") or "not known")
    if clock.get("reason"):
        clock_text += f" ({clock['reason']})"
    if isinstance(cost, (int, float)):
        clock_text += f"; a reading costs {format_duration(cost)}"
    facts = [
        ("Run", results.run_name),
        ("Started", results.started.replace("T", " ")),
        ("Lasted", f"{results.duration_s:.1f} s"),
        ("Plan", results.plan_name),
        ("Samples", f"{results.n_samples:,} from {results.n_processes:,} processes"),
        ("Order", f"random, seed {results.seed}"),
        ("Clock", clock_text),
        ("Clonometer", results.clonometer_version),
    ]
    return [(name, text) for name, text in facts if text]
