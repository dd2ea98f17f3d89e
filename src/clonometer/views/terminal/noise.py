"""A machine's noise on a terminal: a row a stage, then the false alarms. Returned as text."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.results.noise.types import AgainstItself, Noise, NoiseRow
from clonometer.units import format_share, table_unit
from clonometer.views.labels import condition_phrases
from clonometer.views.rows import figure
from clonometer.views.terminal.check import FIRST_LAUNCHES
from clonometer.views.terminal.columns import draw_table, numbers, said_once, words
from clonometer.views.terminal.text import clean, elide, page, wrap
from clonometer.words import mechanism_name, stage_name

LEAST_WIDTH = 60
_LABEL_LEAST = 12
_LABEL_MOST = 44
#: Columns that go first where the terminal is too narrow.
_DROPPABLE = ("median", "between")


def render_noise(
    noise: Noise, *, width: int = 80, wide: bool = False, colour: bool = False, ascii_only: bool = False
) -> str:
    """Write a machine's noise as text.

    Parameters
    ----------
    noise
        What `clonometer.results.noise.noise` found.
    width
        Columns of the terminal; fewer than 60 are taken as 60.
    wide
        Every row; by default the last stage of each launch, which contains the others, and what is no launch.
    colour, ascii_only
        Whether to use ANSI colours, and whether to keep to ASCII.

    Returns
    -------
    str
        Lines, each ended by a newline.
    """
    width = max(width, LEAST_WIDTH)
    shown = [row for row in noise.rows if wide or row.estimate.stage in ("reaped", None)] or list(noise.rows)
    drawn = [*draw_table(_columns(shown), width, _DROPPABLE, _LABEL_LEAST, colour), ""] if shown else []
    if len(shown) < len(noise.rows):
        drawn[-1:] = [f"--wide adds {len(noise.rows) - len(shown)} rows of other stages", ""]
    change = 2 * noise.max_regression
    seen = noise.count_detectable(change)
    drawn += wrap(
        f"One check of {noise.plan} would find a slow-down of {format_share(change)} in {seen} of {len(noise.rows)} "
        f"rows, in 95% of cases.{FIRST_LAUNCHES if noise.n_first else ''}",
        width,
    )
    drawn += wrap(_alarms(noise.interleaved, "A against A, started in turn", noise.error_rate), width)
    if noise.in_a_row is not None:
        drawn += wrap(_alarms(noise.in_a_row, "A against A of the round before", noise.error_rate), width)
    return page(drawn, ascii_only=ascii_only)


def _alarms(one: AgainstItself, what: str, error_rate: float) -> str:
    rows = f": {', '.join(one.rows)}" if one.rows else ""
    noun = "check" if one.checks == 1 else "checks"
    return (
        f"{what}: {one.alarms} of {one.checks} {noun} alarmed falsely (a rate of {format_share(one.rate_low)} to "
        f"{format_share(one.rate_high)}; designed: at most {format_share(error_rate)}){rows}."
    )


def _columns(rows: Sequence[NoiseRow]) -> dict[str, list[str]]:
    estimates = [row.estimate for row in rows]
    labels = [
        ", ".join(
            (
                mechanism_name(one.workload),
                *condition_phrases(one.cell, one.condition, one.placement),
                *([one.temperature] if one.temperature else []),
            )
        )
        for one in estimates
    ]
    labels = [elide(clean(label), _LABEL_MOST) for label in labels]
    unit = table_unit([one.median_ns for one in estimates])
    return {
        "label": words("", said_once(labels)),
        "stage": words("until", [stage_name(one.stage, one.quantity) for one in estimates]),
        "median": numbers(f"median, {unit}", [figure(one, unit).median for one in estimates]),
        "processes": numbers("processes", [str(one.n_processes) for one in estimates]),
        "spread": numbers("spread", [format_share(row.spread) for row in rows]),
        "between": numbers("between rounds", [_share(row.between) for row in rows]),
        "detectable": numbers("detectable", [_share(row.detectable) for row in rows]),
    }


def _share(share: float | None) -> str:
    return "-" if share is None else format_share(share)
