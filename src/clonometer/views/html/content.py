"""The report's text and tables, ready to be set."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clonometer.families import family as family_of
from clonometer.results.types import RUN_FILE, Estimate, Finding, Results
from clonometer.units import format_duration
from clonometer.views.estimate_tables import answer_table, is_pinned
from clonometer.views.figures import figures
from clonometer.views.labels import cpu_name, family_name, placement_name
from clonometer.views.plots import short_rows
from clonometer.views.rows import (
    EstimateRow,
    explained_stages,
    fact_text,
    failures,
    families,
    floor_costs,
    host_phrases,
    launches_unit,
    make_rows,
    median_text,
    plain_figure,
    quantity_text,
    value_unit,
)
from clonometer.views.statistics import statistic_columns
from clonometer.views.table import INTERVAL_HEADING, Column, Table
from clonometer.views.warning_groups import warning_groups
from clonometer.words import cell_parts, mechanism_name, stage_name

#: Beyond this the page would grow past 2 MB; the rest is in the run file.
MOST_CELL_ROWS = 1000
_CELL_UNIT = "µs"
#: Beyond these findings are folded.
MOST_FINDINGS = 5

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
    differing = [finding for finding in results.findings if finding.states_difference]
    # What the answer says stands above; it is not said twice in a row.
    in_answer = {finding.id.partition(".")[2] for finding in (*results.first.answer, *results.first.reasons)}
    lead = results.first.answer or results.findings[:1]
    leading = [each for each in differing if each.id not in in_answer and each not in lead][:MOST_FINDINGS]
    unranked = {each.not_rankable_reason for row in short for each in row.estimates.values() if not each.rankable}
    return {
        "title": f"What a task costs on {cpu_name(str(results.host.get('cpu.model') or 'this machine'))}",
        "host_line": host_phrases(results),
        "status": results.status,
        "status_reason": results.status_reason,
        "lead": " ".join(finding.sentence for finding in lead),
        "points": [
            (name, [finding.sentence for finding in findings])
            for name, findings in (("Why", results.first.reasons), ("What to do", results.first.advice))
            if findings
        ],
        "doubts": [finding.sentence for finding in results.first.doubts],
        "next": _next(results),
        "findings": [_finding(finding, results) for finding in leading],
        "more": [_finding(finding, results) for finding in differing if finding not in leading],
        "unsure": [_finding(finding, results) for finding in results.findings if not finding.states_difference],
        "families": [_family(family, members) for family, members in families(short).items()],
        "not_ranked": sorted(filter(None, unranked)),
        "stages": explained_stages(results),
        "floor": [(row.label, quantity_text(estimate)) for row, estimate in floor_costs(rows)],
        "cell_table": _cell_table(results.cells[:MOST_CELL_ROWS]),
        "cell_rows_left_out": max(len(results.cells) - MOST_CELL_ROWS, 0),
        "filters": _filters(results),
        "warnings": warning_groups(results),
        "failures": [(reason, [status.cell for status in cells]) for reason, cells in failures(results)],
        "facts": _facts(results),
        "measured": _measured(results),
        "summaries": _summaries(results, short),
        "command": shlex.join(results.command),
    }


def _next(results: Results) -> tuple[str, str]:
    """The command to try next and what it is for; empty where there is none."""
    following = results.first.next
    if following is None or following.words[0] == "report":
        # The page is what that command makes.
        return "", ""
    words = [results.run_name if word == RUN_FILE else word for word in following.words]
    return shlex.join(["clonometer", *words]), following.about


def _finding(finding: Finding, results: Results) -> dict[str, str]:
    return {
        "sentence": finding.sentence,
        "link": _figure_of(finding, results),
        "cells": ", ".join(finding.numbers.get("cells", ())),
    }


def _figure_of(finding: Finding, results: Results) -> str:
    """The section whose figure shows what a finding says; empty where none does."""
    for figure in figures():
        if figure.section and finding in figure.answering(results) and figure.rows(results):
            return figure.kind
    return ""


def _family(family: str, rows: Sequence[EstimateRow]) -> dict[str, Any]:
    return {
        "id": family,
        "name": family_name(family),
        "explanation": family_of(family).explanation,
        "unit": launches_unit(rows) if any(row.any_estimate.stage for row in rows) else "",
        "pinned": is_pinned(rows),
        "table": answer_table(rows),
    }


def _summaries(results: Results, rows: Sequence[EstimateRow]) -> list[tuple[str, str]]:
    workloads = dict.fromkeys(row.workload for row in rows)
    return [(mechanism_name(name), results.summaries[name]) for name in workloads if results.summaries.get(name)]


def _cell_table(estimates: Sequence[Estimate]) -> Table:
    """Every estimate, in one unit, so that it can be sorted."""
    texts = [median_text(estimate, _CELL_UNIT) for estimate in estimates]
    medians = [estimate.median_ns if estimate.value is None else estimate.value for estimate in estimates]
    columns = [
        Column("mechanism", [mechanism_name(estimate.workload) for estimate in estimates]),
        Column("condition", [_condition(estimate) for estimate in estimates]),
        Column("temperature", [estimate.temperature or "" for estimate in estimates]),
        Column("placement", [placement_name(estimate) for estimate in estimates]),
        Column("until", [_until(estimate) for estimate in estimates]),
        Column("median", [text.value for text in texts], "right", numbers=medians),
        Column(INTERVAL_HEADING, [text.interval for text in texts], "range"),
        *(
            replace(column, align="right")
            for column in statistic_columns(
                [vars(estimate) for estimate in estimates], lambda _, time_ns: plain_figure(time_ns, _CELL_UNIT)
            )
        ),
        Column("notes", [_notes(estimate) for estimate in estimates], prose=True, folded="notes"),
    ]
    tips = [estimate.cell for estimate in estimates]
    return Table([column for column in columns if not column.is_empty], row_tips=tips)


def _condition(estimate: Estimate) -> str:
    _, parts = cell_parts(estimate.cell)
    return ", ".join(part for part in parts if not part.startswith(("temperature=", "placement=")))


def _notes(estimate: Estimate) -> str:
    notes = [] if estimate.rankable else [estimate.not_rankable_reason or "not ranked"]
    failed = [f"{name} {count}" for name, count in estimate.outcomes.items() if name != "ok" and count]
    notes += [f"failed launches: {', '.join(failed)}"] if failed else []
    notes += [f"clock skew in {estimate.clock_skew}"] if estimate.clock_skew else []
    return "; ".join([*notes, *(warning.sentence for warning in estimate.warnings)])


def _until(estimate: Estimate) -> str:
    """Name the stage or quantity; the table is in one unit, which what is no time does not have."""
    name = stage_name(estimate.stage, estimate.quantity)
    return name if estimate.value is None else f"{name} ({value_unit(estimate) or estimate.unit})"


def _filters(results: Results) -> dict[str, list[str]]:
    shown = results.cells[:MOST_CELL_ROWS]
    return {
        "until": list(dict.fromkeys(_until(estimate) for estimate in shown)),
        "temperature": list(dict.fromkeys(estimate.temperature for estimate in shown if estimate.temperature)),
        "placement": list(dict.fromkeys(placement_name(estimate) for estimate in shown if placement_name(estimate))),
    }


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
