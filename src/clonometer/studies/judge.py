"""Looks up and compares what was measured, for the claims; what is missing is said once and in one place."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clonometer.results.rows.ratio import no_ratio_of, ratio_of, seed_for
from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.results.types import FEWEST_PROCESSES
from clonometer.stats.changes import change_of_ratio
from clonometer.stats.interval import Interval
from clonometer.stats.quantiles import Floats
from clonometer.stats.rank_sum import shift_interval, two_sided_p
from clonometer.stats.verdict import ERROR_RATE, LAYOUT, Contrast, Levels
from clonometer.stats.wander import typical_wandering
from clonometer.studies.cells import quantity_words
from clonometer.studies.measured import Measurements
from clonometer.studies.thresholds import DIFFERS, Threshold
from clonometer.studies.types import Pair, Verdict
from clonometer.studies.verdicts import FIRST, Bars, JudgedPart
from clonometer.verdicts import Status

CALL, RUNS, IMAGE, REAPED = "call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns"

Test = Callable[["Judge"], Verdict]


class MissingEvidenceError(Exception):
    """A claim needs a cell that was not measured; the message says which and why."""


@dataclass(frozen=True)
class Claim:
    """How a claim is tested.

    ``effect`` states the least effect that counts, for the reader; ``test`` gives the verdict; ``thresholds`` are
    those that it uses.
    """

    effect: str
    test: Test
    thresholds: tuple[Threshold, ...] = ()


#: The claims and questions of all studies by id, as the modules that test them are imported.
CLAIMS: dict[str, Claim] = {}


def claim(id_: str, effect: str, *thresholds: Threshold) -> Callable[[Test], Test]:
    """Make a function the test of a claim; ``{}`` in its effect are the words of its thresholds, in their order."""

    def add(test: Test) -> Test:
        CLAIMS[id_] = Claim(effect.format(*(threshold.words for threshold in thresholds)), test, thresholds)
        return test

    return add


class Judge:
    """Compares what was measured, by the one rule (`clonometer.stats.verdict`).

    What processes share, layout and what a typical row wandered by itself, is in the error of a ratio. A threshold
    takes the place of layout: beyond 1 a ratio must be by all of its error, beyond its threshold by the rest of it. The
    same seed gives the same intervals.
    """

    def __init__(self, measured: Measurements, seed: int = 1) -> None:
        self.measured = measured
        #: Pairing -> its pairs (`clonometer.studies.pairings`), once they have been worked out.
        self.pairs: dict[str, Sequence[Pair]] = {}
        #: At which p-values what is being judged is sure, or likely.
        self.bars = FIRST
        self._seed = seed
        self._verdicts: dict[str, Verdict] = {}
        self._bars: dict[str, Bars] = {}
        self._ratios: dict[Hashable, Interval] = {}
        self._compared: dict[Hashable, RunEstimate] = {}
        self._wandering, self._known = 0.0, 1

    def verdict(self, id_: str) -> Verdict:
        """What is said of a claim; of one whose evidence is missing that it is not measurable, with the reason."""
        if id_ not in self._verdicts:
            before, self.bars = self.bars, self._bars.get(id_, FIRST)
            try:
                self._verdicts[id_] = CLAIMS[id_].test(self)
            except MissingEvidenceError as error:
                self._verdicts[id_] = Verdict(Status.NOT_MEASURABLE, f"Not measured here: {error}.")
            self.bars = before
        return self._verdicts[id_]

    def correct(self, ids: Iterable[str], alone: Iterable[str] = ()) -> None:
        """Correct claims together, but for those that are asked first, which are a family of their own.

        What is said of any claim depends on how many there are: the first time shows that.
        """
        first = set(alone)
        p_values = {id_: p for id_ in ids if (p := self.verdict(id_).p) is not None}
        for family in ({id_ for id_ in p_values if id_ in first}, {id_ for id_ in p_values if id_ not in first}):
            bars = Bars(*(Levels.of([p_values[id_][side] for id_ in family]) for side in (0, 1)))
            self._bars |= dict.fromkeys(family, bars)
        groups: dict[Hashable, list[Floats]] = {}
        for row in self._compared.values():
            groups.setdefault((row.quantity, row.temperature), []).append(np.log(row.processes.in_time))
        self._wandering, self._known = typical_wandering(groups.values())
        self._verdicts.clear()

    def find(self, cell: str, quantity: str) -> RunEstimate:
        """The row of a cell; MissingEvidenceError where there is none."""
        row = self.measured.find(cell, quantity)
        if row is None:
            raise MissingEvidenceError(f"{cell}: {self.measured.why(cell)}")
        return row

    def ratio(self, a: RunEstimate, b: RunEstimate) -> Interval:
        """How many times as much A takes as B."""
        if no_ratio_of(a, b) is not None:
            raise MissingEvidenceError(f"{a.cell} and {b.cell}: a value is zero, so there is no ratio")
        key = tuple((row.cell, row.quantity, row.placement) for row in (a, b))
        if key not in self._ratios:
            self._ratios[key] = ratio_of(a, b)
            self._compared |= {(row.cell, row.key): row for row in (a, b)}
        return self._ratios[key]

    def difference(self, a: RunEstimate, b: RunEstimate) -> Interval:
        """How much more A takes than B."""
        return shift_interval(a.processes.values, b.processes.values)

    def seed(self, *rows: RunEstimate) -> int:
        """A seed of its own for each comparison."""
        names = [name for row in rows for name in (row.cell, row.stage, row.placement)]
        return seed_for(*names, seed=self._seed)

    def compare(
        self, label: str, a: RunEstimate, b: RunEstimate, expected: str = "above", least: Threshold = DIFFERS
    ) -> JudgedPart:
        """Compare two rows."""
        return self.judged(label, self.ratio(a, b), expected, least, (a.cell, b.cell), rows=(a, b))

    def judged(
        self,
        label: str,
        ratio: Interval,
        expected: str,
        least: Threshold,
        cells: tuple[str, ...],
        *,
        rows: tuple[RunEstimate, RunEstimate] | None = None,
    ) -> JudgedPart:
        """A ratio that a claim expects to differ from 1 by a threshold's share, or to be alike within it.

        ``expected`` is ``above``, ``below``, ``alike``, or ``not below``: it may be anything but below. ``rows`` are
        those whose processes' ranks must agree; None where it is of others.
        """
        times = 1 + least.share
        far = self._beyond(ratio, times, rows), self._beyond(ratio, 1 / times, rows)
        (above, not_above), (not_below, below) = far
        if expected == "alike":
            return JudgedPart(
                label, ratio, expected, times, cells, max(not_above, not_below), min(above, below), self.bars
            )
        if expected == "not below":
            return JudgedPart(label, ratio, "above", 1 / times, cells, not_below, below, self.bars)
        threshold = times if expected == "above" else 1 / times
        met, missed = (above, not_above) if expected == "above" else (below, not_below)
        return JudgedPart(label, ratio, expected, threshold, cells, met, missed, self.bars, self._least(ratio))

    def _contrast(self, ratio: Interval, threshold: float = 1.0, layout: float = 0.0) -> Contrast:
        shared = self._wandering + 2 * layout**2
        degrees = int(self._known * (shared / self._wandering) ** 2) if self._wandering else None
        change = change_of_ratio(ratio, math.sqrt(shared), degrees)
        return Contrast(
            replace(change, value=change.value - math.log(threshold)),
            ranks_p=0.0 if ratio.n >= FEWEST_PROCESSES else 1.0,
        )

    def _beyond(
        self, ratio: Interval, threshold: float, rows: tuple[RunEstimate, RunEstimate] | None
    ) -> tuple[float, float]:
        """The p-values of a ratio's lying above a threshold, and of its lying below it."""
        test = self._contrast(ratio, threshold)
        p = test.p
        if rows is not None and p < 1:
            a, b = (row.processes.values for row in rows)
            p = max(p, two_sided_p(a, threshold * b))
        is_above = test.change.value > 0
        # Farther from 1 than the threshold it differs from 1 as well, by which layout counts.
        if is_above == (threshold > 1):
            p = max(p, self._contrast(ratio, layout=LAYOUT).p)
        return (p, 1.0) if is_above else (1.0, p)

    def _least(self, ratio: Interval) -> float | None:
        """How far a ratio is from 1 at least, on its own side of it, in 95 of 100 cases; None where it may be 1."""
        test = self._contrast(ratio, layout=LAYOUT)
        if test.p > max(levels.sure for levels in self.bars):
            return None
        size = max(0.0, abs(test.change.value) - test.change.reach(2 * ERROR_RATE))
        return math.exp(math.copysign(size, test.change.value))

    def part(
        self, label: str, a: tuple[str, str], b: tuple[str, str], expected: str = "above", least: Threshold = DIFFERS
    ) -> JudgedPart:
        """Compare two cells, each with its quantity; MissingEvidenceError where one was not measured."""
        return self.compare(label, self.find(*a), self.find(*b), expected, least)

    def stages(
        self,
        label: str,
        a: str,
        b: str,
        expected: str = "above",
        least: Threshold = DIFFERS,
        *,
        stages: Sequence[str] = (CALL, RUNS),
    ) -> list[JudgedPart]:
        """Compare two cells at several stages, which are said behind the label."""
        return [
            self.part(f"{label}{quantity_words(stage)}", (a, stage), (b, stage), expected, least) for stage in stages
        ]


def judge_all(ids: Iterable[str], judge: Judge, alone: Iterable[str] = ()) -> dict[str, Verdict]:
    """Test claims, corrected together but for those that are asked first."""
    asked = tuple(ids)
    judge.correct(asked, alone)
    return {id_: judge.verdict(id_) for id_ in asked}
