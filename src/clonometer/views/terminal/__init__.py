"""The answer on a terminal: the first screen, or all there is. Returned as text; nothing is printed here."""

from __future__ import annotations

import shlex

from clonometer.families import family as family_of
from clonometer.results.types import Results
from clonometer.views.estimate_tables import wide_table
from clonometer.views.figures import figures
from clonometer.views.rows import explained_stages, families, make_rows, what_ended
from clonometer.views.terminal.first_screen import (
    first_screen,
    head,
    live_screen,
    missing_lines,
    program_line,
    spaced,
    trouble_lines,
)
from clonometer.views.terminal.table import draw_whole
from clonometer.views.terminal.text import OF_THIS_RUN, clean, painted, rendered, wrap, wrap_each
from clonometer.views.warning_groups import warning_groups

WARNING_EXAMPLES = 3


@rendered(least_width=40)
def render_answer(results: Results, *, width: int, colour: bool, wide: bool = False, lines: int = 24) -> list[str]:
    """Write the answer.

    ``lines``: the most lines of the first screen at 80 columns; fewer than 12 are taken as 12, and narrower terminals
    have more. ``wide``: everything, however long: a line an estimate with p99, minimum and counts, all findings and
    warnings; tables are as wide as they must be, whatever the terminal.
    """
    return _wide(results, width, colour) if wide else first_screen(results, width, max(lines, 12), colour=colour)


@rendered(least_width=40)
def render_so_far(results: Results, *, width: int, colour: bool, lines: int) -> list[str]:
    """Write what is known while a run goes on, in so many lines at most."""
    return live_screen(results, width, lines, colour=colour)


def _warning_lines(results: Results, width: int) -> list[str]:
    """Each kind of warning once: how often, the first few, and what to do about it."""
    lines: list[str] = []
    for group in warning_groups(results):
        shown = group.sentences[:WARNING_EXAMPLES]
        rest = len(group.sentences) - len(shown)
        first = f"warning: {shown[0]}" if rest == 0 else f"{len(group.sentences)} warnings: {shown[0]}"
        lines += wrap(first, width, bullet="! ")
        lines += wrap_each(shown[1:], width, bullet="  ")
        if rest:
            lines += wrap(f"and {rest} more, all in show --json", width, bullet="  ")
        lines += wrap(f"Next: {group.next_step}", width, bullet="  ")
    return lines


def _wide(results: Results, width: int, colour: bool) -> list[str]:
    rows = make_rows(results.cells)
    about = (
        f"plan {results.plan_name}, {results.status}: {results.n_samples:,} samples from "
        f"{results.n_processes} processes in {results.duration_s:.0f} s, seed {results.seed}, "
        f"clonometer {results.clonometer_version}"
    )
    blocks = [head(results, width, colour) + wrap(about, width)]
    tables = [wide_table(family, members) for family, members in families(rows).items()]
    blocks += [draw_whole(table, width, colour) for table in tables] or [["Nothing was measured."]]
    blocks += [draw_whole(table, width, colour) for figure in figures() for table in figure.tables(results)]
    notes = wrap_each(map(": ".join, explained_stages(results)), width)
    notes += program_line(rows, width)
    # What the asterisk means: a new task's life, or what a woken one answers.
    notes += [f"* {note}." for note in sorted({family_of(row.family).not_ranked for row in rows if not row.rankable})]
    notes += wrap(what_ended(results), width)
    notes += wrap(OF_THIS_RUN, width) if tables else []
    blocks.append(notes)
    trouble = [*missing_lines(results, width), *trouble_lines(results, width, most=None)]
    blocks.append(painted(trouble, "warn", colour))
    blocks.append(wrap_each((finding.sentence for finding in results.findings), width, bullet="- "))
    blocks.append(_warning_lines(results, width))
    blocks.append(wrap(f"Repeat it with: {clean(shlex.join(results.command))}", width) if results.command else [])
    return spaced([block for block in blocks if block], 1 << 30)
