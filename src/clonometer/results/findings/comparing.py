"""Comparisons between two rows: one ratio or difference, one verdict, always made the same way."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeVar, cast

import numpy as np

from clonometer.results.change import Change, ChangeScale
from clonometer.results.rows.ratio import change_of, no_ratio_of, ratio_of, seed_for
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.types import FEWEST_PROCESSES, LEAST_EFFECT
from clonometer.stats.bootstrap import difference_of_medians
from clonometer.stats.interval import Interval
from clonometer.stats.multiplicity import false_discovery_limit, student_p
from clonometer.stats.quantiles import Floats, median
from clonometer.stats.rank_sum import least_p, two_sided_p
from clonometer.stats.wander import added_by_wandering
from clonometer.verdicts import Direction

#: Of all differences that a report states, so many are wrong at most, on average.
ERROR_RATE = 0.05
#: Where an interval of 95% of a normal estimate ends, in standard errors.
NORMAL_ENDS = 1.96
#: What the layout of code and memory may do to a cell for as long as it is built and placed so, as a standard deviation
#: (T. Mytkowicz and others, "Producing wrong data without doing anything obviously wrong", ASPLOS 2009).
LAYOUT = 0.03
_Value = TypeVar("_Value")


def cells_of(changes: Iterable[Change[RunEstimate]]) -> list[str]:
    """The cells of changes, both sides of each in turn."""
    return [row.cell for change in changes for row in change.sides]


def numbers_of(change: Change[RunEstimate]) -> dict[str, Any]:
    """A change, with its stage and cells, for a finding's ``numbers``."""
    about = change.other
    return change.numbers | {"stage": about.stage, "temperature": about.temperature, "cells": cells_of([change])}


def caveat(processes: int, *, uncertain: bool, too_few: bool, family: int) -> str:
    """Say why a difference does not count though its interval looks like one; empty where nothing is to be said."""
    if processes < FEWEST_PROCESSES or (uncertain and too_few):
        return f", from only {processes} {'process' if processes == 1 else 'processes'}"
    return f", possible by chance, layout or drift in {family} comparisons" if uncertain and family > 1 else ""


@dataclass(frozen=True)
class _Test:
    """One test of two rows, as it is before all are known.

    ``p_value`` is that of the processes' ranks; ``value`` and ``error`` are of the ratio's logarithm, or of the
    difference as a share of the larger side. ``layout`` is what layout adds to the variance.
    """

    p_value: float
    value: float
    error: float
    layout: float

    def corrected(self, wandering: float, known: int) -> float:
        """The larger p-value of ranks and of an estimate whose error has what the processes share.

        What ``wandering`` adds is ``known`` with so many degrees of freedom; those of the whole are Satterthwaite's.
        """
        variance = self.error**2 + self.layout + wandering
        if variance == 0:
            return self.p_value
        freedom = known * (variance / wandering) ** 2 if wandering else math.inf
        score = abs(self.value) / math.sqrt(variance)
        return max(self.p_value, student_p(score, int(min(max(freedom, 1), 1000))))


class PairwiseTests:
    """Makes the comparisons of a run's findings.

    The processes of a cell share what its layout does, and what its level wanders by during the run: neither shrinks
    with their number. So the error of a ratio has, besides what its interval says, 3% of each cell for layout, and what
    wandering adds: as much as in all rows that are compared, since one hardly tells it. What rows of one stage wander
    by together is left out. Of a difference (one rung of a ladder more) layout is left out: both sides run the same
    code.
    """

    def __init__(self, estimates: RunEstimates, seed: int) -> None:
        self.estimates = estimates
        self.seed = seed
        self._cache: dict[Hashable, Any] = {}
        self._p_values: dict[Hashable, float] = {}
        self._tests: dict[Hashable, _Test] = {}
        self._compared: dict[int, RunEstimate] = {}
        self._wandering, self._known = 0.0, 1
        self._limit = ERROR_RATE
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
            if (level := abs(median(row.processes.values))) > 0:
                alike = row.stage, row.temperature
                groups.setdefault(alike, []).append(_in_order_of_time(row) / level)
        self._wandering = 2 * added_by_wandering(groups.values())
        self._known = max(len({row.cell for row in self._compared.values()}) - 1, 1)
        self._p_values |= {key: test.corrected(self._wandering, self._known) for key, test in self._tests.items()}
        family = max(len(self._p_values), 1)
        self._limit = max(false_discovery_limit(list(self._p_values.values()), ERROR_RATE), ERROR_RATE / family)
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

        Nothing is said of it where its interval contains 1 or it is below 2%, where a side has fewer than 4 processes,
        or where so many comparisons give such a ratio by chance, by layout or by wandering. Its p-value, for both
        directions, is the larger of two: that of the rank-sum test of the processes, and that of the ratio with what
        its processes share in its error.
        """
        if no_ratio_of(other, base) is not None:
            return None
        p, ratio = self._p_value(other, base), self._ratio(other, base)
        is_seen = not ratio.contains(1.0) and abs(ratio.value - 1) >= LEAST_EFFECT
        return self._change(other, base, ChangeScale.RATIO, ratio, p, is_seen=is_seen)

    def compare_all(self, pairs: Iterable[tuple[RunEstimate, RunEstimate]]) -> list[Change[RunEstimate]]:
        """Compare pairs of rows in their order; those that have no ratio are left out."""
        made = (self.compare(other, base) for other, base in pairs)
        return [change for change in made if change is not None]

    def difference(self, other: RunEstimate, base: RunEstimate, *names: str | None) -> Change[RunEstimate]:
        """How much longer one row takes than another, in ns; ``names`` derive its seed. All else as in `compare`."""
        seed = self.seed_for(*names)
        interval = self.cached(
            ("difference", id(other), id(base)),
            lambda: difference_of_medians(other.processes, base.processes, seed=seed),
        )
        p = self._p_value_of_difference(other, base, interval)
        return self._change(other, base, ChangeScale.DIFFERENCE, interval, p, is_seen=not interval.contains(0.0))

    def _change(
        self, other: RunEstimate, base: RunEstimate, scale: ChangeScale, interval: Interval, p: float, *, is_seen: bool
    ) -> Change[RunEstimate]:
        """Make the change of two rows; ``is_seen``: whether it is one, however many processes there are."""
        is_sure = is_seen and p <= self._limit
        family = len(self._p_values)
        return replace(
            change_of(base, other, interval),
            scale=scale,
            unit="" if scale == ChangeScale.RATIO else "ns",
            direction=Direction.of(interval.value - scale.unchanged) if is_sure else Direction.UNKNOWN,
            p=p,
            correction=f"false discovery rate of {family} comparisons",
            caveat=caveat(
                interval.n, uncertain=is_seen and not is_sure, too_few=self._are_too_few(other, base), family=family
            ),
        )

    def best(self, rows: Sequence[RunEstimate]) -> list[Change[RunEstimate]]:
        """Compare the row with the least median with all others, in their order; none where nothing can be compared.

        Which one is best was chosen among all: all pairs count as comparisons.
        """
        ranked = sorted(rows, key=lambda row: median(row.processes.values))
        for a, b in combinations(ranked, 2):
            if no_ratio_of(a, b) is None:
                self._p_value(a, b)
        return self.compare_all((row, ranked[0]) for row in ranked[1:])

    def is_sure(self, interval: Interval, *key: Hashable) -> bool:
        """Whether an interval that is no comparison of two rows surely leaves 0 out, corrected with all comparisons.

        Its p-value is that of a normal estimate whose interval it would be; ``key`` names it.
        """
        half = (interval.high - interval.low) / 2
        score = NORMAL_ENDS * abs(interval.value) / half if half > 0 else math.inf
        certain = interval.n >= FEWEST_PROCESSES and not interval.contains(0.0)
        self._p_values[("interval", *key)] = math.erfc(score / math.sqrt(2)) if certain else 1.0
        return self._p_values[("interval", *key)] <= self._limit

    def cached(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        """Make a value once: findings are made twice."""
        if key not in self._cache:
            self._cache[key] = make()
        return cast(_Value, self._cache[key])

    def seed_for(self, *names: str | None) -> int:
        """Derive a seed of its own for each thing that is resampled."""
        return seed_for(*names, seed=self.seed)

    def _are_too_few(self, a: RunEstimate, b: RunEstimate) -> bool:
        return 2 * least_p(a.processes.values.size, b.processes.values.size) > self._limit

    def _ratio(self, a: RunEstimate, b: RunEstimate) -> Interval:
        return self.cached(("ratio", id(a), id(b)), lambda: ratio_of(a, b, seed=self.seed))

    def _p_value(self, a: RunEstimate, b: RunEstimate) -> float:
        key = ("ratio", frozenset((id(a), id(b))))
        if key not in self._tests:
            ratio = self._ratio(a, b)
            error = math.log(ratio.high / ratio.low) / 2 / NORMAL_ENDS
            self._compared |= {id(a): a, id(b): b}
            self._tests[key] = _Test(_two_sided(a, b), math.log(ratio.value), error, 2 * LAYOUT**2)
        return self._p_values.setdefault(key, self._tests[key].corrected(self._wandering, self._known))

    def _p_value_of_difference(self, a: RunEstimate, b: RunEstimate, interval: Interval) -> float:
        key = ("difference", frozenset((id(a), id(b))))
        if key not in self._tests:
            # As a share of the larger side, so that what wandering adds is of the same kind as to ratios.
            scale = max(abs(median(side.processes.values)) for side in (a, b)) or 1.0
            error = (interval.high - interval.low) / 2 / NORMAL_ENDS / scale
            self._compared |= {id(a): a, id(b): b}
            self._tests[key] = _Test(_two_sided(a, b), interval.value / scale, error, 0.0)
        return self._p_values.setdefault(key, self._tests[key].corrected(self._wandering, self._known))


def _two_sided(a: RunEstimate, b: RunEstimate) -> float:
    """The p-value of the rank-sum test of both sides' processes; 1 of too few."""
    sides = a.processes.values, b.processes.values
    return 1.0 if min(side.size for side in sides) < FEWEST_PROCESSES else two_sided_p(*sides)


def _in_order_of_time(row: RunEstimate) -> Floats:
    values, starts = row.processes.values, row.processes.starts
    return values if starts is None else values[np.argsort(starts, kind="stable")]


def _question(workload: str, axis: str, others: Mapping[str, int | str]) -> tuple[object, ...]:
    return workload, axis, frozenset(item for item in others.items() if item[0] != axis)
