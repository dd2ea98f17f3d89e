"""What the processor counted, as a table."""

from __future__ import annotations

from collections.abc import Iterator

from clonometer.explain.types import Counters
from clonometer.views.counter_rows import counter_heads, counter_rows, not_counted
from clonometer.views.terminal.text import elide, wrap

__all__ = ["counter_lines", "not_counted"]


def counter_lines(counters: Counters, width: int) -> Iterator[str]:
    """Write the means of a launch; every piece includes what noting its events took."""
    yield from wrap(
        f"{counters.set} counters, means of {counters.launches:,} launches that were traced for them alone; every row "
        "includes what noting its events took",
        width,
    )
    heads = counter_heads(counters)
    rows = counter_rows(counters)
    widths = [max(len(head), *(len(row.cells[at]) for row in rows)) for at, head in enumerate(heads)]
    room = max(12, min(max(len(row.label) for row in rows), width - sum(widths) - 2 * len(widths)))
    yield "  ".join([" " * room, *(head.rjust(wide) for head, wide in zip(heads, widths, strict=True))])
    before = "part"
    for row in rows:
        if row.kind != before and row.kind in ("stage", "mode"):
            yield ""
        before = row.kind
        cells = [cell.rjust(wide) for cell, wide in zip(row.cells, widths, strict=True)]
        yield "  ".join([elide(row.label, room).ljust(room), *cells])
