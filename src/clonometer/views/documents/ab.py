"""Two sides that were started in turn: what they are, a row a stage, a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clonometer.results.ab.command_types import CommandRow, CommandsResult
from clonometer.results.ab.types import AbResult, AbRow
from clonometer.results.ab.wording import medians_text, percentages, switched_text
from clonometer.units import format_ratio, format_share, ratio_figures, table_unit
from clonometer.verdicts import Direction, Gate
from clonometer.views.comparison import counts_of_verdicts, row_style, verdict_word
from clonometer.views.comparison_picture import ratio_point, ratios_panel
from clonometer.views.document import BulletList, Document, DocumentBlock, Paragraph
from clonometer.views.documents.comparison import MOST_DRAWN, limited_reasons, row_blocks
from clonometer.views.labels import label_parts
from clonometer.views.rows import is_part, median_text
from clonometer.views.table import DRIFTS, MISSING, Column, Table, label_column
from clonometer.views.terminal.text import OF_THIS_RUN
from clonometer.words import counted, mechanism_name, stage_name

SHORT_ROWS = 16
SHORT_SENTENCES = 3
# A variable may have 100,000 letters; what is longer is cut.
_LONGEST_SETTING = 80
#: The setting of a side that is a workload.
WORKLOAD = "workload"
# Above, a percentage says less than a multiple.
_MANY_TIMES = 2.0


def ab_document(result: AbResult, *, wide: bool = False) -> Document:
    """Make a document of two sides that were started in turn; ``wide``: every row, every sentence and every reason."""
    names = {side: ", ".join(map(_setting, settings)) or "defaults" for side, settings in
             (("A", result.a), ("B", result.b))}  # fmt: skip
    shown = result.rows if wide else _pick(result.rows)
    sure_rows = [row for row in result.rows if row.verdict != Direction.UNKNOWN] or result.rows
    if not wide:
        # Warm rows decide: a process has one first launch.
        first = sorted(sure_rows, key=lambda row: (not row.verdict.is_change, row.b.is_first_launch))
        sure_rows = first[:SHORT_SENTENCES]
    reasons = why_no_verdict(result.rows)
    reasons += [
        f"{row.sentence}: {medians_text(row.ratio_of_medians)}"
        for row in result.rows
        if row.ratio_of_medians is not None and _medians_differ(row, row.ratio_of_medians)
    ]
    reasons += [f"{entry.cell}: {entry.reason}" for entry in result.left_out]
    lead = summary_text(result)
    groups: list[list[DocumentBlock]] = [
        [block for name, text in names.items() for block in _side(name, text, result)],
        [
            *(_rows(result.rows, shown) if shown else [Paragraph("No pair finished on both sides.")]),
            BulletList([f"{row.sentence}." for row in sure_rows]),
            *limited_reasons(reasons, len(result.rows) - len(shown), wide=wide),
            *([Paragraph(lead), Paragraph(guarantee_text(result) if wide else "")] if result.rows else []),
        ],
    ]
    return Document("ab", f"{names['B']} compared with {names['A']}", lead, groups)


def _side(name: str, text: str, result: AbResult) -> list[DocumentBlock]:
    switched = [switched_text(setting) for setting in result.settings if setting.side == name.lower()]
    return [Paragraph(f"{name}: {text}", "bold"), BulletList(switched)]


def _rows(rows: Sequence[AbRow], shown: Sequence[AbRow]) -> list[DocumentBlock]:
    unit = table_unit([estimate.median_ns for row in rows for estimate in (row.a, row.b)])
    points = [
        ratio_point(", ".join(row_names(row)), row.change, verdict_word(row), f"{row.sentence}.")
        for row in rows[:MOST_DRAWN]
        if row.change.value is not None
    ]
    panel = ratios_panel("ratios", "B compared with A", points, "times as long as in A")
    changed = [row for row in rows if row.verdict.is_change]
    return row_blocks(
        rows,
        changed,
        shown,
        lambda some: (_ab_table(some, unit), _below(some, unit)),
        panel if points else None,
        kept=_heading("B", unit),
    )


def row_names(row: AbRow) -> tuple[str, ...]:
    """What a row is of, in phrases."""
    return (*_label(row), stage_name(row.b.stage, row.b.quantity))


def _label(row: AbRow) -> tuple[str, ...]:
    """What both sides of a row have in common: of two workloads only under which condition."""
    name, *phrases = label_parts(replace(row.b, cell=row.cell))
    return tuple(phrases if row.a.workload != row.b.workload else (name, *phrases))


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
    key, _, value = text.partition("=")
    if key == WORKLOAD:
        return mechanism_name(value)
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


def _below(rows: Sequence[AbRow], unit: str) -> Table:
    """Two columns, of which the second stands below the first in narrow terminals."""
    names, figures = [], []
    for row in rows:
        names.append(", ".join(row_names(row)))
        (change, ends), (a, b) = change_texts(row), (median_text(side, unit).value for side in (row.a, row.b))
        interval = "" if ends == MISSING else f" ({ends})"
        figures.append(f"{a} → {b}: {change}{interval}, {verdict_word(row)}")
    columns = [Column("row", names), Column(f"A → B, {unit}: change, verdict", figures)]
    return Table(columns, row_styles=[row_style(row) for row in rows])


def _heading(side: str, unit: str) -> str:
    return f"{side}, {unit}"


def _ab_table(rows: Sequence[AbRow], unit: str) -> Table:
    return Table(
        [
            label_column(map(_label, rows)),
            Column("until", [stage_name(row.b.stage, row.b.quantity) for row in rows]),
            Column(_heading("A", unit), [median_text(row.a, unit).value for row in rows], "point", drop=5),
            Column(_heading("B", unit), [median_text(row.b, unit).value for row in rows], "point", drop=4),
            Column("B slower", [f"{row.b_slower} of {row.pairs}" for row in rows], "right", drop=2),
            Column("change", [change_texts(row)[0] for row in rows], "right"),
            Column("interval", [change_texts(row)[1] for row in rows], "range", drop=3),
            Column("of medians", [_medians(row) for row in rows], "point", drop=1, optional=True),
            Column("p", [p_text(row.change.p) for row in rows], "point", drop=1, optional=True),
            Column("verdict", [verdict_word(row) for row in rows]),
        ],
        row_styles=[row_style(row) for row in rows],
    )


def change_texts(row: AbRow | CommandRow) -> tuple[str, str]:
    """Write the change and its interval: percentages, or how many times as long as A; 1/68 where A is the longer."""
    ratio, interval = row.change.value, row.change.interval
    if ratio is None:
        return MISSING, MISSING
    low, high = interval or (ratio, ratio)
    if 1 / _MANY_TIMES < ratio < _MANY_TIMES:
        value, first, last = percentages(ratio - 1, low - 1, high - 1)
        change, ends = f"{'' if value.startswith(('-', '0')) else '+'}{value}%", f"{first} – {last}"
    elif ratio > 1:
        value, first, last = ratio_figures(ratio, low, high)
        change, ends = f"{value} times", f"{first} – {last}"
    else:
        # Without a verdict nothing else in the row says which way.
        value, last, first = ratio_figures(1 / ratio, 1 / high, 1 / low)
        change, ends = f"1/{value}", f"1/{first} – 1/{last}"
    if interval is None:
        ends = DRIFTS if row.drifts else MISSING
    return change, ends


def p_text(p: float | None) -> str:
    """Write a p-value."""
    if p is None:
        return MISSING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def summary_text(result: AbResult | CommandsResult) -> str:
    """Say how many rows have which verdict, and that of the gate."""
    counts = ", ".join(counts_of_verdicts(result.rows))
    text = f"{counted(result.pairs, 'pair')}, started in random order. Rows: {counts or 'none'}."
    if result.max_regression is None:
        return text
    limit = format_share(result.max_regression)
    gate = {
        Gate.FAIL: f"REGRESSION: B is slower than A by more than {limit}",
        Gate.PASS: f"No regression: B is slower than A by at most {limit}",
        Gate.UNKNOWN: f"Cannot tell whether B is slower than A by more than {limit}: more pairs may decide",
    }[result.verdict or Gate.UNKNOWN]
    return f"{text} {gate}."


def guarantee_text(result: AbResult | CommandsResult) -> str:
    """Say how often a verdict is wrong, and what the figures are."""
    medians = " 'of medians' is B's median over A's." if isinstance(result, AbResult) else ""
    return (
        f"If A and B are identical, the chance of any false verdict is at most {format_share(result.error_rate)}. "
        "The intervals decide, and hold simultaneously: they are corrected for all rows and all looks. "
        "The change is the pseudo-median of the pairs (Hodges and Lehmann). "
        f"Each starting order must show a change by itself; what only both together show is likely. "
        f"{OF_THIS_RUN}{medians}"
    )
