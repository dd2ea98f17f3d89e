"""Groups of a fleet against each other on a terminal."""

from __future__ import annotations

from clonometer.dataset.types import FleetCompared, FolderReading
from clonometer.views.fleet import (
    group_text,
    reading_notes,
    reading_text,
)
from clonometer.views.terminal.comparison import comparison_lines
from clonometer.views.terminal.text import rendered, wrap, wrap_each


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
