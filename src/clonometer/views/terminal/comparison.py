"""Comparisons on a terminal: what differs between the hosts, a table, a summary. Returned as text."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.results.compare.types import FASTER, HIGHER, LOWER, SLOWER, Compared, ComparedPair
from clonometer.units import table_unit
from clonometer.views.comparison import (
    Line,
    common_text,
    differences_text,
    make_line,
    pick,
    reasons,
    sizes_unit,
    summary,
)
from clonometer.views.rows import figure
from clonometer.views.terminal.columns import fit_lines, numbers, said_once, words
from clonometer.views.terminal.tables import INTERVAL_HEADING
from clonometer.views.terminal.text import clean, elide, page, paint, wrap

LEAST_WIDTH = 60
SHORT_ROWS = 12
SHORT_DIFFERENCES = 5
SHORT_REASONS = 3
LABEL_LEAST = 12
LABEL_MOST = 44
_STYLES = {SLOWER: "bad", FASTER: "bold", HIGHER: "bold", LOWER: "bold"}
#: Columns that go first where the terminal is too narrow.
_DROPPABLE = ("p", "processes", "base", "rest", "other")


def render_comparison(
    compared: Compared, *, width: int = 80, wide: bool = False, colour: bool = False, ascii_only: bool = False
) -> str:
    """Write comparisons as text.

    Parameters
    ----------
    compared
        What `clonometer.results.compare.comparison` found.
    width
        Columns of the terminal; fewer than 60 are taken as 60.
    wide
        Every row, every difference and every reason.
    colour, ascii_only
        Whether to use ANSI colours, and whether to keep to ASCII.

    Returns
    -------
    str
        Lines, each ended by a newline.
    """
    width = max(width, LEAST_WIDTH)
    parts = [_pair(pair, width, wide, colour) for pair in compared.pairs]
    parts.append(wrap(summary(compared), width))
    return page(["\n\n".join("\n".join(part) for part in parts)], ascii_only=ascii_only)


def _pair(pair: ComparedPair, width: int, wide: bool, colour: bool) -> list[str]:
    lines = [make_line(row) for row in pair.rows]
    shown = lines if wide else pick(lines, SHORT_ROWS)
    title = f"{pair.other} against {pair.base}"
    drawn = [paint(line, "bold", colour) for line in wrap(title, width)]
    if pair.differences or not _same_run(pair):
        drawn += wrap(differences_text(pair.differences, None if wide else SHORT_DIFFERENCES), width)
    drawn += wrap(common_text(pair), width)
    drawn += ["", *comparison_table(shown, width, colour)]
    said = reasons(pair)
    kept = said if wide else said[:SHORT_REASONS]
    drawn += [line for reason in kept for line in wrap(reason, width, bullet="! ")]
    hidden = [
        f"{count} {noun}{'' if count == 1 else 's'}"
        for count, noun in ((len(lines) - len(shown), "row"), (len(said) - len(kept), "reason"))
        if count
    ]
    if hidden:
        drawn.append(f"--wide adds {' and '.join(hidden)}")
    return drawn


def _same_run(pair: ComparedPair) -> bool:
    return any(row.base.cell != row.other.cell for row in pair.rows)


def comparison_table(lines: Sequence[Line], width: int, colour: bool) -> list[str]:
    """Draw the table; columns of secondary interest go where ``width`` is too small, then labels are cut."""
    if not lines:
        return ["Nothing was measured in both."]
    drawn = []
    for place, text in enumerate(fit_lines(_columns(lines), width, _DROPPABLE, LABEL_LEAST)):
        row = lines[place - 1].row
        style = "bold" if place == 0 else None if row.like_rest else _STYLES.get(row.verdict)
        drawn.append(paint(text, style, colour) if style else text)
    return drawn


def _columns(lines: Sequence[Line]) -> dict[str, list[str]]:
    rows = [line.row for line in lines]
    unit = table_unit([one.median_ns for row in rows for one in (row.base, row.other)])
    lows = max(len(line.low) for line in lines)
    return {
        "label": words("", [elide(label, LABEL_MOST) for label in said_once([clean(line.label) for line in lines])]),
        "stage": words("until", [line.stage for line in lines]),
        "base": numbers(f"before, {unit}", [figure(row.base, sizes_unit(row) or unit).median for row in rows]),
        "other": numbers(f"after, {unit}", [figure(row.other, sizes_unit(row) or unit).median for row in rows]),
        "ratio": numbers("ratio", [line.ratio for line in lines]),
        "interval": words(
            INTERVAL_HEADING, [f"{line.low:>{lows}} – {line.high}" if line.high else "-" for line in lines]
        ),
        "processes": numbers("processes", [f"{row.base.n_processes}, {row.other.n_processes}" for row in rows]),
        "p": numbers("p", [_p_text(row.p_adjusted) for row in rows]),
        "rest": numbers("the rest", ["-" if row.rest is None else f"{row.rest:.2f}" for row in rows]),
        "verdict": words("verdict", [line.verdict for line in lines]),
    }


def _p_text(p: float | None) -> str:
    if p is None:
        return "-"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
