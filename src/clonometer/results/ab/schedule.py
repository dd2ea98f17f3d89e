"""Which process is started next: pairs of both sides in random order, until all is sure or the budget is spent."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from clonometer.plan.types import Catalogue, Plan
from clonometer.records import from_json
from clonometer.results.ab.turns import Counted, PairedValues, RowOfPairs, paired_placement
from clonometer.results.rows.alone import (
    LONGEST_NS,
    CoresInHand,
    enough_alone,
    has_additions,
    of_one_process,
    only_alone,
)
from clonometer.results.rows.groups import SampleGroup
from clonometer.results.rows.observed import process_groups
from clonometer.run_document import CatalogueEntry
from clonometer.stats import quantiles
from clonometer.stats.sequential import PairedDesign, judge

_Samples = Sequence[tuple[str, Mapping[str, Any]]]


class PairsScheduler:
    """Rounds in which every kind of process has its pair; the order is drawn anew, and so is who of a pair is first.

    A coin for each two pairs makes the test exact, whatever drifts slowly (`clonometer.stats.signed_rank`). Kinds of
    which all rows were sure at a look get no more pairs. The first round always ends; later pairs are started if they
    fit the budget.

    The budget is in seconds of measuring; ``design`` says when is looked and what is sure, ``counted`` which
    quantities are compared.
    """

    def __init__(
        self, seed: int, budget_s: float, design: PairedDesign, catalogue: Catalogue, counted: Counted
    ) -> None:
        self._random = random.Random(seed)
        self._budget_s = budget_s
        self._design = design
        self._catalogue = from_json(CatalogueEntry, catalogue.raw)
        self._counted = counted
        self.pair = -1

    def begin(self, plan: Plan) -> None:
        """Take the targets of ``plan``, A and B of each kind one after the other."""
        self._quantities = [self._counted.of_workload(self._catalogue, target.workload) for target in plan.targets]
        self._conditions = [target.condition for target in plan.targets]
        self._temperatures = {cell.text: cell.temperature for cell in plan.cells}
        self._seconds: list[list[float]] = [[] for _ in plan.targets]
        self._turns = PairedValues(turns=dict.fromkeys(range(len(plan.targets) // 2), 0))
        self._open = set(self._turns.turns)
        self._dropped: set[int] = set()
        self._other_first: dict[int, int] = {}
        self._cores = CoresInHand()
        self._round: list[int] = []
        self._second: int | None = None

    def pair_of(self, target: int) -> int:
        """The number of the pair that is being started."""
        return self.pair

    def next_target(self, elapsed_s: float) -> int | None:
        """Name the target to start now, or None where measuring ends."""
        second, self._second = self._second, None
        if second is not None and second // 2 not in self._dropped:
            return second
        group = self._next_group(elapsed_s)
        if group is None:
            return None
        # Each two pairs of a kind have both orders, since each must show a change by itself.
        first = self._other_first.pop(group, None)
        if first is None:
            first = self._random.randrange(2)
            self._other_first[group] = 1 - first
        self._second = 2 * group + 1 - first
        self.pair += 1
        return 2 * group + first

    def _next_group(self, elapsed_s: float) -> int | None:
        while True:
            while self._round:
                group = self._round.pop()
                if group not in self._dropped:
                    return group if self._fits(group, elapsed_s) else None
            self._look()
            live = self._live()
            if not live:
                return None
            self._random.shuffle(live)
            self._round = live

    def _live(self) -> list[int]:
        most = self._design.most_pairs
        return [group for group in sorted(self._open - self._dropped) if self._turns.turns[group] < most]

    def _fits(self, group: int, elapsed_s: float) -> bool:
        return self._turns.turns[group] == 0 or elapsed_s + self._cost_s(group) <= self._budget_s

    def _cost_s(self, group: int) -> float:
        sides = self._seconds[2 * group], self._seconds[2 * group + 1]
        return sum(median(side) for side in sides if side)

    def _look(self) -> None:
        """Between rounds: who is sure gets no more pairs."""
        # Those that are still measured have had the same number of turns.
        if max((self._turns.turns[group] for group in self._live()), default=0) in self._design.looks:
            rows = list(self._turns.usual_rows())
            judged = judge(self._turns.paired(rows), self._design, ended=False)
            self._open &= judged.open_groups

    def process_ended(self, target: int, seconds: float, samples: Sequence[tuple[str, Mapping[str, Any]]] = ()) -> None:
        """Note what a process of ``target`` measured."""
        group, side = divmod(target, 2)
        self._seconds[target].append(seconds)
        turn = self._turns.turns[group]
        # The first of a pair ends while the second has still to be started.
        self._turns.b_first.setdefault((group, turn), side == 1)
        of_all = dict(self._rows(target, samples))
        for row, rows in of_all.items():
            self._turns.add(row, side, turn, quantiles.median(rows.values))
        for row, rows in self._rows(target, self._alone(samples)):
            value = quantiles.median(rows.values)
            if rows.n_samples >= enough_alone(of_all[row].n_samples) and value <= LONGEST_NS:
                self._turns.add(row, side, turn, value, alone=True)
        if self._second is None:
            self._turns.turns[group] += 1

    def _alone(self, samples: _Samples) -> _Samples:
        """The launches of a process that had their core to themselves, as far as that is known by now."""
        sensed = [(cell, columns) for cell, columns in samples if has_additions(columns)]
        for _, columns in sensed:
            self._cores.add(of_one_process(columns))
        cores = self._cores.cores()
        return [] if cores is None else [(cell, only_alone(columns, cores)) for cell, columns in sensed]

    def _rows(self, target: int, samples: _Samples) -> Iterator[tuple[RowOfPairs, SampleGroup]]:
        for cell, rows in process_groups(samples, self._quantities[target]):
            if self._counted.has(rows.quantity):
                placement = paired_placement(self._conditions[target], rows.placement)
                yield RowOfPairs(target // 2, self._temperatures[cell], rows.quantity.name, placement), rows

    def drop(self, target: int) -> None:
        """Never name ``target`` again, nor its other side: nothing is left to compare it with."""
        self._dropped.add(target // 2)

    def stopped_by(self, target: int) -> str | None:
        """Say what ended the measuring of ``target``: ``target`` where it was sure, ``processes`` or ``budget``."""
        group = target // 2
        if group in self._dropped:
            return None
        if group not in self._open:
            return "target"
        return "processes" if self._turns.turns[group] >= self._design.most_pairs else "budget"

    def remaining_s(self, elapsed_s: float) -> float | None:
        """Estimate the seconds of measuring that are left at most; None before anything is known."""
        live = self._live()
        if not any(self._seconds[2 * group] and self._seconds[2 * group + 1] for group in live):
            return None
        needed_s = sum(self._cost_s(group) * (self._design.most_pairs - self._turns.turns[group]) for group in live)
        return max(0.0, min(needed_s, self._budget_s - elapsed_s))
