"""What an item of the ledger needs: it is judged on made values of all that is planned, and what it uses is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clonometer.plan.types import Plan
from clonometer.results.rows.run_estimates import RowKey, RunEstimate
from clonometer.stats.processes import Processes
from clonometer.studies.explained import LOOP, WORK
from clonometer.studies.figures import figure_rows
from clonometer.studies.judge import Judge
from clonometer.studies.measured import Measurements, made_row
from clonometer.studies.pairings import PAIRINGS
from clonometer.studies.published import Item

# Many processes, so that no test stops where too few were measured.
_PROCESSES = 40
_SPREAD = np.linspace(0.995, 1.005, _PROCESSES)


@dataclass(frozen=True)
class Needs:
    """Cells, names of explanations (`EXPLANATIONS`), and whether demos must run."""

    cells: frozenset[str]
    explained: frozenset[str]
    observed: bool


class _Everything(Measurements):
    """Has a value for each planned cell, and remembers what was asked for."""

    def __init__(self, cells: Iterable[str], host: Mapping[str, Any]) -> None:
        self.asked: set[str] = set()
        self.explained: set[str] = set()
        self.demos = False
        super().__init__([], host=host)
        # Each cell has another value: a claim that asks for a slope gets one. All may be shares.
        names = sorted(cells)
        self._values = {cell: (1 + number) / (1 + len(names)) for number, cell in enumerate(names)}
        self.cells: dict[str, dict[RowKey, RunEstimate]] = {cell: {} for cell in self._values}

    def placements(self, cell: str, quantity: str) -> dict[str | None, RunEstimate]:
        """A row of the cell, if it is planned."""
        if cell not in self._values:
            return {}
        self.asked.add(cell)
        return {None: made_row(cell, quantity, "ns", Processes.of(self._values[cell] * _SPREAD), _PROCESSES)}

    def __getattribute__(self, name: str) -> Any:
        """Any attribute; those that only explanations or demos give are remembered."""
        if name in ("loops", "worked"):
            self.explained.add(LOOP if name == "loops" else WORK)
        elif name == "observed":
            self.demos = True
        return super().__getattribute__(name)


def needs_of(item: Item, plans: Sequence[Plan], host: Mapping[str, Any]) -> Needs:
    """Find what an item of the ledger looks up, of what the plans have.

    The pairs of a contradiction are left out: they are all cells of a plan, and the item itself is judged without. What
    looks through all cells names those that it used. If it would not use the same with these alone, it needs all that
    is in the plans where they are.
    """
    cells = [cell.text for plan in plans for cell in plan.cells]
    everything = _Everything(cells, host)
    named = _named(item, everything)
    scanned = everything.asked >= frozenset(everything.cells)
    used = named if scanned else named | everything.asked
    if item.size is not None:
        # The memory that gives the number is solved for through all sizes.
        used |= _named(item, _Everything(cells, host), with_pairs=True)
    alone = _Everything(used, host)
    if _named(item, alone) != named:
        holding = [plan for plan in plans if used & {cell.text for cell in plan.cells}]
        used = frozenset(cell.text for plan in holding for cell in plan.cells)
    return Needs(used, frozenset(everything.explained), everything.demos)


def _named(item: Item, everything: _Everything, *, with_pairs: bool = False) -> frozenset[str]:
    """The planned cells that an item rests on when it is judged."""
    judge = Judge(everything)
    judge.pairs = {} if with_pairs else {pairing.id: () for pairing in PAIRINGS}
    everything.explained.clear()
    if item.kind == "figure":
        named = [cell for row in figure_rows(item, everything, judge) for cell in row.cells]
    else:
        named = [*judge.verdict(item.id).evidence]
    return frozenset(everything.cells) & frozenset(named)


def restricted(plans: Iterable[Plan], needs: Iterable[Needs]) -> list[Plan]:
    """The plans with the cells that are needed; each cell once, and plans that have none left out."""
    left = {cell for each in needs for cell in each.cells}
    kept = []
    for plan in plans:
        targets = []
        for target in plan.targets:
            cells = tuple(cell for cell in target.cells if cell.text in left)
            if cells:
                targets.append(replace(target, cells=cells))
                left -= {cell.text for cell in cells}
        if targets:
            kept.append(replace(plan, targets=tuple(targets)))
    return kept
