"""A machine's noise: a row a stage, then the false alarms."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.results.check.types import BLIND_FACTOR, count_detectable
from clonometer.results.noise.types import AgainstItself, Noise, NoiseRow
from clonometer.units import format_share, table_unit
from clonometer.views.document import Document, DocumentBlock, Hint, Paragraph, TableBlock
from clonometer.views.labels import label_parts
from clonometer.views.rows import is_part, median_text, share_text
from clonometer.views.table import Column, Table, label_column
from clonometer.views.terminal.check import FIRST_LAUNCHES
from clonometer.words import stage_name


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
        f"On this machine now, a check with the plan {noise.plan} can find a slow-down of {format_share(change)} in "
        f"{seen} of {len(noise.rows)} rows.{FIRST_LAUNCHES if noise.n_first else ''}"
    )
    sentences = [Paragraph(lead), Paragraph(_alarms(noise.interleaved, "A against A, started in turn", designed))]
    if noise.in_a_row is not None:
        sentences.append(Paragraph(_alarms(noise.in_a_row, "A against A of the round before", designed)))
    rows: list[DocumentBlock] = [TableBlock(_table(shown))] if shown else []
    hint: list[DocumentBlock] = [Hint(f"--wide adds {left_out} rows of other stages")] if left_out else []
    return Document("noise", "What a check can find on this machine", lead, [[*rows, *hint], sentences])


def _alarms(result: AgainstItself, what: str, designed: str) -> str:
    rows = f": {', '.join(result.rows)}" if result.rows else ""
    noun = "check" if result.checks == 1 else "checks"
    return (
        f"{what}: {result.alarms} of {result.checks} {noun} alarmed falsely (a rate of {format_share(result.rate_low)} "
        f"to {format_share(result.rate_high)}{designed}){rows}."
    )


def _table(rows: Sequence[NoiseRow]) -> Table:
    estimates = [row.estimate for row in rows]
    unit = table_unit([estimate.median_ns for estimate in estimates])
    return Table(
        [
            label_column(map(label_parts, estimates)),
            Column("until", [stage_name(estimate.stage, estimate.quantity) for estimate in estimates]),
            Column(f"median, {unit}", [median_text(estimate, unit).median for estimate in estimates], "point", drop=1),
            Column("processes", [str(estimate.n_processes) for estimate in estimates], "point"),
            Column("spread", [format_share(row.spread) for row in rows], "point"),
            Column("between rounds", [share_text(row.between) for row in rows], "point", drop=2),
            Column("detectable", [share_text(row.detectable) for row in rows], "point"),
        ]
    )
