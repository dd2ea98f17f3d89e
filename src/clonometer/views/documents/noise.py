"""A machine's noise: a row a stage, then the false alarms."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.results.check.types import BLIND_FACTOR, count_detectable
from clonometer.results.noise.types import AgainstItself, LayoutRow, Layouts, Noise, NoiseRow
from clonometer.units import format_share, table_unit
from clonometer.views.document import Document, DocumentBlock, Hint, Paragraph, TableBlock
from clonometer.views.documents.check import FIRST_LAUNCHES
from clonometer.views.labels import label_parts
from clonometer.views.rows import is_part, median_text, share_text
from clonometer.views.table import Column, Table, label_column
from clonometer.words import counted, stage_name

#: An interval of 95% lies above a share of 0 by chance so often.
_FALSE = 0.025


def noise_document(noise: Noise, *, wide: bool = False) -> Document:
    """Make a document of a machine's noise.

    ``wide``: every row; by default the last stage of each launch, which contains the others, and what is no launch.
    """
    shown = [row for row in noise.rows if wide or not is_part(row.estimate.stage)] or list(noise.rows)
    left_out = len(noise.rows) - len(shown)
    designed = f"; designed: at most {format_share(noise.error_rate)}" if wide else ""
    change = BLIND_FACTOR * noise.max_regression
    seen = count_detectable(noise.rows, change)
    lead = (
        f"On this machine now, a check with the plan {noise.plan} can detect a slowdown of {format_share(change)} in "
        f"{seen} of {len(noise.rows)} rows.{FIRST_LAUNCHES if noise.n_first else ''}"
    )
    sentences = [Paragraph(lead), Paragraph(_alarms(noise.interleaved, "A against A, started in pairs", designed))]
    if noise.in_a_row is not None:
        sentences.append(Paragraph(_alarms(noise.in_a_row, "A against A of the previous round", designed)))
    rows: list[DocumentBlock] = [TableBlock(_noise_table(shown))] if shown else []
    hint: list[DocumentBlock] = [Hint(f"--wide adds {left_out} rows of other stages")] if left_out else []
    layouts = [] if noise.layouts is None else [_layouts(noise.layouts, wide)]
    return Document("noise", "What a check can detect on this machine", lead, [[*rows, *hint], sentences, *layouts])


def _layouts(layouts: Layouts, wide: bool) -> list[DocumentBlock]:
    """What layouts add, a row a stage as above."""
    rows = layouts.rows
    if not rows:
        reason = layouts.reason or "too little was measured"
        return [Paragraph(f"How much of the scatter comes from memory layout is not known: {reason}.")]
    shown = [row for row in rows if wide or not is_part(row.estimate.stage)] or list(rows)
    text = (
        f"Memory layout is shown to add to the scatter in {sum(row.is_shown for row in rows)} of "
        f"{counted(len(rows), 'row')}; by chance alone in {format_share(_FALSE)} of rows."
    )
    if layouts.kernel_draws is False:
        text += (
            " The kernel randomizes no addresses here (randomize_va_space is 0): only the environment's size varied."
        )
    return [TableBlock(_layout_table(shown)), Paragraph(text)]


def _layout_table(rows: Sequence[LayoutRow]) -> Table:
    estimates = [row.estimate for row in rows]
    return Table(
        [
            label_column(map(label_parts, estimates), head="Memory layout"),
            Column("until", [stage_name(estimate.stage, estimate.quantity) for estimate in estimates]),
            Column("pairs", [str(min(row.drawn_pairs, row.same_pairs)) for row in rows], "point", drop=1),
            Column("spread", [format_share(row.drawn_spread) for row in rows], "point"),
            Column("one layout", [format_share(row.same_spread) for row in rows], "point"),
            Column("from layout", [_layout_share(row) for row in rows]),
        ]
    )


def _layout_share(row: LayoutRow) -> str:
    if row.share is None or row.share_low is None or row.share_high is None:
        return row.reason or "not known"
    if not row.is_shown:
        return f"not shown: below {format_share(row.share_high)}"
    return f"{format_share(row.share)} ({format_share(row.share_low)} to {format_share(row.share_high)})"


def _alarms(result: AgainstItself, what: str, designed: str) -> str:
    rows = f": {', '.join(result.rows)}" if result.rows else ""
    noun = "check" if result.checks == 1 else "checks"
    return (
        f"{what}: {result.alarms} of {result.checks} {noun} raised a false alarm (a rate of "
        f"{format_share(result.rate_low)} "
        f"to {format_share(result.rate_high)}{designed}){rows}."
    )


def _noise_table(rows: Sequence[NoiseRow]) -> Table:
    estimates = [row.estimate for row in rows]
    unit = table_unit([estimate.median_ns for estimate in estimates])
    return Table(
        [
            label_column(map(label_parts, estimates)),
            Column("until", [stage_name(estimate.stage, estimate.quantity) for estimate in estimates]),
            Column(f"median, {unit}", [median_text(estimate, unit).value for estimate in estimates], "point", drop=1),
            Column("processes", [str(estimate.n_processes) for estimate in estimates], "point"),
            Column("spread", [format_share(row.spread) for row in rows], "point"),
            Column("between rounds", [share_text(row.between) for row in rows], "point", drop=2),
            Column("detectable", [share_text(row.detectable) for row in rows], "point"),
        ]
    )
