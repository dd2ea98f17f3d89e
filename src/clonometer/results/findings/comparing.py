"""Comparisons between two rows: one ratio or difference, one verdict, always made the same way."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeVar, cast

import numpy as np

from clonometer.results.change import Change, ChangeScale
from clonometer.results.rows.ratio import change_of, no_ratio_of, ratio_of, seed_for
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.types import FEWEST_PROCESSES, LEAST_EFFECT
from clonometer.stats.changes import LogChange, change_of_ratio
from clonometer.stats.interval import CONFIDENCE, Interval
from clonometer.stats.multiplicity import score
from clonometer.stats.quantiles import Floats, median
from clonometer.stats.rank_sum import shift_interval, two_sided_p
from clonometer.stats.verdict import ERROR_RATE, LAYOUT, LIKELY_RATE, Contrast, Ruling, judged
from clonometer.stats.wander import typical_wandering
from clonometer.verdicts import Direction, Word

_Value = TypeVar("_Value")
#: What is compared, and how: the rows of a ratio or a difference, or the name of an interval.
_Key = tuple[Hashable, ...]


def cells_of(changes: Iterable[Change[RunEstimate]]) -> list[str]:
    """The cells of changes, both sides of each in turn."""
    return [row.cell for change in changes for row in change.sides]


def numbers_of(change: Change[RunEstimate]) -> dict[str, Any]:
    """A change, with its stage and cells, for a finding's ``numbers``."""
    about = change.other
    return change.numbers | {"stage": about.stage, "temperature": about.temperature, "cells": cells_of([change])}


def from_few(processes: int) -> str:
    """Say that a figure is of few processes; empty where they are enough."""
    if processes >= FEWEST_PROCESSES:
        return ""
    return f", from only {processes} {'process' if processes == 1 else 'processes'}"


def of_one_kind(other: RunEstimate, base: RunEstimate) -> tuple[RunEstimate, RunEstimate]:
    """Two rows that may be compared: of launches alone on both sides, or of all on both."""
    if (other.of_all is None) == (base.of_all is None):
        return other, base
    return other.of_all or other, base.of_all or base


class PairwiseTests:
    """Makes the comparisons of a run's findings.

    The processes of a cell share what its layout does, and what its level wanders by during the run: neither shrinks
    with their number, so both are in the error of a ratio (`clonometer.stats.verdict`). Of a difference (one rung of a
    ladder more) layout is left out: both sides run the same code.

    ``asked`` are the two rows of the question that was asked first: it weighs as much as all others together.
    ``error_rate`` is less where a run is looked at while it goes on (`clonometer.results.schedule.looks`).
    """

    def __init__(
        self,
        estimates: RunEstimates,
        seed: int,
        asked: tuple[RunEstimate, RunEstimate] | None = None,
        error_rate: float = ERROR_RATE,
    ) -> None:
        self.estimates = estimates
        self.seed = seed
        self.asked = asked
        self._asked = frozenset(map(id, of_one_kind(*asked) if asked else ()))
        self._error_rate = error_rate
        self._cache: dict[Hashable, Any] = {}
        self._tests: dict[_Key, Contrast] = {}
        self._verdicts: dict[_Key, Ruling] = {}
        self._compared: dict[int, RunEstimate] = {}
        self._wandering, self._known = 0.0, 1
        self._reported: set[tuple[object, ...]] = set()

    def with_correction(self, make: Callable[[], _Value]) -> _Value:
        """Make something that rests on comparisons, twice, and give what it is the second time.

        What is said of any comparison depends on how many the report makes: the first time shows that. All comparisons
        made so far are then corrected together.
        """
        make()
        self._correct()
        return make()

    def _correct(self) -> None:
        """Correct all comparisons made so far together, and forget what findings said on the way."""
        groups: dict[Hashable, list[Floats]] = {}
        for row in self._compared.values():
            if row.processes.least > 0:
                groups.setdefault((row.stage, row.temperature), []).append(np.log(row.processes.in_time))
        self._wandering, self._known = typical_wandering(groups.values())
        self._verdicts = dict(zip(self._tests, self._judged(self._tests), strict=True))
        self._reported.clear()

    def mark_reported(self, rows: Iterable[RunEstimate], *axes: str) -> None:
        """Say that a finding says what axes do to rows: what is said of any axis is then left out for them."""
        for row in rows:
            for axis in axes:
                self._reported.add(_question(row.workload, axis, self.estimates.changes(row)))

    def is_reported(self, workload: str, axis: str, others: Mapping[str, int | str]) -> bool:
        """Whether a finding says (`mark_reported`) what an axis does to a workload, with ``others`` off default."""
        return _question(workload, axis, others) in self._reported

    def compare(self, other: RunEstimate, base: RunEstimate) -> Change[RunEstimate] | None:
        """How many times as much one row takes as another; None where a median is zero: nothing is a multiple of that.

        Of fewer than 6 processes there is no ratio, and below 2% no difference is stated. Rows of launches alone are
        compared with one of all launches by all of theirs: the change has both rows, and a ratio of one kind.
        """
        alike = of_one_kind(other, base)
        if no_ratio_of(*alike) is not None:
            return None
        ratio = self._ratio(*alike)
        key = self._tested("ratio", *alike, change_of_ratio(ratio))
        return self._change((other, base), ChangeScale.RATIO, ratio, key)

    def compare_all(self, pairs: Iterable[tuple[RunEstimate, RunEstimate]]) -> list[Change[RunEstimate]]:
        """Compare pairs of rows in their order; those that have no ratio are left out."""
        made = (self.compare(other, base) for other, base in pairs)
        return [change for change in made if change is not None]

    def difference(self, other: RunEstimate, base: RunEstimate) -> Change[RunEstimate]:
        """How much longer one row takes than another, in ns; all else as in `compare`."""
        alike = of_one_kind(other, base)
        interval = self.cached(
            ("difference", *map(id, alike)),
            lambda: shift_interval(alike[0].processes.values, alike[1].processes.values),
        )
        # As a share of the larger side, so that what wandering adds is of the same kind as to ratios.
        scale = max(abs(median(side.processes.values)) for side in alike) or 1.0
        error = (interval.high - interval.low) / 2 / score(1 - CONFIDENCE) / scale
        key = self._tested("difference", *alike, LogChange(interval.value / scale, error, error))
        return self._change((other, base), ChangeScale.DIFFERENCE, interval, key, scale)

    def _change(
        self, sides: tuple[RunEstimate, RunEstimate], scale: ChangeScale, interval: Interval, key: _Key, per: float = 1
    ) -> Change[RunEstimate]:
        """Make the change of two rows; of a difference ``per`` is what its test was divided by."""
        verdict = self._verdict(key)
        is_ratio = scale == ChangeScale.RATIO
        half = ", of which half for this one" if self._tests[key].alone else ""
        made = replace(
            change_of(sides[1], sides[0], interval),
            scale=scale,
            unit="" if is_ratio else "ns",
            p=verdict.p,
            correction=f"false discovery rate of {len(self._tests)} comparisons{half}",
        )
        if interval.n < FEWEST_PROCESSES:
            return replace(made, value=None, low=None, high=None, caveat=from_few(interval.n))
        if is_ratio and abs(interval.value - 1) < LEAST_EFFECT:
            return made
        # Its two ends may be differently far away.
        word = Word.OPEN if interval.contains(scale.unchanged) else verdict.word
        ends = (verdict.at_least if word == Word.SURE else None, verdict.told_from)
        least, told_from = (None if end is None else math.exp(end) if is_ratio else end * per for end in ends)
        direction = Direction.of(interval.value - scale.unchanged) if word == Word.SURE else Direction.UNKNOWN
        return replace(made, direction=direction, word=word, at_least=least, told_from=told_from)

    def best(self, rows: Sequence[RunEstimate]) -> list[Change[RunEstimate]]:
        """Compare the row with the least median with all others, in their order; none where nothing can be compared.

        Which one is best was chosen among all: all pairs count as comparisons.
        """
        ranked = sorted(rows, key=lambda row: median(row.processes.values))
        for a, b in combinations(ranked, 2):
            if no_ratio_of(a, b) is None:
                self.compare(a, b)
        return self.compare_all((row, ranked[0]) for row in ranked[1:])

    def is_sure(self, interval: Interval, *key: Hashable) -> bool:
        """Whether an interval that is no comparison of two rows surely leaves 0 out, corrected with all comparisons.

        Its p-value is that of a normal estimate whose interval it would be; ``key`` names it.
        """
        error = (interval.high - interval.low) / 2 / score(1 - CONFIDENCE)
        ranks_p = 0.0 if interval.n >= FEWEST_PROCESSES else 1.0
        name = ("interval", *key)
        self._tests[name] = Contrast(LogChange(interval.value, error, error), ranks_p)
        return self._verdict(name).word == Word.SURE

    def cached(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        """Make a value once: findings are made twice."""
        if key not in self._cache:
            self._cache[key] = make()
        return cast(_Value, self._cache[key])

    def seed_for(self, *names: str | None) -> int:
        """Derive a seed of its own for each thing that is resampled."""
        return seed_for(*names, seed=self.seed)

    def _ratio(self, a: RunEstimate, b: RunEstimate) -> Interval:
        return self.cached(("ratio", id(a), id(b)), lambda: ratio_of(a, b))

    def _tested(self, kind: str, a: RunEstimate, b: RunEstimate, change: LogChange) -> _Key:
        """Note a test of two rows, which is the same in both directions."""
        pair = frozenset((id(a), id(b)))
        self._compared |= {id(a): a, id(b): b}
        sides = a.processes.values, b.processes.values
        sizes = sides[0].size, sides[1].size
        ranks_p = two_sided_p(*sides) if min(sizes) >= FEWEST_PROCESSES else 1.0
        test = Contrast(change, ranks_p, sizes, alone=kind == "ratio" and pair == self._asked)
        self._tests.setdefault((kind, pair), test)
        return kind, pair

    def _verdict(self, key: _Key) -> Ruling:
        """What is said of a test; as if it were the only one where it has not been corrected with all others."""
        if key not in self._verdicts:
            self._verdicts[key] = self._judged([key])[0]
        return self._verdicts[key]

    def _judged(self, keys: Iterable[_Key]) -> list[Ruling]:
        likely_rate = LIKELY_RATE * self._error_rate / ERROR_RATE
        return judged([*map(self._with_shared, keys)], self._error_rate, likely_rate=likely_rate)

    def processes_needed(self, other: RunEstimate, base: RunEstimate) -> float:
        """How many times as many processes would make a ratio sure if it were asked alone; infinite: no number would.

        Its interval narrows as the root of their number; what processes share does not.
        """
        other, base = of_one_kind(other, base)
        key = self._tested("ratio", other, base, change_of_ratio(self._ratio(other, base)))
        change = self._with_shared(key).change
        scatter = change.below if change.value > 0 else change.above
        room = (change.value / score(ERROR_RATE)) ** 2 - change.between**2
        return max(1.0, scatter**2 / room) if room > 0 else math.inf

    def _with_shared(self, key: _Key) -> Contrast:
        """A test with what processes share in its error."""
        test = self._tests[key]
        if key[0] == "interval":
            return test
        layout = 2 * LAYOUT**2 if key[0] == "ratio" else 0.0
        # Layout counts as known.
        shared = layout + self._wandering
        degrees = int(self._known * (shared / self._wandering) ** 2) if self._wandering else None
        return replace(test, change=replace(test.change, between=math.sqrt(shared), between_degrees=degrees))


def _question(workload: str, axis: str, others: Mapping[str, int | str]) -> tuple[object, ...]:
    return workload, axis, frozenset(item for item in others.items() if item[0] != axis)
