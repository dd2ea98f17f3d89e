"""What decides a comparison that is open: the same two sides, started in pairs here."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clonometer.results.compare.types import ComparedRow, InPairs
    from clonometer.results.rows.run_estimates import RunEstimates

_MACHINE = "host.name_hash"


def in_pairs(side: RunEstimates, rows: Iterable[ComparedRow]) -> InPairs | None:
    """Offer the `ab` that decides the row most worth it; None where none is, or its sides cannot be started here."""
    from clonometer.app.ab import longest_s
    from clonometer.results.compare.apart import command_of_pairs, open_row
    from clonometer.results.compare.types import InPairs

    row = open_row(rows)
    if row is None or not _is_here(side):
        return None
    command = command_of_pairs(side, row)
    programs = [str(each.condition.get("program", "")) for each in (row.base, row.other)]
    if command is None or any(os.sep in program and not Path(program).exists() for program in programs):
        return None
    return InPairs(shlex.join(command), longest_s([each.median_ns or 0.0 for each in (row.base, row.other)]))


def _is_here(side: RunEstimates) -> bool:
    """Whether this is the machine of a run."""
    from clonometer.host.facts import collect

    machine = collect().get(_MACHINE)
    return machine is not None and side.document.host.get(_MACHINE) == machine
