"""Two sides on a terminal: what they are, a row a stage, a summary. Returned as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clonometer.results.ab.command_types import CommandRow, CommandsResult
from clonometer.results.ab.types import AbResult, AbRow
from clonometer.results.ab.wording import medians_text, percentages, switched_text
from clonometer.units import format_ratio, format_share, ratio_figures, table_unit
from clonometer.verdicts import Direction, Gate
from clonometer.views.comparison import counts_of_verdicts, verdict_word
from clonometer.views.labels import label_parts
from clonometer.views.rows import is_part, median_text
from clonometer.views.table import DRIFTS, MISSING, Column, Table, label_column
from clonometer.views.terminal.comparison import reason_lines, verdict_style
from clonometer.views.terminal.table import draw_with
from clonometer.views.terminal.text import OF_THIS_RUN, painted, rendered, wrap, wrap_each
from clonometer.words import stage_name

SHORT_ROWS = 16
SHORT_SENTENCES = 3
# A variable may have 100,000 letters; what is longer is cut.
_LONGEST_SETTING = 80
# Above, a percentage says less than a multiple.
_MANY_TIMES = 2.0


@rendered(least_width=40)
def render_ab(result: AbResult, *, width: int, colour: bool, wide: bool = False) -> list[str]:
    """Write a comparison of two sides.

    ``wide``: every row, every sentence and every reason.
    """
    lines = []
    for name, settings in (("A", result.a), ("B", result.b)):
        asked = ", ".join(map(_setting, settings)) or "defaults"
        lines += painted(wrap(f"{name}: {asked}", width), "bold", colour)
        switched = [setting for setting in result.settings if setting.side == name.lower()]
        lines += wrap_each((switched_text(setting) for setting in switched), width, bullet="  ")
    shown = result.rows if wide else _pick(result.rows)
    lines += ["", *(_drawn(shown, width, colour) if shown else ["No pair finished on both sides."])]
    sure_rows = [row for row in result.rows if row.verdict != Direction.UNKNOWN] or result.rows
    if not wide:
        sure_rows = sorted(sure_rows, key=lambda row: not row.verdict.is_change)[:SHORT_SENTENCES]
    lines += wrap_each((f"{row.sentence}." for row in sure_rows), width, bullet="- ")
    reasons = why_no_verdict(result.rows)
    reasons += [
        f"{row.sentence}: {medians_text(row.ratio_of_medians)}"
        for row in result.rows
        if row.ratio_of_medians is not None and _medians_differ(row, row.ratio_of_medians)
    ]
    reasons += [f"{entry.cell}: {entry.reason}" for entry in result.left_out]
    lines += reason_lines(reasons, len(result.rows) - len(shown), width=width, wide=wide)
    lines += wrap(summary_text(result, wide=wide), width) if result.rows else []
    return lines


def why_no_verdict(rows: Sequence[AbRow] | Sequence[CommandRow]) -> list[str]:
    """Say why rows have no verdict, or no interval; what several rows share is said once."""
    rows_of: dict[str, list[AbRow | CommandRow]] = {}
    for row in rows:
        if row.reason is not None:
            rows_of.setdefault(row.reason, []).append(row)
    return [
        f"{shared[0].sentence if len(shared) == 1 else f'{len(shared)} rows'}: {reason}"
        for reason, shared in rows_of.items()
    ]


def _setting(text: str) -> str:
    if len(text) <= _LONGEST_SETTING:
        return text
    length = len(text.partition("=")[2])
    return f"{text[:_LONGEST_SETTING]}... ({length:,} letters)"


def _medians_differ(row: AbRow, ratio: float) -> bool:
    """Whether a verdict's interval does not hold the ratio of medians, which readers may take it for."""
    ends = row.change.interval
    return row.verdict.is_change and ends is not None and not ends[0] <= ratio <= ends[1]


def _medians(row: AbRow) -> str:
    return MISSING if row.ratio_of_medians is None else format_ratio(row.ratio_of_medians)


def _pick(rows: Sequence[AbRow]) -> Sequence[AbRow]:
    """The rows of the short table: all if they fit, else the last stage of each launch and what changed."""
    if len(rows) <= SHORT_ROWS:
        return rows
    return [row for row in rows if not is_part(row.b.stage) or row.verdict.is_change][:SHORT_ROWS]


def _drawn(rows: Sequence[AbRow], width: int, colour: bool) -> list[str]:
    """Where the columns have no room for both medians, a row's figures stand below its name."""
    unit = table_unit([estimate.median_ns for row in rows for estimate in (row.a, row.b)])
    table = _table(rows, unit)
    return draw_with(_heading("B", unit), (table, _below(rows, unit)), width, colour)


def _below(rows: Sequence[AbRow], unit: str) -> Table:
    """Two columns, of which the second stands below the first in narrow terminals."""
    names, figures = [], []
    for row in rows:
        stage = stage_name(row.b.stage, row.b.quantity)
        names.append(", ".join([*label_parts(replace(row.b, cell=row.cell)), stage]))
        (change, ends), (a, b) = change_texts(row), (median_text(side, unit).median for side in (row.a, row.b))
        interval = "" if ends == MISSING else f" ({ends})"
        figures.append(f"{a} → {b}: {change}{interval}, {verdict_word(row)}")
    columns = [Column("row", names), Column(f"A → B, {unit}: change, verdict", figures)]
    return Table(columns, row_styles=[verdict_style(row) for row in rows])


def _heading(side: str, unit: str) -> str:
    return f"{side}, {unit}"


def _table(rows: Sequence[AbRow], unit: str) -> Table:
    return Table(
        [
            label_column(label_parts(replace(row.b, cell=row.cell)) for row in rows),
            Column("until", [stage_name(row.b.stage, row.b.quantity) for row in rows]),
            Column(_heading("A", unit), [median_text(row.a, unit).median for row in rows], "point", drop=5),
            Column(_heading("B", unit), [median_text(row.b, unit).median for row in rows], "point", drop=4),
            Column("B slower", [f"{row.b_slower} of {row.pairs}" for row in rows], "right", drop=2),
            Column("change", [change_texts(row)[0] for row in rows], "right"),
            Column("interval", [change_texts(row)[1] for row in rows], "range", drop=3),
            Column("of medians", [_medians(row) for row in rows], "point", drop=1, optional=True),
            Column("p", [p_text(row.change.p) for row in rows], "point", drop=1, optional=True),
            Column("verdict", [verdict_word(row) for row in rows]),
        ],
        row_styles=[verdict_style(row) for row in rows],
    )


def change_texts(row: AbRow | CommandRow) -> tuple[str, str]:
    """Write the change and its interval: percentages, or how many times as long either side is."""
    ratio, interval = row.change.value, row.change.interval
    if ratio is None:
        return MISSING, MISSING
    low, high = interval or (ratio, ratio)
    if 1 / _MANY_TIMES < ratio < _MANY_TIMES:
        value, first, last = percentages(ratio - 1, low - 1, high - 1)
        change, ends = f"{'' if value.startswith(('-', '0')) else '+'}{value}%", f"{first} – {last}"
    else:
        # The verdict says which way.
        turned = (ratio, low, high) if ratio > 1 else (1 / ratio, 1 / high, 1 / low)
        value, first, last = ratio_figures(*turned)
        change, ends = f"{value} times", f"{first} – {last}"
    if interval is None:
        ends = DRIFTS if row.drifts else MISSING
    return change, ends


def p_text(p: float | None) -> str:
    """Write a p-value."""
    if p is None:
        return MISSING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def summary_text(result: AbResult | CommandsResult, *, wide: bool) -> str:
    """Say how many rows have which verdict, and that of the gate; ``wide``: what is guaranteed."""
    counts = ", ".join(counts_of_verdicts(result.rows))
    text = f"{result.pairs} pairs, started in random order. Rows: {counts or 'none'}."
    if wide:
        text += (
            f" If A and B are identical, the chance of any false verdict is at most {format_share(result.error_rate)}. "
            "The intervals decide, and are simultaneous: corrected for all rows and for looking meanwhile. "
            "The change is the pseudo-median of the pairs (Hodges and Lehmann). "
            f"Each order of starting must show a change by itself. {OF_THIS_RUN}"
        )
        text += " 'of medians' is B's median over A's." if isinstance(result, AbResult) else ""
    if result.max_regression is None:
        return text
    limit = format_share(result.max_regression)
    gate = {
        Gate.FAIL: f"REGRESSION: B is slower than A by more than {limit}",
        Gate.PASS: f"No regression: B is slower than A by at most {limit}",
        Gate.UNKNOWN: f"Cannot tell whether B is slower than A by more than {limit}: more pairs may tell",
    }[result.verdict or Gate.UNKNOWN]
    return f"{text} {gate}."
