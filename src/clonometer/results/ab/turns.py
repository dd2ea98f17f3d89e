"""Values of processes that were started in pairs, and the differences that they make: kept up, or read from a run."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from clonometer.families.types import COLLECTOR
from clonometer.results.rows.groups import MeasuredQuantity, quantities_of
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.run_document import CatalogueEntry, ColumnEntry
from clonometer.stats.sequential import PairedRow

#: A row that fewer than half of the pairs have is an accident of placement, and no test is spent on it.
OFTEN = 0.5


#: The axis that puts parent and child on CPUs, and its value that leaves them one.
_PLACEMENT, _PINNED = "placement", "pinned"


#: The values of A and of B, by turn.
_OfSides = tuple[dict[int, float], dict[int, float]]


class RowOfPairs(NamedTuple):
    """What one row of a comparison is of: a group of cells that one driver start measures, and a row of it."""

    group: int
    temperature: str | None
    quantity: str
    placement: str | None


def paired_placement(condition: Mapping[str, object], observed: str | None) -> str | None:
    """The placement by which rows of both sides belong together: None where both tasks have but one CPU.

    A program of ours says where it ran, a foreign one cannot: on one CPU they are compared all the same.
    """
    return None if condition.get(_PLACEMENT) == _PINNED else observed


@dataclass
class PairedValues:
    """The values of both sides, by row and by turn of its group.

    ``turns`` counts, for each group, how often both sides were started; ``b_first`` says by group and turn whether B
    was started first. ``alone`` has the values of launches that had their core to themselves, of processes with enough
    of them: a pair is of these where both sides have one, else of all launches of both.
    """

    values: dict[RowOfPairs, _OfSides] = field(default_factory=dict)
    alone: dict[RowOfPairs, _OfSides] = field(default_factory=dict)
    turns: dict[int, int] = field(default_factory=dict)
    b_first: dict[tuple[int, int], bool] = field(default_factory=dict)

    def add(self, row: RowOfPairs, side: int, turn: int, value: float, *, alone: bool = False) -> None:
        """Take the value of one process of side 0 or 1."""
        (self.alone if alone else self.values).setdefault(row, ({}, {}))[side][turn] = value

    def both(self, row: RowOfPairs) -> list[int]:
        """The turns in which both sides gave a value that has a logarithm."""
        return sorted(_ratios(self.values[row]))

    def usual_rows(self) -> Iterator[RowOfPairs]:
        """The rows that at least half of the turns of their group have."""
        for row in self.values:
            if len(self.both(row)) >= max(1.0, OFTEN * self.turns.get(row.group, 0)):
                yield row

    def paired(self, rows: Sequence[RowOfPairs]) -> list[PairedRow]:
        """The logarithms of B over A, row by row."""
        paired = []
        for row in rows:
            ratios = _ratios(self.values[row])
            turns = sorted(ratios)
            ratios |= {turn: ratio for turn, ratio in _ratios(self.alone.get(row, ({}, {}))).items() if turn in ratios}
            logs = [math.log(ratios[turn]) for turn in turns]
            b_first = np.array([self.b_first[row.group, turn] for turn in turns], np.bool_)
            paired.append(PairedRow(row.group, np.array(turns, np.int64), np.array(logs, np.float64), b_first))
        return paired


def _ratios(of_sides: _OfSides) -> dict[int, float]:
    """B over A in each turn in which both have a value above zero."""
    first, second = of_sides
    return {
        turn: second[turn] / first[turn]
        for turn in first.keys() & second.keys()
        if first[turn] > 0 and second[turn] > 0
    }


@dataclass(frozen=True)
class Counted:
    """Which quantities of a workload are compared.

    Attributes
    ----------
    stages
        The stages that are compared; empty: all.
    only_times
        Whether what is no time is left out, as a gate does that asks what is slower.
    """

    stages: Collection[str] = ()
    only_times: bool = False

    def has(self, quantity: MeasuredQuantity | RunEstimate) -> bool:
        """Whether a quantity is compared: no signed one, which has no ratio, and no mere detail of a launch.

        Nor are a collector's pauses, which most launches do not have.
        """
        name = quantity.name if isinstance(quantity, MeasuredQuantity) else quantity.quantity
        if quantity.signed or name == COLLECTOR or (quantity.detail and quantity.stage is not None):
            return False
        if self.only_times and not quantity.is_time:
            return False
        return not self.stages or quantity.stage in self.stages

    def of_workload(self, catalogue: CatalogueEntry, workload: str) -> list[MeasuredQuantity]:
        """All quantities of a workload, by a catalogue alone: what is valid rests on them together."""
        columns = {name: ColumnEntry("i64", entry.unit) for name, entry in catalogue.quantities.items()}
        return quantities_of(catalogue, columns, workload)
