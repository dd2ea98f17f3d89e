"""What the processor counted, as a table."""

from __future__ import annotations

from collections.abc import Iterator

from clonometer.explain.types import Counters
from clonometer.views.counter_table import counter_table
from clonometer.views.terminal.table import draw_stack
from clonometer.views.terminal.text import wrap


def counter_lines(counters: Counters, width: int) -> Iterator[str]:
    """Write the means of a launch; every piece includes what noting its events took."""
    yield from wrap(
        f"{counters.set} counters, means of {counters.launches:,} launches that were traced for them alone; every row "
        "includes what noting its events took",
        width,
    )
    drawn = draw_stack([counter_table(counters)], width, colour=False)
    heading, *lines = drawn.tables[0]
    yield heading
    kind = "part"
    for row, line in zip(counters.rows, lines, strict=True):
        if row.kind != kind and row.kind in ("stage", "mode"):
            yield ""
        kind = row.kind
        yield line
    if drawn.dropped:
        yield f"(left out at {width} columns: {', '.join(drawn.dropped)})"
