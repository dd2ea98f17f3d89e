"""Comparisons between two rows: one ratio or difference, one verdict, always made the same way."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeVar, cast

import numpy as np

from clonometer.results.findings.ends import confidence_of, interval_ends, missing_ends_reason
from clonometer.results.rows.evidence import Book, Evidence
from clonometer.results.rows.ratio import no_ratio_of, ratio_of, seed_for
from clonometer.results.types import FEWEST_PROCESSES, LEAST_EFFECT
from clonometer.stats.bootstrap import difference_of_medians
from clonometer.stats.interval import Interval
from clonometer.stats.multiplicity import false_discovery_limit, student_p
from clonometer.stats.quantiles import Floats, median
from clonometer.stats.rank_sum import least_p, two_sided_p
from clonometer.stats.wander import added_by_wandering
from clonometer.units import format_duration_interval, format_ratio
from clonometer.verdicts import Direction

#: Of all differences that a report states, so many are wrong at most, on average.
ERROR_RATE = 0.05
#: Where an interval of 95% of a normal estimate ends, in standard errors.
NORMAL_ENDS = 1.96
#: What the layout of code and memory may do to a cell for as long as it is built and placed so, as a standard deviation
#: (T. Mytkowicz and others, "Producing wrong data without doing anything obviously wrong", ASPLOS 2009).
LAYOUT = 0.03
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Comparison:
    """How many times as long ``a`` takes as ``b``.

    ``ratio`` is a's median over b's with its interval. ``verdict`` is unknown where the interval contains 1, where the
    effect is below 2%, where a side has fewer than 4 processes, or where so many comparisons give such a difference by
    chance, by layout or by wandering. ``p_value``, for both directions, is the larger of two: that of the rank-sum
    test of the processes, and that of the ratio with what its processes share in its error (`Comparer`); ``family`` is
    how many comparisons the report makes, and ``too_few`` whether it makes so many that no difference between so few
    processes counts.
    """

    a: Evidence
    b: Evidence
    ratio: Interval
    verdict: Direction
    p_value: float = 1.0
    family: int = 1
    too_few: bool = False

    @property
    def text(self) -> str:
        """The ratio with its interval, as words."""
        return _ratio_words(self.ratio)

    @property
    def aside(self) -> str:
        """The ratio with its interval, as words that stand in brackets themselves, and why it does not count."""
        words = self.text.replace(" (", ", ").removesuffix(")")
        uncertain = self.verdict == Direction.UNKNOWN and not self.sees_nothing
        return words + doubt(self.ratio.n, uncertain=uncertain, too_few=self.too_few, family=self.family)

    @property
    def sees_nothing(self) -> bool:
        """Whether the interval contains 1 or the effect is below 2%, however many processes there are."""
        return self.ratio.contains(1.0) or abs(self.ratio.value - 1) < LEAST_EFFECT

    @property
    def times(self) -> float:
        """How many times as long the longer side takes."""
        return self._longer_over_shorter.value

    @property
    def least_times(self) -> float:
        """The near end of its interval."""
        return self._longer_over_shorter.low

    @property
    def times_text(self) -> str:
        """The same with its interval, as words."""
        return _ratio_words(self._longer_over_shorter)

    @property
    def _longer_over_shorter(self) -> Interval:
        ratio = self.ratio
        if ratio.value > 1:
            return ratio
        return replace(ratio, value=1 / ratio.value, low=1 / ratio.high, high=1 / ratio.low)

    @property
    def by_length(self) -> tuple[Evidence, Evidence]:
        """The side that takes longer, and the other one."""
        return (self.a, self.b) if self.ratio.value > 1 else (self.b, self.a)

    @property
    def numbers(self) -> dict[str, Any]:
        """The ratio, its ends, the verdict and the cells, for a finding's ``numbers``."""
        low, high = interval_ends(self.ratio) or (None, None)
        return {
            "ratio": self.ratio.value,
            "ratio_low": low,
            "ratio_high": high,
            "confidence": confidence_of(self.ratio),
            "method": self.ratio.method,
            "n_processes": self.ratio.n,
            "p_value": self.p_value,
            "verdict": self.verdict,
            "stage": self.a.estimate.stage,
            "temperature": self.a.estimate.temperature,
            "cells": cells_of([self]),
        }


def _ratio_words(ratio: Interval) -> str:
    # The blocks of one process tell nothing of another: there is a ratio then, and no interval.
    return format_ratio(ratio.value) if ratio.n == 1 else format_ratio(*ratio.ends)


def cells_of(comparisons: Iterable[Comparison]) -> list[str]:
    """The cells of comparisons, both sides of each in turn."""
    return [row.cell for comparison in comparisons for row in (comparison.a, comparison.b)]


@dataclass(frozen=True)
class SignedDifference:
    """How much longer ``a`` takes than ``b``, in ns, with its interval; ``verdict`` as that of `Comparison`."""

    a: Evidence
    b: Evidence
    interval: Interval
    verdict: Direction
    family: int = 1
    too_few: bool = False

    @property
    def text(self) -> str:
        """The difference with its interval, as words."""
        return format_duration_interval(*self.interval.ends)

    @property
    def amount(self) -> str:
        """The same, without its sign."""
        interval = self.interval
        if interval.value >= 0:
            return self.text
        return format_duration_interval(-interval.value, -interval.high, -interval.low)

    @property
    def aside(self) -> str:
        """As that of `Comparison`."""
        words = self.text.replace(" (", ", ").replace(")", "")
        uncertain = self.verdict == Direction.UNKNOWN and not self.interval.contains(0.0)
        return words + doubt(self.interval.n, uncertain=uncertain, too_few=self.too_few, family=self.family)

    @property
    def numbers(self) -> dict[str, Any]:
        """The difference, its ends and the verdict, for a finding's ``numbers``."""
        ends = interval_ends(self.interval) or (None, None)
        return {
            "difference_ns": self.interval.value,
            "difference_low_ns": ends[0],
            "difference_high_ns": ends[1],
            "interval_reason": missing_ends_reason(self.interval),
            "confidence": confidence_of(self.interval),
            "method": self.interval.method,
            "n_processes": self.interval.n,
            "verdict": self.verdict,
        }


def doubt(processes: int, *, uncertain: bool, too_few: bool, family: int) -> str:
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


class Comparer:
    """Makes the comparisons of a run's findings.

    The processes of a cell share what its layout does, and what its level wanders by during the run: neither shrinks
    with their number. So the error of a ratio has, besides what its interval says, 3% of each cell for layout, and what
    wandering adds: as much as in all rows that are compared, since one hardly tells it. What rows of one stage wander
    by together is left out. Of a difference (one rung of a ladder more) layout is left out: both sides run the same
    code.
    """

    def __init__(self, book: Book, seed: int) -> None:
        self.book = book
        self.seed = seed
        self._kept: dict[Hashable, Any] = {}
        self._p_values: dict[Hashable, float] = {}
        self._tests: dict[Hashable, _Test] = {}
        self._compared: dict[int, Evidence] = {}
        self._wandering, self._known = 0.0, 1
        self._limit = ERROR_RATE
        self._claims: set[tuple[object, ...]] = set()

    def corrected(self, make: Callable[[], _Value]) -> _Value:
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
                alike = row.estimate.stage, row.estimate.temperature
                groups.setdefault(alike, []).append(_in_order_of_time(row) / level)
        self._wandering = 2 * added_by_wandering(groups.values())
        self._known = max(len({row.cell for row in self._compared.values()}) - 1, 1)
        self._p_values |= {key: test.corrected(self._wandering, self._known) for key, test in self._tests.items()}
        family = max(len(self._p_values), 1)
        self._limit = max(false_discovery_limit(list(self._p_values.values()), ERROR_RATE), ERROR_RATE / family)
        self._claims.clear()

    def claim(self, rows: Iterable[Evidence], *axes: str) -> None:
        """Say that a finding has told what axes do to rows: what is said of any axis is then left out for them."""
        for row in rows:
            for axis in axes:
                self._claims.add(_question(row.estimate.workload, axis, self.book.changes(row.estimate)))

    def is_claimed(self, workload: str, axis: str, others: Mapping[str, int | str]) -> bool:
        """Whether a finding has told (`claim`) what an axis does to a workload, ``others`` being off their default."""
        return _question(workload, axis, others) in self._claims

    def compare(self, a: Evidence, b: Evidence) -> Comparison | None:
        """Compare two rows; None where a median is zero, since there is no ratio to nothing."""
        if no_ratio_of(a, b) is not None:
            return None
        p_value = self._p_value(a, b)
        ratio = self._ratio(a, b)
        direction = Direction.of(ratio.value - 1)
        comparison = Comparison(a, b, ratio, direction, p_value, len(self._p_values), self._are_too_few(a, b))
        if comparison.sees_nothing or p_value > self._limit:
            comparison = replace(comparison, verdict=Direction.UNKNOWN)
        return comparison

    def compare_all(self, pairs: Iterable[tuple[Evidence, Evidence]]) -> list[Comparison]:
        """Compare pairs of rows in their order; those that have no ratio are left out."""
        made = (self.compare(a, b) for a, b in pairs)
        return [comparison for comparison in made if comparison is not None]

    def difference(self, a: Evidence, b: Evidence, *names: str | None) -> SignedDifference:
        """Take the difference of two rows, of any sign. ``names`` derive its seed."""
        seed = self.seed_for(*names)
        interval = self.keep(
            ("difference", id(a), id(b)), lambda: difference_of_medians(a.processes, b.processes, seed=seed)
        )
        p_value = self._p_value_of_difference(a, b, interval)
        verdict = Direction.of(interval.value)
        if interval.contains(0.0) or p_value > self._limit:
            verdict = Direction.UNKNOWN
        return SignedDifference(a, b, interval, verdict, len(self._p_values), self._are_too_few(a, b))

    def best(self, rows: Sequence[Evidence]) -> list[Comparison]:
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

    def keep(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        """Make a value once: findings are made twice."""
        if key not in self._kept:
            self._kept[key] = make()
        return cast(_Value, self._kept[key])

    def seed_for(self, *names: str | None) -> int:
        """Derive a seed of its own for each thing that is resampled."""
        return seed_for(*names, seed=self.seed)

    def _are_too_few(self, a: Evidence, b: Evidence) -> bool:
        return 2 * least_p(a.processes.values.size, b.processes.values.size) > self._limit

    def _ratio(self, a: Evidence, b: Evidence) -> Interval:
        return self.keep(("ratio", id(a), id(b)), lambda: ratio_of(a, b, seed=self.seed))

    def _p_value(self, a: Evidence, b: Evidence) -> float:
        key = ("ratio", frozenset((id(a), id(b))))
        if key not in self._tests:
            ratio = self._ratio(a, b)
            p_value = 1.0 if abs(ratio.value - 1) < LEAST_EFFECT else _two_sided(a, b)
            error = math.log(ratio.high / ratio.low) / 2 / NORMAL_ENDS
            self._compared |= {id(a): a, id(b): b}
            self._tests[key] = _Test(p_value, math.log(ratio.value), error, 2 * LAYOUT**2)
        return self._p_values.setdefault(key, self._tests[key].corrected(self._wandering, self._known))

    def _p_value_of_difference(self, a: Evidence, b: Evidence, interval: Interval) -> float:
        key = ("difference", frozenset((id(a), id(b))))
        if key not in self._tests:
            # As a share of the larger side, so that what wandering adds is of the same kind as to ratios.
            scale = max(abs(median(side.processes.values)) for side in (a, b)) or 1.0
            error = (interval.high - interval.low) / 2 / NORMAL_ENDS / scale
            self._compared |= {id(a): a, id(b): b}
            self._tests[key] = _Test(_two_sided(a, b), interval.value / scale, error, 0.0)
        return self._p_values.setdefault(key, self._tests[key].corrected(self._wandering, self._known))


def _two_sided(a: Evidence, b: Evidence) -> float:
    """The p-value of the rank-sum test of both sides' processes; 1 of too few."""
    sides = a.processes.values, b.processes.values
    return 1.0 if min(side.size for side in sides) < FEWEST_PROCESSES else two_sided_p(*sides)


def _in_order_of_time(row: Evidence) -> Floats:
    values, starts = row.processes.values, row.processes.starts
    return values if starts is None else values[np.argsort(starts, kind="stable")]


def _question(workload: str, axis: str, others: Mapping[str, int | str]) -> tuple[object, ...]:
    return workload, axis, frozenset(item for item in others.items() if item[0] != axis)
