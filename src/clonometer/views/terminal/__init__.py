"""The answer on a terminal: host, table, findings. Returned as text; nothing is printed here."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from clonometer.families import family as family_of
from clonometer.families import is_launch
from clonometer.results.types import Results
from clonometer.views.cautions import cautions
from clonometer.views.estimate_tables import answer_tables, wide_tables
from clonometer.views.figures import figures
from clonometer.views.labels import program_explanation, shown_axes
from clonometer.views.rows import (
    EstimateRow,
    families,
    floor_costs,
    host_phrases,
    make_rows,
    pick_rows,
    quantity_text,
    troubles,
    what_ended,
)
from clonometer.views.terminal.table import draw_stack, draw_table
from clonometer.views.terminal.text import clean, elide, join_phrases, paint, rendered, wrap, wrap_each
from clonometer.words import STAGE_ORDER, stage_explanation, stage_name

FINDING_LINES = 6
LEAST_FINDING_LINES = 4
WARNING_EXAMPLES = 3


@rendered(least_width=40)
def render_answer(results: Results, *, width: int, colour: bool, wide: bool = False, lines: int = 25) -> list[str]:
    """Write the answer.

    ``lines``: the most lines of the short answer; fewer than 12 are taken as 12. ``wide``: everything, however long: a
    line an estimate with p99, minimum and counts, all findings and warnings.
    """
    return _wide(results, width, colour) if wide else _short(results, width, max(lines, 12), colour)


def _head(results: Results, width: int, colour: bool) -> list[str]:
    phrases = host_phrases(results)
    brief = [phrases[0].removeprefix("Intel ").removeprefix("AMD "), *phrases[1:]]
    chosen = min((join_phrases(words, width) for words in (phrases, brief)), key=len)
    lines = [paint(line, "bold", colour) for line in chosen]
    if results.status != "complete":
        verb = "failed" if results.status == "failed" else f"is {results.status}"
        reason = f": {results.status_reason}" if results.status_reason else "."
        lines += [paint(line, "warn", colour) for line in wrap(f"This run {verb}{reason}", width)]
    return lines


def _short(results: Results, width: int, limit: int, colour: bool) -> list[str]:
    head = _head(results, width, colour)
    trouble = _trouble_lines(results, width, most=3)
    rows = make_rows(results.cells)
    # What the instrument costs has a line or a table of its own.
    shown_findings = [
        finding for finding in results.findings if finding.id != "floor" or not any(row.is_instrument for row in rows)
    ]
    findings = [wrap(finding.sentence, width, bullet="- ") for finding in shown_findings]
    # Where there is no room for all, what could not be told goes first, but for the first finding.
    stating = [finding for place, finding in enumerate(shown_findings) if place == 0 or finding.states_difference]
    headlines = [wrap(finding.headline or finding.sentence, width, bullet="- ") for finding in stating]
    wanted = sum(map(len, findings)) + len(trouble) + 1
    sections = max(len(families([row for row in rows if not row.is_instrument])), 1)
    # The finding about a program's start says what it is.
    started = [] if any(finding.id == "program_start" for finding in shown_findings) else _program_line(rows, width)
    taken = len(head) + len(started)
    picked = pick_rows(rows, limit - taken - sections - min(FINDING_LINES + len(trouble), wanted))
    room = limit - taken - min(LEAST_FINDING_LINES + len(trouble), wanted)
    picked = _fit(picked, room)
    gaps = _summing_up(results, picked, width, colour)
    if gaps:
        picked, table = [], gaps
    else:
        table = _answer(picked, width, colour) if picked else ["Nothing was measured."]
    table += started
    floor = _floor_line(rows, picked, width)
    used = len(head) + len(table) + len(trouble)
    hidden = sum(not row.is_instrument for row in rows) - sum(not row.is_instrument for row in picked)
    for tail_room in range(4):
        finding_lines, left_out = _choose(findings, limit - used - tail_room)
        if left_out:
            finding_lines, left_out = _choose(headlines, limit - used - tail_room)
            left_out += len(shown_findings) - len(stating)
        tail = _tail(results, picked, hidden, left_out, width)
        if len(tail) <= tail_room:
            break
    parts = [head, table, [paint(line, "warn", colour) for line in trouble], finding_lines, floor, tail]
    if sum(map(len, parts)) > limit:
        parts[4] = []
    return _spaced(parts, limit)


def _answer(rows: Sequence[EstimateRow], width: int, colour: bool) -> list[str]:
    return [line for lines in draw_stack(answer_tables(rows), width, colour).tables for line in lines]


def _program_line(rows: Sequence[EstimateRow], width: int) -> list[str]:
    """Say what the new program is where the rows do not: its launches differ by it more than by how it is started."""
    unnamed = {
        str(row.any_estimate.condition["program"])
        for row in rows
        if is_launch(row.family) and "program" in row.any_estimate.condition and not _names_program(row)
    }
    programs = [program_explanation(program) for program in sorted(unnamed)]
    return wrap(f"The new program is {' or '.join(programs)}, where no other is named.", width) if programs else []


def _names_program(row: EstimateRow) -> bool:
    return "program" in shown_axes(row.any_estimate.cell)


def _summing_up(results: Results, picked: Sequence[EstimateRow], width: int, colour: bool) -> list[str]:
    """Tables of a figure that say more than the rows, where the run has nothing else; else nothing."""
    workloads = {row.workload for row in picked}
    summaries = (figure.sums_up(results, workloads) for figure in figures())
    tables = next((tables for tables in summaries if tables), ())
    return [line for table in tables for line in draw_table(table, width, colour)]


def _fit(rows: list[EstimateRow], room: int) -> list[EstimateRow]:
    """Cut rows so that they and their families' headings take at most ``room`` lines."""
    while rows and len(rows) + len(families(rows)) > room:
        rows = rows[:-1]
    return rows


def _choose(findings: list[list[str]], room: int) -> tuple[list[str], int]:
    """Take the findings that fit, the first ones first; also count those left out."""
    lines: list[str] = []
    left_out = 0
    for sentence in findings:
        if len(lines) + len(sentence) <= room:
            lines += sentence
        else:
            left_out += 1
    return lines, left_out


def _tail(
    results: Results, picked: Sequence[EstimateRow], hidden: int, findings_left_out: int, width: int
) -> list[str]:
    warnings = len(cautions(results))
    more = [
        f"{count} {kind}{'' if count == 1 else 's'}"
        for count, kind in ((hidden, "row"), (findings_left_out, "finding"), (warnings, "warning"))
        if count
    ]
    parts = [*_not_ranked(picked), *_no_interval(picked)]
    if more:
        parts.append(f"--wide adds {', '.join(more)}")
    whole = "; ".join(parts)
    return [whole] if 0 < len(whole) <= width else [elide(part, width) for part in parts]


def _not_ranked(rows: Sequence[EstimateRow]) -> list[str]:
    """What the asterisk means: a new task's life, or what a woken one answers."""
    return sorted({f"* {family_of(row.family).not_ranked}" for row in rows if not row.rankable})


def _no_interval(rows: Sequence[EstimateRow]) -> list[str]:
    """What a dash in the place of an interval means, and what to do about it."""
    shown = [estimate for row in rows for estimate in row.estimates.values()]
    alone = any(estimate.median_ns is not None and estimate.median_low_ns is None for estimate in shown)
    return ["-: one process only; a longer --budget adds more"] if alone else []


def _floor_line(rows: Sequence[EstimateRow], picked: Sequence[EstimateRow], width: int) -> list[str]:
    floor = floor_costs(rows)
    if not floor or any(row.is_instrument for row in picked):
        return []
    costs = [f"{row.label} {quantity_text(estimate)}" for row, estimate in floor]
    return wrap(f"The instrument itself: {', '.join(costs)}.", width)


def _trouble_lines(results: Results, width: int, most: int | None) -> list[str]:
    lines: list[str] = []
    grouped = troubles(results)
    for reason, cells in grouped:
        names = ", ".join(status.cell for status in cells)
        count = f"{len(cells)} cells " if len(cells) > 1 else ""
        lines += wrap(f"{count}{reason} ({names})", width, bullet="! ")
    if most is None or len(lines) <= most:
        return lines
    total = sum(len(cells) for _, cells in grouped)
    return [*lines[: most - 1], f"! {total} cells without a result in all; the rest: --wide"]


def _warning_lines(results: Results, width: int) -> list[str]:
    """Each kind of warning once: how often, the first few, and what to do about it."""
    lines: list[str] = []
    for caution in cautions(results):
        shown = caution.sentences[:WARNING_EXAMPLES]
        rest = len(caution.sentences) - len(shown)
        first = f"warning: {shown[0]}" if rest == 0 else f"warning, {len(caution.sentences)} rows: {shown[0]}"
        lines += wrap(first, width, bullet="! ")
        for sentence in shown[1:]:
            lines += wrap(sentence, width, bullet="  ")
        if rest:
            lines += wrap(f"and {rest} more, all in show --json", width, bullet="  ")
        lines += wrap(f"Next: {caution.next_step}", width, bullet="  ")
    return lines


def _spaced(parts: list[list[str]], limit: int) -> list[str]:
    """Put blank lines between the parts while there is room for them."""
    parts = [part for part in parts if part]
    spare = limit - sum(map(len, parts))
    drawn: list[str] = []
    for place, part in enumerate(parts):
        if place and spare >= len(parts) - 1:
            drawn.append("")
        drawn += part
    return drawn


def _estimates(rows: Sequence[EstimateRow], width: int, colour: bool) -> list[str]:
    """Every estimate; columns for which there is no room are named below."""
    lines: list[str] = []
    dropped: dict[str, None] = {}
    for table in wide_tables(rows):
        drawn = draw_stack([table], width, colour)
        lines += [*([""] if lines else []), *drawn.tables[0]]
        dropped |= dict.fromkeys(drawn.dropped)
    return [*lines, f"(left out at {width} columns: {', '.join(dropped)})"] if dropped else lines


def _wide(results: Results, width: int, colour: bool) -> list[str]:
    rows = make_rows(results.cells)
    about = (
        f"plan {results.plan_name}, {results.status}: {results.n_samples:,} samples from "
        f"{results.n_processes} processes in {results.duration_s:.0f} s, seed {results.seed}, "
        f"clonometer {results.clonometer_version}"
    )
    blocks = [_head(results, width, colour) + wrap(about, width)]
    blocks.append(_estimates(rows, width, colour) if rows else ["Nothing was measured."])
    tables = [table for figure in figures() for table in figure.tables(results)]
    blocks += [draw_table(table, width, colour) for table in tables]
    stages = [stage for stage in STAGE_ORDER if any(estimate.stage == stage for estimate in results.cells)]
    notes = wrap_each((f"{stage_name(stage)}: {stage_explanation(stage)}" for stage in stages), width)
    notes += _program_line(rows, width)
    notes += [f"{note}." for note in _not_ranked(rows)]
    notes += wrap(what_ended(results), width)
    blocks.append(notes)
    blocks.append([paint(line, "warn", colour) for line in _trouble_lines(results, width, most=None)])
    blocks.append(wrap_each((finding.sentence for finding in results.findings), width, bullet="- "))
    blocks.append(_warning_lines(results, width))
    blocks.append(wrap(f"Repeat it with: {clean(shlex.join(results.command))}", width) if results.command else [])
    return _spaced(blocks, 1 << 30)
