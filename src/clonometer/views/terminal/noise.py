"""A machine's noise on a terminal: a row a stage, then the false alarms. Returned as text."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.results.check.types import BLIND_FACTOR, count_detectable
from clonometer.results.noise.types import AgainstItself, Noise, NoiseRow
from clonometer.units import format_share, table_unit
from clonometer.views.labels import label_parts
from clonometer.views.rows import is_part, median_text, share_text
from clonometer.views.table import Column, Table, label_column
from clonometer.views.terminal.check import FIRST_LAUNCHES
from clonometer.views.terminal.table import draw_table
from clonometer.views.terminal.text import rendered, wrap
from clonometer.words import stage_name


@rendered(least_width=40)
def render_noise(noise: Noise, *, width: int, colour: bool, wide: bool = False) -> list[str]:
    """Write a machine's noise.

    ``wide``: every row; by default the last stage of each launch, which contains the others, and what is no launch.
    """
    shown = [row for row in noise.rows if wide or not is_part(row.estimate.stage)] or list(noise.rows)
    drawn = [*draw_table(_table(shown), width, colour), ""] if shown else []
    if len(shown) < len(noise.rows):
        drawn[-1:] = [f"--wide adds {len(noise.rows) - len(shown)} rows of other stages", ""]
    designed = f"; designed: at most {format_share(noise.error_rate)}" if wide else ""
    change = BLIND_FACTOR * noise.max_regression
    seen = count_detectable(noise.rows, change)
    drawn += wrap(
        f"On this machine now, a check with the plan {noise.plan} can find a slow-down of {format_share(change)} in "
        f"{seen} of {len(noise.rows)} rows.{FIRST_LAUNCHES if noise.n_first else ''}",
        width,
    )
    drawn += wrap(_alarms(noise.interleaved, "A against A, started in turn", designed), width)
    if noise.in_a_row is not None:
        drawn += wrap(_alarms(noise.in_a_row, "A against A of the round before", designed), width)
    return drawn


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
