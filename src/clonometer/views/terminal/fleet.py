"""Fleets on a terminal: what was read, a table for each group, odd hosts; groups against each other."""

from __future__ import annotations

from clonometer.dataset.types import FleetCompared, FleetShown, FolderReading
from clonometer.views.fleet import (
    fleet_table,
    group_text,
    odd_heading,
    odd_text,
    reading_notes,
    reading_text,
)
from clonometer.views.rows import first_ranked, is_part
from clonometer.views.terminal.comparison import comparison_lines
from clonometer.views.terminal.table import draw_table
from clonometer.views.terminal.text import paint, painted, rendered, wide_adds, wrap, wrap_each

SHORT_ROWS = 9
SHORT_GROUPS = 4
SHORT_ODD = 5


@rendered(least_width=60)
def render_fleet(shown: FleetShown, *, width: int, colour: bool, wide: bool = False) -> list[str]:
    """Write what the hosts of a fleet measured; ``wide``: every group, every row, every odd host."""
    lines = reading_lines(shown.reading, width)
    groups = shown.groups if wide else shown.groups[:SHORT_GROUPS]
    hidden_rows = 0
    for group in groups:
        rows = [row for row in shown.rows if row.group == group.name]
        # Whole launches, and what has no stages, before parts of launches.
        chosen = rows if wide else first_ranked(rows, lambda row: is_part(row.label.stage), SHORT_ROWS)
        hidden_rows += len(rows) - len(chosen)
        lines += ["", *painted(wrap(group_text(group), width), "bold", colour)]
        if rows:
            lines += draw_table(fleet_table(chosen), width, colour)
        else:
            lines += ["Nothing was measured there."]
    odd = shown.odd_hosts if wide else shown.odd_hosts[:SHORT_ODD]
    heading = odd_heading(shown)
    lines += ["", *(wrap(heading, width) if not odd else [paint(heading, "bold", colour)])]
    lines += wrap_each((odd_text(host, len(shown.groups) > 1) for host in odd), width, bullet="! ")
    hidden = wide_adds(
        (len(shown.groups) - len(groups), "group"),
        (hidden_rows, "row"),
        (len(shown.odd_hosts) - len(odd), "odd host"),
    )
    return [*lines, "", *hidden] if hidden else lines


@rendered(least_width=60)
def render_fleet_comparison(answer: FleetCompared, *, width: int, colour: bool, wide: bool = False) -> list[str]:
    """Write groups of hosts against each other; ``wide``: every row, every difference and every reason."""
    lines = reading_lines(answer.reading, width)
    lines += wrap_each(map(group_text, answer.groups), width, bullet="- ")
    for name in answer.paired:
        lines += wrap(f"{name}: its hosts are in both groups, and each is compared with itself.", width)
    return [*lines, "", *comparison_lines(answer.compared, width=width, colour=colour, wide=wide)]


def reading_lines(reading: FolderReading, width: int) -> list[str]:
    """Say what was read of a folder, and what was left out."""
    return [*wrap(reading_text(reading), width), *wrap_each(reading_notes(reading), width, bullet="! ")]
